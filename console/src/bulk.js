/**
 * One action on every task that a filter selects, or on a few by their ids. It counts first (a dry run), then acts call
 * by call: the browser only passes the cursor on, so that it can stop and go on from there.
 */
import { signal } from './vendor/preact.js';
import { call } from './api.js';

const COUNTED = 1_000; // tasks in a call
const CHANGED = 250; // fewer, so that Stop acts soon
const LIVE = ['PENDING', 'ENQUEUED', 'RUNNING', 'RETRYING', 'WAITING'];

/** What the actions are called, which statuses they can change, and the calls of API and Python client. */
export const ACTIONS = {
  cancel: { verb: 'Cancel', done: 'cancelled', statuses: LIVE, danger: true, path: 'tasks/cancel', python: 'client.cancel_many(**)' },
  cancelEach: { verb: 'Cancel', done: 'cancelled', danger: true, each: (id) => call('DELETE', `tasks/${id}`), path: 'tasks/$ID', method: 'DELETE', python: 'client.cancel(task_id)' },
  retry: { verb: 'Retry', done: 'retried', statuses: ['DEAD'], path: 'tasks/retry', python: 'client.retry_many(**)' },
  shift: { verb: 'Shift', done: 'shifted', statuses: ['PENDING', 'ENQUEUED', 'RETRYING'], path: 'tasks/shift', python: 'client.shift_many(**)' },
  redrive: { verb: 'Retry', done: 'retried', path: 'dead-letters/redrive', python: 'client.dead_letters.redrive(**)' },
  discard: { verb: 'Discard', done: 'discarded', danger: true, method: 'DELETE', path: 'dead-letters', python: 'client.dead_letters.discard(**)' },
};

/** Returns the fields of a filter for an action; null if it can change none of the statuses. */
export function applicable(action, filter) {
  const { statuses } = ACTIONS[action];
  if (!statuses || !filter.status) return filter;
  const status = filter.status.filter((each) => statuses.includes(each));
  return status.length ? { ...filter, status } : null;
}

/** Whether a filter selects something less than every task, and no steps of a run: the API refuses the others. */
export const selects = (filter) => !filter.run_id && Object.entries(filter).some(([name, value]) => name !== 'namespace' || value !== '*');

/**
 * @param {{action: keyof ACTIONS, body: object}} wanted `body` is the filter, or `{ids}`, with the fields of the action
 */
export function createBulk({ action, body }) {
  const { method = 'POST', path, each } = ACTIONS[action];
  /** `counting`, `ready`, `running`, `stopped`, `finished` or `refused`. */
  const stage = signal('counting');
  const count = signal(0);
  const changed = signal(0);
  const failures = signal([]);
  const problem = signal(null);
  let cursor = null;
  let stopping = false;

  /** Acts on the tasks of `ids` one by one, ten at a time; the cursor is a place in the list. */
  async function sendEach({ dry_run: dryRun, cursor: from }) {
    if (dryRun) return { done: body.ids.length, not: [], next: null };
    const next = (from ?? 0) + 10;
    const ids = body.ids.slice(from ?? 0, next);
    const reasons = await Promise.all(ids.map((id) => each(id).then(() => null, (refusal) => refusal.message)));
    const not = ids.map((id, place) => ({ id, reason: reasons[place] })).filter(({ reason }) => reason);
    return { done: ids.length - not.length, not, next: next < body.ids.length ? next : null };
  }

  async function send(fields) {
    if (each) return sendEach(fields);
    const asked = clean({ ...body, ...fields });
    const answer = await (method === 'DELETE' ? call(method, path, { query: asked }) : call(method, path, { body: asked }));
    const done = answer.changed ?? answer.redriven;
    return { done, not: answer.not_changed ?? answer.not_redriven ?? [], next: answer.next_cursor };
  }

  /** Calls again and again from the cursor, until the end, a stop or a refusal. */
  async function walk(fields, limit, note, ended) {
    stopping = false;
    problem.value = null;
    try {
      do {
        const answer = await send({ ...fields, ...(body.ids && !each ? {} : { limit, cursor }) });
        note(answer);
        cursor = answer.next;
      } while (cursor && !stopping);
      if (cursor) stage.value = 'stopped';
      else ended();
    } catch (refusal) {
      problem.value = refusal;
      stage.value = changed.peek() || cursor ? 'stopped' : 'refused';
    }
  }

  return {
    stage, count, changed, failures, problem,
    /** Counts all that would change. */
    async dryRun() {
      stage.value = 'counting';
      await walk({ dry_run: true }, COUNTED, ({ done }) => (count.value += done), () => (stage.value = 'ready'));
      cursor = null;
      if (stage.peek() === 'stopped') stage.value = problem.peek() ? 'refused' : 'ready';
    },
    /** Acts, from where it was stopped. */
    async run() {
      stage.value = 'running';
      await walk({}, CHANGED, ({ done, not }) => {
        changed.value += done;
        failures.value = [...failures.peek(), ...not].slice(0, 1_000);
      }, () => (stage.value = 'finished'));
    },
    stop: () => (stopping = true),
  };
}

const clean = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

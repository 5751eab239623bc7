/** Task: what happened, what happens next, what can I do? */
import { html, useEffect, useState } from '../vendor/preact.js';
import { call, get, patch, post, remove } from '../api.js';
import { now, serverNow } from '../clock.js';
import { attempts as triesOf, bytes, counted, REASONS, targetText, taskName } from '../format.js';
import { useKeys } from '../keys.js';
import { field, parse, sourceOf } from '../json.js';
import { may, useHold, useLive } from '../live.js';
import { Code } from '../parts/code.js';
import { confirm, Dialog } from '../parts/confirm.js';
import { CopyButton } from '../parts/copy.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded, Note, ProblemNote } from '../parts/notes.js';
import { Meter } from '../parts/spark.js';
import { Label, Status } from '../parts/status.js';
import { Timeline } from '../parts/timeline.js';
import { toast } from '../parts/toast.js';
import { JsonView } from '../parts/tree.js';
import { Waiting } from '../parts/waiting.js';
import { navigate, query, setQuery, to } from '../router.js';
import { useRead } from '../state.js';
import { duration, inputTime, millis, Time } from '../zone.js';

const INLINE = 16 * 1_024; // characters of JSON that are shown at once
const DOWNLOAD = 256 * 1_024; // more than this is only downloaded
const TO_START = ['PENDING', 'ENQUEUED', 'RETRYING'];
const LIVE = [...TO_START, 'RUNNING', 'WAITING'];

/** Reads a task; `source` is the text of the answer, which has every number as it is stored. */
async function loadTask(path) {
  const text = await call('GET', path, { text: true });
  return { task: JSON.parse(text), source: parse(text) };
}

export function Task({ id }) {
  const read = useRead(`tasks/${encodeURIComponent(id)}`, {}, { load: loadTask });
  const tried = useRead(`tasks/${encodeURIComponent(id)}/attempts`, {}, { load: loadAttempts });
  const reload = () => Promise.all([read.reload(), tried.reload()]);
  const [progress, setProgress] = useState(null);
  useLive({ topic: 'task', task_id: id }, (message) => (message.type === 'progress' ? setProgress(message.progress) : reload()));
  if (read.problem?.status === 404) {
    return html`<${Empty} alone title="There is no such task"><p><code>${id}</code></p><p>It was never submitted, or has been removed since its end.</p><a class="button" href=${to('/tasks')}>Tasks</a></${Empty}>`;
  }
  return html`<${Loaded} read=${read} rows=${8}>${({ task, source }) => html`
    <${Shown} task=${progress && task.status === 'RUNNING' ? { ...task, progress } : task} source=${source} attempts=${tried.data ?? []} problem=${tried.problem} reload=${reload} />`}</${Loaded}>`;
}

/** All attempts, page by page; the newest thousand at most. */
async function loadAttempts(path) {
  const found = [];
  let cursor = null;
  do {
    const page = await get(path, { limit: 100, cursor });
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && found.length < 1_000);
  return found;
}

function Shown({ task, source, attempts, problem, reload }) {
  const chosen = Number(query.value.get('attempt')) || attempts.at(-1)?.number;
  const choose = (number) => setQuery({ attempt: number }, { replace: true });
  const step = (by) => {
    const place = attempts.findIndex(({ number }) => number === chosen) + by;
    if (attempts[place]) choose(attempts[place].number);
  };
  useKeys({ '[': () => step(-1), ']': () => step(1) });
  const running = task.status === 'RUNNING';
  return html`
    <div class="page-head">
      <h1 class="task-name">${taskName(task)}</h1><${Status} status=${task.status} />
      ${task.cancel_requested && running && html`<${Label} tone="amber">asked to stop</${Label}>`}
      <${Waiting} task=${task} />
      ${may('operate') && html`<${Actions} task=${task} reload=${reload} />`}
    </div>
    <p class="quiet ids"><code>${task.id}</code><${CopyButton} text=${task.id} name="id" /></p>
    <div class="stack">
      <section class="panel" aria-label="Timeline"><div class="body">
        <${Sentence} task=${task} attempts=${attempts} />
        <${Timeline} task=${task} attempts=${attempts} now=${running ? now.value : serverNow()} chosen=${chosen} onChoose=${choose} />
        ${running && task.progress && html`<${Progress} progress=${task.progress} />`}
      </div></section>
      <div class="split">
        <div class="stack">
          ${task.error && html`<${ErrorPanel} task=${task} attempt=${attempts.find(({ number }) => number === chosen)} />`}
          <${Attempts} attempts=${attempts} chosen=${chosen} choose=${choose} problem=${problem} />
          <${Value} task=${task} source=${source} name="payload" />
          ${(task.status === 'SUCCEEDED' || task.result !== null || task.not_shown?.result) && html`<${Value} task=${task} source=${source} name="result" />`}
        </div>
        <div class="stack"><${Facts} task=${task} /><${Target} source=${source} /></div>
      </div>
    </div>`;
}

/** In words: what happened, and what happens next. */
function Sentence({ task, attempts }) {
  const tries = `attempt ${triesOf(task.attempt, task.retry.max_attempts, ' of ')}`;
  const last = attempts.at(-1);
  const took = last?.finished_at ? duration(millis(last.finished_at) - millis(last.started_at)) : null;
  const due = html`<${Time} at=${task.due_at} />`;
  const relative = html`<${Time} at=${task.due_at} as="relative" />`;
  const ended = html`<${Time} at=${task.finished_at} />`;
  const words = {
    PENDING: html`Starts ${relative}, at ${due}.`,
    ENQUEUED: html`Due ${relative}, at ${due}; it is in the ${task.lane} lane.`,
    RUNNING: html`Runs since <${Time} at=${task.started_at} />, ${tries}.`,
    RETRYING: html`${task.attempt === 0 ? 'Starts' : `Attempt ${task.attempt} failed. The next one starts`} ${relative}, at ${due}.`,
    WAITING: html`Waits since the end of ${tries}.`,
    SUCCEEDED: html`Succeeded at ${ended}, ${tries}${took && html` in ${took}`}${task.drift_ms !== null && html`, ${duration(task.drift_ms)} after it was due`}.`,
    DEAD: html`Out of attempts, or failed for good, at ${ended}: ${tries}.`,
    CANCELLED: html`Cancelled at ${ended}${task.reason && html`: ${REASONS[task.reason] ?? task.reason}`}.`,
    EXPIRED: html`Not started by <${Time} at=${task.expires_at} />, so it expired.`,
  };
  return html`<p class="sentence">${words[task.status]}</p>`;
}

function Progress({ progress: { fraction, message } }) {
  return html`<div class="progress"><${Meter} share=${fraction ?? 0} title="Progress" /><p class="quiet">${fraction !== null && `${Math.round(fraction * 100)} % `}${message}</p></div>`;
}

function ErrorPanel({ task, attempt }) {
  const shown = attempt?.error ?? task.error;
  const text = [`${shown.type}: ${shown.message}`, shown.traceback].filter(Boolean).join('\n\n');
  return html`
    <section class="panel error" aria-label="Error">
      <div class="head"><h2>Error</h2><span class="quiet">attempt ${triesOf(attempt?.error ? attempt.number : task.error.attempt, task.retry.max_attempts, ' of ')}</span><${CopyButton} text=${text} name="error" /></div>
      <div class="body"><p><strong class="tone-red error-type">${shown.type}</strong></p><pre class="message">${shown.message}</pre>
        ${shown.traceback && html`<details open><summary>Traceback</summary><pre class="traceback" tabindex="0">${shown.traceback}</pre></details>`}</div>
    </section>`;
}

function Attempts({ attempts, chosen, choose, problem }) {
  const shown = attempts.find(({ number }) => number === chosen);
  return html`
    <section class="panel" aria-label="Attempts">
      <div class="head"><h2>Attempts</h2></div>
      ${problem && html`<div class="body"><${ProblemNote} problem=${problem} /></div>`}
      ${attempts.length ? html`<div class="scroll"><table class="rows attempts"><thead><tr><th scope="col" class="narrow">No.</th><th scope="col">Outcome</th><th scope="col">Started</th><th scope="col" class="number">Drift</th><th scope="col" class="number">Took</th><th scope="col">Error</th></tr></thead>
        <tbody>${[...attempts].reverse().slice(0, 100).map((attempt) => html`
          <tr key=${attempt.number} class=${`opens ${attempt.number === chosen ? 'selected' : ''}`} onClick=${() => choose(attempt.number)}>
            <td class="narrow bare"><button class="link" aria-pressed=${attempt.number === chosen} onClick=${() => choose(attempt.number)}>${attempt.number}</button></td>
            <td class="bare"><${Status} status=${attempt.outcome ?? 'running'} /></td>
            <td data-label="Started"><${Time} at=${attempt.started_at} as="ms" /></td>
            <td class="number" data-label="Drift">${duration(attempt.drift_ms)}</td>
            <td class="number" data-label="Took">${attempt.finished_at ? duration(millis(attempt.finished_at) - millis(attempt.started_at)) : '–'}</td>
            <td class="quiet bare">${attempt.error?.type}</td>
          </tr>`)}</tbody></table></div>`
        : html`<${Empty} title="Not started yet" />`}
      ${shown?.log && html`<div class="body"><h3>Log of attempt ${shown.number}</h3><pre class="log" tabindex="0">${shown.log}</pre></div>`}
    </section>`;
}

/** Payload or result: small ones at once, others on a click, the largest only as a download. */
function Value({ task, source, name }) {
  const [loaded, setLoaded] = useState(null);
  const node = field(source, name);
  const note = task.not_shown?.[name];
  const inline = note || !node ? null : sourceOf(node);
  const title = name === 'payload' ? 'Payload' : 'Result';
  const text = loaded ?? inline;
  const size = text === null ? null : new Blob([text]).size;
  const load = async () => {
    try {
      setLoaded(await call('GET', `tasks/${task.id}/${name}`, { text: true }));
    } catch (problem) {
      toast(problem.message, 'red');
    }
  };
  const download = html`<a class="button small" href=${`/v1/tasks/${task.id}/${name}`} download=${`${task.id}-${name}.json`}><${Icon} name="download" />Download</a>`;
  const [shown, setShown] = useState(false);
  const noteSize = Number(/^([\d,]+) bytes/.exec(note ?? '')?.[1].replaceAll(',', '') ?? 0);
  return html`
    <section class="panel" aria-label=${title}>
      <div class="head"><h2>${title}</h2><span class="quiet">${note && !loaded ? (noteSize ? bytes(noteSize) : note) : size !== null && text !== 'null' ? bytes(size) : ''}</span></div>
      <div class="body">${
        note && !loaded ? html`<p class="row">${noteSize <= DOWNLOAD && html`<button class="small" onClick=${load}>Load ${bytes(noteSize)}</button>`}${download}</p>`
        : text === 'null' || text === null ? html`<p class="quiet">None</p>`
        : size > DOWNLOAD ? html`<p class="row">${download}</p>`
        : text.length > INLINE && !shown ? html`<p class="row"><button class="small" onClick=${() => setShown(true)}>Show ${bytes(size)}</button>${download}</p>`
        : html`<${JsonView} text=${text} name=${name} />`}</div>
    </section>`;
}

function Facts({ task }) {
  const tags = Object.entries(task.tags ?? {});
  const facts = [
    ['Namespace', html`<a href=${to('/tasks', { ns: task.namespace })}>${task.namespace}</a>`],
    ['Lane', html`${task.lane}${task.promoted_at && html` <span class="quiet">promoted <${Time} at=${task.promoted_at} /></span>`}`],
    task.pool && ['Pool', html`<code>${task.pool}</code>`],
    ['Submitted', html`<${Time} at=${task.created_at} as="stamp" />`],
    ['Run at', html`<${Time} at=${task.run_at} as="stamp" />`],
    TO_START.includes(task.status) && ['Due', html`<${Time} at=${task.due_at} as="stamp" />`],
    task.finished_at && ['Ended', html`<${Time} at=${task.finished_at} as="stamp" />`],
    task.expires_at && ['Expires', html`<${Time} at=${task.expires_at} as="stamp" />`],
    ['Timeout', duration(task.timeout * 1_000)],
    ['Retries', `${counted(task.retry.max_attempts, 'attempt')}, ${task.retry.base_delay} s × ${task.retry.multiplier}ⁿ, at most ${duration(task.retry.max_delay * 1_000)}`],
    task.schedule_id && ['Schedule', html`<a href=${to(`/schedules/${task.schedule_id}`)}>${task.schedule_id}</a> <span class="quiet"><${Time} at=${task.scheduled_for} /></span>`],
    task.run_id && ['Run', html`<a href=${to(`/runs/${task.run_id}`)}>${task.run_id}</a> <span class="quiet">step ${task.step}${task.index !== null && ` [${task.index}]`}</span>`],
    task.parent_id && ['Submitted by', html`<a href=${to(`/tasks/${task.parent_id}`)}>${task.parent_id}</a>`],
    task.unique && ['Unique', html`<code>${task.unique.key}</code> while ${task.unique.while}`],
    task.ordering_key && ['Ordering key', html`<code>${task.ordering_key}</code>`],
    task.fairness_key && ['Fairness key', html`<code>${task.fairness_key}</code>`],
    task.idempotency_key && ['Idempotency key', html`<code>${task.idempotency_key}</code>`],
    task.limits?.length && ['Limits', task.limits.map((limit) => html`<${Label} key=${limit.name}>${limit.name}${limit.key && `: ${limit.key}`}</${Label}> `)],
    tags.length && ['Tags', tags.map(([key, value]) => html`<a key=${key} href=${to('/tasks', { tag: `${key}:${value}` })}><${Label}>${key}: ${value}</${Label}></a> `)],
  ].filter(Boolean);
  return html`<section class="panel" aria-label="Details"><div class="head"><h2>Details</h2></div>
    <dl class="body facts">${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl></section>`;
}

function Target({ source }) {
  const node = field(source, 'target');
  return html`<section class="panel" aria-label="Target"><div class="head"><h2>Target</h2></div><div class="body">${node && html`<${JsonView} text=${sourceOf(node)} name="target" />`}</div></section>`;
}

/** What can be done with the task now. Each action says the same as curl and Python. */
function Actions({ task, reload }) {
  const [changing, setChanging] = useState(false);
  const { id, status } = task;
  const ask = async ({ title, text, action, danger, request, code, done }) => {
    const answer = await confirm({ title, action, danger, run: async () => (await request()) ?? true, text: html`<p>${text}</p><${Code} call=${code} />` });
    if (answer !== undefined) {
      toast(done);
      await reload();
    }
  };
  const actions = {
    retry: status === 'DEAD' && (() => ask({
      title: `Retry ${taskName(task)}?`, text: `It gets ${counted(task.retry.max_attempts, 'new attempt')} and starts now.`, action: 'Retry',
      request: () => post(`tasks/${id}/retry`), done: 'Retried', code: { method: 'POST', path: `tasks/${id}/retry`, call: `client.retry("${id}")` },
    })),
    cancel: LIVE.includes(status) && !(status === 'RUNNING' && task.cancel_requested) && (() => ask({
      title: `Cancel ${taskName(task)}?`, text: status === 'RUNNING' ? 'It is running and is asked to stop.' : 'It will not start.', action: 'Cancel the task', danger: true,
      request: () => remove(`tasks/${id}`), done: status === 'RUNNING' ? 'Asked to stop' : 'Cancelled', code: { method: 'DELETE', path: `tasks/${id}`, call: `client.cancel("${id}")` },
    })),
    run: TO_START.includes(status) && (() => ask({
      title: `Run ${taskName(task)} now?`, text: 'It becomes due now, without jitter.', action: 'Run now',
      request: () => post(`tasks/${id}/run`), done: 'Due now', code: { method: 'POST', path: `tasks/${id}/run`, call: `client.run("${id}")` },
    })),
    change: TO_START.includes(status) && (() => setChanging(true)),
  };
  useKeys({ ...(actions.retry && { r: actions.retry }), ...(actions.cancel && { c: actions.cancel }), ...(actions.change && { e: actions.change }) });
  return html`
    <div class="actions">
      ${actions.retry && html`<button class="primary" onClick=${actions.retry}><${Icon} name="refresh" />Retry</button>`}
      ${actions.run && html`<button onClick=${actions.run}><${Icon} name="play" />Run now</button>`}
      ${actions.change && html`<button onClick=${actions.change}>Change</button>`}
      ${actions.cancel && html`<button onClick=${actions.cancel}><${Icon} name="cross" />Cancel</button>`}
      <a class="button" href=${to('/new', { from: id, handler: '' })}>Edit and submit again</a>
    </div>
    ${changing && html`<${Change} task=${task} onClose=${(changed) => { setChanging(false); if (changed) reload(); }} />`}`;
}

function Change({ task, onClose }) {
  const [fields, setFields] = useState({ run_at: inputTime(task.due_at, 'UTC'), priority: task.priority, timeout: String(task.timeout), max_attempts: String(task.retry.max_attempts) });
  const [state, setState] = useState({ busy: false, problem: null });
  useHold(true);
  const body = changesOf(task, fields);
  const set = (name) => ({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value });
  const save = async (event) => {
    event.preventDefault();
    setState({ busy: true, problem: null });
    try {
      await patch(`tasks/${task.id}`, body);
      toast('Changed');
      onClose(true);
    } catch (problem) {
      setState({ busy: false, problem });
    }
  };
  return html`<${Dialog} title=${`Change ${taskName(task)}`} onClose=${() => onClose(false)}>
    <form class="form" onSubmit=${save}>
      <div class="fields">
        <label class="field"><span>Due (UTC)</span><input type="datetime-local" value=${fields.run_at} onInput=${set('run_at')} /></label>
        <label class="field"><span>Priority</span><select value=${fields.priority} onChange=${set('priority')}>${['high', 'medium', 'low'].map((name) => html`<option key=${name}>${name}</option>`)}</select></label>
        <label class="field"><span>Timeout, seconds</span><input inputmode="decimal" value=${fields.timeout} onInput=${set('timeout')} /></label>
        <label class="field"><span>Attempts in all</span><input inputmode="numeric" value=${fields.max_attempts} onInput=${set('max_attempts')} /></label>
      </div>
      <${ProblemNote} problem=${state.problem} />
      <${Code} call=${{ method: 'PATCH', path: `tasks/${task.id}`, body, call: `client.change("${task.id}", **${JSON.stringify(body)})` }} />
      <div class="dialog-actions"><button type="button" onClick=${() => onClose(false)}>Back</button><button class="primary" disabled=${state.busy || !Object.keys(body).length}>Change</button></div>
    </form></${Dialog}>`;
}

/** Only what differs is sent. */
function changesOf(task, { run_at: runAt, priority, timeout, max_attempts: most }) {
  const body = {};
  if (runAt && runAt !== inputTime(task.due_at, 'UTC')) body.run_at = `${runAt}:00Z`;
  if (priority !== task.priority) body.priority = priority;
  if (timeout !== String(task.timeout)) body.timeout = Number(timeout);
  if (most !== String(task.retry.max_attempts)) body.retry = { max_attempts: Number(most) };
  return body;
}

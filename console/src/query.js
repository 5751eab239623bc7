/**
 * The query language of task lists: `word:value[,value]` pairs and bare text, which matches the beginning of the name.
 * Each word is one parameter of the URL, and one of the API.
 */
import { serverNow } from './clock.js';

export const STATUSES = ['PENDING', 'ENQUEUED', 'RUNNING', 'RETRYING', 'WAITING', 'SUCCEEDED', 'DEAD', 'CANCELLED', 'EXPIRED'];

/** Words by what they mean; each has its parameter in the URL of the console. */
export const WORDS = {
  status: 'one or more statuses: status:DEAD,RETRYING',
  handler: 'a Python handler: handler:shop.restock',
  target: 'a type of target: target:http',
  tag: 'a tag: tag:team, or tag.team:growth',
  ns: 'a namespace, or * for all',
  schedule: 'runs of a schedule, by its id',
  parent: 'submitted by the handler of this task',
  run: 'the steps of a run, by its id',
  lane: 'one or more lanes: lane:low,batch/high',
  error: 'the last failure has this type: error:Http503',
  key: 'an idempotency key',
  due: 'due within the next hour: due:1h, in the last one: due:-1h, or due:FROM..UNTIL',
  since: 'created since: since:24h, or since:2026-11-17T09:00Z',
  until: 'created before: until:24h, or until:2026-11-17T09:00Z',
  id: 'opens the task, by its whole id',
};
const PLAIN = ['handler', 'target', 'schedule', 'parent', 'run', 'lane', 'error', 'key', 'due', 'since', 'until'];
const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

/**
 * @returns {{view: object, unknown: string[], open: string|null}} the parameters of the URL, pairs that mean nothing, and
 *   the id of a task to open
 */
export function parse(text) {
  const view = empty();
  const unknown = [];
  const bare = [];
  let open = null;
  for (const token of text.match(/(?:[^\s"]|"[^"]*"|")+/g) ?? []) {
    const [, word, plain] = /^([a-z]+(?:\.[^:]+)?):(.*)$/i.exec(token) ?? [];
    const value = plain?.replace(/^"(.*)"$/, '$1');
    if (!word) bare.push(token);
    else if (/^tag\./.test(word)) view.tag.push(value ? `${word.slice(4)}:${value}` : word.slice(4));
    else if (word === 'tag' && value) view.tag.push(value);
    else if (word === 'status' && known(value)) view.status = statuses(value);
    else if (word === 'id' && ID.test(value)) open = value.toUpperCase();
    else if (Object.hasOwn(TIMES, word) && !TIMES[word](value)) unknown.push(token);
    else if ([...PLAIN, 'ns'].includes(word) && value) view[word] = value;
    else unknown.push(token);
  }
  if (bare.length === 1 && ID.test(bare[0])) open = bare[0].toUpperCase();
  else view.q = bare.join(' ');
  return { view, unknown, open };
}

const isMoment = (text) => /^-?\d+[smhdw]$/.test(text) || (/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text)));
const isSpan = (text) => (text.includes('..') ? text.split('..').every((end) => !end || isMoment(end)) : /^-?\d+[smhdw]$/.test(text));
/** Whether a value is one that the word takes. */
const TIMES = { since: isMoment, until: isMoment, due: isSpan };

const empty = () => ({ q: '', status: [], tag: [], ns: '', ...Object.fromEntries(PLAIN.map((word) => [word, ''])) });
const statuses = (value) => value.toUpperCase().split(',').filter(Boolean);
const known = (value) => statuses(value).length > 0 && statuses(value).every((each) => STATUSES.includes(each));

/** Reads the view from the parameters of a URL. */
export function fromUrl(parameters) {
  const view = empty();
  for (const name of ['q', 'ns', ...PLAIN]) view[name] = parameters.get(name) ?? '';
  view.status = statuses(parameters.getAll('status').join(',')); // the API refuses what it does not know
  view.tag = parameters.getAll('tag');
  return view;
}

/** Returns the parameters of the URL for a view. */
export const toUrl = (view) => ({ ...view, status: view.status.join(',') });

/** Returns the view as text. The namespace has a field of its own, so it is left out. */
export function print(view) {
  const pairs = [];
  if (view.status.length) pairs.push(`status:${view.status.join(',')}`);
  for (const word of PLAIN) if (view[word]) pairs.push(`${word}:${view[word]}`);
  for (const tag of view.tag) pairs.push(tag.includes(':') ? `tag.${tag.replace(':', quotedAfter(tag))}` : `tag:${tag}`);
  if (view.q) pairs.push(view.q);
  return pairs.join(' ');
}

const quotedAfter = (tag) => (/\s/.test(tag) ? ':"' : ':');

/** Returns the filter as the API takes it. `all` names the namespaces of a view without one. */
export function filterOf(view, all = '*') {
  return clean({
    namespace: view.ns || all,
    status: view.status,
    name: view.q,
    handler: view.handler,
    target: view.target,
    tag: view.tag,
    schedule_id: view.schedule,
    parent_id: view.parent,
    run_id: view.run,
    lane: view.lane ? view.lane.split(',') : '',
    error_type: view.error,
    with_key: view.key,
    ...dueTimes(view.due),
    created_since: moment(view.since, -1),
    created_before: moment(view.until, -1),
  });
}

const clean = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value && value.length !== 0));

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * `24h` is that long ago, or with the sign 1 ahead, to the minute, so that pages of one list have the same filter; a minus
 * turns it round.
 */
function moment(text, sign, round = Math.floor) {
  const [, minus, count, unit] = /^(-?)(\d+)([smhdw])$/.exec(text) ?? [];
  if (!count) return text;
  const at = serverNow() + (minus ? -sign : sign) * count * UNITS[unit] * 1_000;
  return new Date(round(at / 60_000) * 60_000).toISOString();
}

/** `1h` is the next hour, `-1h` the last one; otherwise `FROM..UNTIL`, of which one may be left out. */
function dueTimes(text) {
  if (!text) return {};
  const [since, until] = text.includes('..') ? text.split('..') : text.startsWith('-') ? [text, '0s'] : ['0s', text];
  return { due_since: moment(since, 1), due_before: moment(until, 1, Math.ceil) };
}

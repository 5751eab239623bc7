/**
 * A cron expression as the controls of the builder show it, and back. Nothing here evaluates one: what no control
 * shows stays text, and only `POST /v1/schedules/preview` says what it means.
 */

export const MINUTE_STEPS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
export const HOUR_STEPS = [1, 2, 3, 4, 6, 8, 12];
export const FIELDS = ['minute', 'hour', 'day', 'month', 'weekday'];
/** Monday first, with the numbers of cron. */
export const WEEKDAYS = [[1, 'Mo'], [2, 'Tu'], [3, 'We'], [4, 'Th'], [5, 'Fr'], [6, 'Sa'], [0, 'Su']];
export const WEEKDAY_NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const MONTHS = [
  'January', 'February', 'March', 'April', 'May', 'June',
  'July', 'August', 'September', 'October', 'November', 'December',
];
const EVERY_DAY = [1, 2, 3, 4, 5, 6, 0];

/** What the controls show before an expression says otherwise. */
export const DEFAULTS = {
  kind: 'days', every: 15, minute: 0, hour: 9, weekdays: EVERY_DAY, on: 'day', day: '1', nth: '1', weekday: 1, month: 1,
  fields: ['0', '9', '*', '*', '*'],
};

/**
 * Returns the controls that write this expression. Its `kind` is `minutes`, `hours`, `days`, `month`, `year`, `fields`
 * for any other five fields, or `text` for what has no five fields.
 */
export function controlsOf(text, before = DEFAULTS) {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5 || /[@=()]/.test(text)) return { ...before, kind: 'text' };
  return { ...before, fields, ...(simple(fields.map((field) => field.toLowerCase())) ?? { kind: 'fields' }) };
}

/**
 * Returns what becomes of local times at a change of the clock unless the rule says otherwise, as Debian's cron does it:
 * `{gap, overlap}`; null for a text whose fields are not known here.
 */
export function defaultDst(text) {
  const { kind, fields } = controlsOf(text);
  if (kind === 'text') return null;
  const followsElapsedTime = fields.slice(0, 2).some((field) => field.startsWith('*'));
  return followsElapsedTime ? { gap: 'skip', overlap: 'both' } : { gap: 'shift', overlap: 'first' };
}

/** Returns the expression of the controls; that of the kind `text` is the text that was there. */
export function expressionOf(controls, text = '') {
  const { kind, every, minute, hour, day, month } = controls;
  if (kind === 'minutes') return `${step(every)} * * * *`;
  if (kind === 'hours') return `${minute} ${step(every)} * * *`;
  if (kind === 'days') return `${minute} ${hour} * * ${weekdayList(controls.weekdays)}`;
  if (kind === 'year') return `${minute} ${hour} ${day} ${month} *`;
  if (kind === 'month' && controls.on === 'weekday') return `${minute} ${hour} * * ${nthWeekday(controls)}`;
  if (kind === 'month') return `${minute} ${hour} ${day} * *`;
  return kind === 'fields' ? controls.fields.map((field) => field.trim() || '*').join(' ') : text;
}

/** Returns the controls of another kind, with values that it can show. */
export function withKind(controls, kind, text) {
  const changed = { ...controls, kind };
  if (kind === 'minutes' && !MINUTE_STEPS.includes(changed.every)) changed.every = DEFAULTS.every;
  if (kind === 'hours' && !HOUR_STEPS.includes(changed.every)) changed.every = 1;
  if (kind === 'year' && !/^\d+$/.test(changed.day)) changed.day = DEFAULTS.day;
  if (kind === 'fields') changed.fields = expressionOf(controls, text).split(/\s+/).slice(0, 5);
  if (kind === 'fields') while (changed.fields.length < 5) changed.fields.push('*');
  return changed;
}

function simple([minute, hour, day, month, weekday]) {
  const every = stepOf(minute);
  const anyDay = [day, month, weekday].every(isAny);
  if (every && hour === '*' && anyDay) return MINUTE_STEPS.includes(every) ? { kind: 'minutes', every } : null;
  const at = numberIn(minute, 0, 59);
  if (at === null) return null;
  const hours = stepOf(hour);
  if (hours && anyDay) return HOUR_STEPS.includes(hours) ? { kind: 'hours', every: hours, minute: at } : null;
  const daily = onDays(day, month, weekday);
  const oclock = numberIn(hour, 0, 23);
  return daily && oclock !== null ? { ...daily, minute: at, hour: oclock } : null;
}

function onDays(day, month, weekday) {
  if (isAny(day) && month === '*') return onWeekdays(weekday);
  if (!isAny(weekday)) return null;
  const number = numberIn(day, 1, 31);
  if (month === '*') {
    if (number !== null) return { kind: 'month', on: 'day', day: String(number) };
    return ['l', 'lw'].includes(day) ? { kind: 'month', on: 'day', day: day.toUpperCase() } : null;
  }
  const which = numberIn(month, 1, 12);
  return number !== null && which !== null ? { kind: 'year', day: String(number), month: which } : null;
}

function onWeekdays(text) {
  if (isAny(text)) return { kind: 'days', weekdays: EVERY_DAY };
  const nth = /^([a-z]+|\d)(?:#([1-5l])|(l))$/.exec(text);
  if (nth) {
    const weekday = weekdayNumber(nth[1]);
    return weekday === null ? null : { kind: 'month', on: 'weekday', weekday, nth: (nth[2] ?? nth[3]).toUpperCase() };
  }
  const found = new Set();
  for (const entry of text.split(',')) {
    const [from, to, more] = entry.split('-').map(weekdayNumber);
    if (from === null || to === null || more !== undefined) return null;
    for (let day = from; ; day = (day + 1) % 7) {
      found.add(day);
      if (day === (to ?? from)) break;
    }
  }
  return { kind: 'days', weekdays: EVERY_DAY.filter((day) => found.has(day)) };
}

const isAny = (field) => field === '*' || field === '?';
const step = (every) => (every === 1 ? '*' : `*/${every}`);

function stepOf(field) {
  if (field === '*') return 1;
  const found = /^\*\/(\d{1,2})$/.exec(field);
  return found ? Number(found[1]) : null;
}

function numberIn(field, low, high) {
  const number = /^\d{1,2}$/.test(field) ? Number(field) : NaN;
  return number >= low && number <= high ? number : null;
}

function weekdayNumber(text) {
  if (/^[0-7]$/.test(text)) return Number(text) % 7;
  const place = WEEKDAY_NAMES.findIndex((name) => [name.slice(0, 3), name].some((each) => each.toLowerCase() === text));
  return place < 0 ? null : place;
}

/** `*`, or a list with ranges of three and more: `1-5`, `1-3,0`. No day at all is an empty field, which the API refuses. */
function weekdayList(weekdays) {
  const chosen = EVERY_DAY.filter((day) => weekdays.includes(day));
  if (chosen.length === 7) return '*';
  const runs = [];
  for (const day of chosen) {
    const run = runs.at(-1);
    if (run && EVERY_DAY.indexOf(day) === EVERY_DAY.indexOf(run.at(-1)) + 1) run.push(day);
    else runs.push([day]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1) || 7}` : run.join(','))).join(',');
}

function nthWeekday({ weekday, nth }) {
  const name = WEEKDAY_NAMES[weekday].slice(0, 3).toLowerCase();
  return nth === 'L' ? `${name}L` : `${name}#${nth}`;
}

/** Returns the text of a line that points at a position, counted from 1, of the line above. */
export const caretLine = (position) => `${' '.repeat(Math.max(position - 1, 0))}^`;

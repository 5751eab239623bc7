/** The form of a schedule, and the body of `POST /v1/schedules` that it stands for. */

export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 };
export const NEW_FORM = {
  name: '', namespace: 'default', kind: 'cron', cron: null, every: '15', unit: 'minutes', anchor: '', rules: '',
  type: 'python', handler: '', url: '', method: 'POST', target: '', payload: 'null', priority: 'medium',
  overlap: 'skip', policy: 'run_once', grace: '60', jitter: '0', max_runs: '', pause_on_failure: '', dates: '', kept: {},
};
const PAYLOAD = '\u0000payload\u0000';

/**
 * Returns the body as JSON text; the payload is in it as it was typed, so that no number changes.
 * @throws {SyntaxError} if a field that has to be JSON is not; its `field` says which
 */
export function bodyText(form, ruleOfCron) {
  parsed('task.payload', form.payload);
  const { task: keptTask = {}, misfire = {}, exclude = [], ...kept } = form.kept;
  const body = {
    ...kept,
    name: form.name.trim() || null,
    ...rulesOf(form, ruleOfCron),
    exclude: [...exclude, ...datesOf(form)],
    task: { ...keptTask, namespace: form.namespace.trim() || 'default', priority: form.priority, target: targetOf(form), payload: PAYLOAD },
    overlap: form.overlap,
    misfire: { ...misfire, policy: form.policy, grace: numberOr(form.grace, 60) },
    jitter: numberOr(form.jitter, 0),
    max_runs: numberOr(form.max_runs, null),
    pause_on_failure: numberOr(form.pause_on_failure, null),
  };
  return JSON.stringify(body, null, 2).replace(JSON.stringify(PAYLOAD), () => form.payload.trim());
}

/** Returns the rule or the rules of the form, as in a body. */
export function rulesOf({ kind, cron, every, unit, anchor, rules }, ruleOfCron) {
  const length = numberOr(every, 0);
  const seconds = typeof length === 'number' ? length * UNITS[unit] : length;
  if (kind === 'cron') return { rule: ruleOfCron(cron) };
  if (kind === 'rate') return { rule: { type: 'rate', every: seconds, ...(anchor && { anchor }) } };
  if (kind === 'delay') return { rule: { type: 'delay', delay: seconds } };
  const given = parsed('rules', rules);
  return Array.isArray(given) ? { rules: given } : { rule: given };
}

/** The excluded dates; cron exclusions of an edited schedule are kept. */
function datesOf({ dates, kind, cron }) {
  const days = dates.split(/[\s,;]+/).filter(Boolean);
  return days.length ? [{ type: 'dates', dates: days, timezone: (kind === 'cron' && cron.timezone) || 'UTC' }] : [];
}

function targetOf({ type, handler, url, method, target, kept }) {
  const before = kept.task?.target?.type === type ? kept.task.target : {};
  if (type === 'python') return { ...before, type, handler: handler.trim() };
  if (type === 'http') return { ...before, type, url: url.trim(), method };
  return parsed('task.target', target);
}

function parsed(field, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new SyntaxError(`is not JSON: ${error.message}`), { field });
  }
}

/** A number; what is none stays text, and the API says why it refuses it. */
function numberOr(text, none) {
  const trimmed = text.trim();
  if (!trimmed) return none;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/** Returns the form of a stored schedule. `payload` is its payload as it is stored. */
export function formOf(schedule, payload, cronOf) {
  const { task, misfire, exclude } = schedule;
  const { target } = task;
  const isHttp = target.type === 'http' && typeof target.url === 'string';
  const type = target.type === 'python' ? 'python' : isHttp ? 'http' : 'json';
  const dates = exclude.filter((each) => each.type === 'dates');
  const simpleDates = dates.length === 1 && dates[0].timezone === (schedule.rule?.timezone ?? 'UTC') ? dates : [];
  const { starts_at: starts, ends_at: ends } = schedule;
  return {
    ...NEW_FORM,
    name: schedule.name ?? '', namespace: task.namespace, ...ruleFields(schedule, cronOf),
    type, handler: target.handler ?? '', url: isHttp ? target.url : '', method: target.method ?? 'POST',
    target: JSON.stringify(target, null, 2), payload, priority: task.priority,
    overlap: schedule.overlap, policy: misfire.policy, grace: String(misfire.grace), jitter: String(schedule.jitter),
    max_runs: String(schedule.max_runs ?? ''), pause_on_failure: String(schedule.pause_on_failure ?? ''),
    dates: simpleDates.flatMap((each) => each.dates).join(', '),
    kept: { starts_at: starts, ends_at: ends, task, misfire, exclude: exclude.filter((each) => !simpleDates.includes(each)) },
  };
}

function ruleFields({ rule, rules }, cronOf) {
  if (rule?.type === 'cron') return { kind: 'cron', cron: cronOf(rule) };
  if (rule?.type === 'rate') return { kind: 'rate', ...lengthOf(rule.every), anchor: rule.anchor };
  if (rule?.type === 'delay') return { kind: 'delay', ...lengthOf(rule.delay) };
  return { kind: 'json', rules: JSON.stringify(rules ?? rule, null, 2) };
}

function lengthOf(seconds) {
  const [unit, size] = Object.entries(UNITS).reverse().find(([, each]) => seconds % each === 0) ?? ['seconds', 1];
  return { every: String(seconds / size), unit };
}

/** Asks before a bulk action, with the count of a dry run in the button, and shows its progress. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { ACTIONS, createBulk } from '../bulk.js';
import { count, counted } from '../format.js';
import { useHold } from '../live.js';
import { Code } from './code.js';
import { Dialog } from './confirm.js';
import { ProblemNote } from './notes.js';
import { Meter } from './spark.js';
import { announce } from './toast.js';

/**
 * @param {{action: string, body: object, what: any, onClose: (changed: number) => void}} props `body` is the filter or
 *   `{ids}`; `what` says in words which tasks
 */
export function BulkDialog({ action, body, what, onClose }) {
  const { verb, done, danger, path, method = 'POST', python, each } = ACTIONS[action];
  const inQuery = method === 'DELETE';
  const [by, setBy] = useState('1h');
  const seconds = action === 'shift' ? secondsOf(by) : null;
  const whole = useMemo(
    () => (action === 'shift' ? { ...body, by: seconds, idempotency_key: `console-${crypto.getRandomValues(new Uint32Array(2)).join('-')}` } : body),
    [JSON.stringify(body), seconds],
  );
  const bulk = useMemo(() => createBulk({ action, body: whole }), [whole]);
  useHold(true);
  useEffect(() => {
    if (seconds !== 0 && !Number.isNaN(seconds)) bulk.dryRun();
    return () => bulk.stop();
  }, [bulk]);
  const stage = bulk.stage.value;
  const { count: matched, changed, failures, problem } = bulk;
  const close = () => {
    bulk.stop();
    onClose(changed.value);
  };
  if (stage === 'running') announce(`${changed.value} of ${matched.value} ${done}`);
  return html`<${Dialog} title=${`${verb} ${stage === 'counting' ? 'tasks' : counted(matched.value, 'task')}?`} onClose=${close}>
    <div class="dialog-text">${what}</div>
    ${action === 'shift' && html`<label class="field"><span>Move by</span>
      <input value=${by} disabled=${stage === 'running'} aria-invalid=${!seconds} onInput=${({ currentTarget }) => setBy(currentTarget.value)} />
      <span class="hint">Such as 30m, 1h, 2d; -15m moves towards now</span></label>`}
    <p class="bulk-count" role="status">${sentence(stage, { matched, changed, done })}</p>
    ${['running', 'stopped', 'finished'].includes(stage) && html`
      <${Meter} share=${matched.value ? changed.value / matched.value : 1} tone=${danger ? 'red' : 'green'} title=${`${changed.value} of ${matched.value}`} />`}
    ${failures.value.length > 0 && html`<details><summary>${counted(failures.value.length, 'task')} not ${done}</summary>
      <ul class="failures">${failures.value.slice(0, 20).map(({ id, reason }) => html`<li key=${id}><a class="mono" href=${`/tasks/${id}`}>${id}</a> ${reason}</li>`)}</ul></details>`}
    <${ProblemNote} problem=${problem.value} />
    ${!each && html`<${Code} call=${inQuery ? { method, path: `${path}?${new URLSearchParams(whole)}`, call: python, keywords: whole } : { method, path, body: whole, call: python }} />`}
    <div class="dialog-actions">
      ${stage === 'running'
        ? html`<button onClick=${bulk.stop}>Stop</button>`
        : html`<button onClick=${close}>${stage === 'finished' ? 'Close' : 'Back'}</button>`}
      ${stage === 'stopped' && html`<button class=${danger ? 'danger' : 'primary'} onClick=${bulk.run}>Continue with ${count(Math.max(matched.value - changed.value, 0))}</button>`}
      ${['counting', 'ready'].includes(stage) && html`
        <button class=${danger ? 'danger' : 'primary'} disabled=${stage === 'counting' || !matched.value} onClick=${bulk.run}>
          ${verb} ${count(matched.value)}${stage === 'counting' ? ' so far …' : ''}</button>`}
    </div></${Dialog}>`;
}

function sentence(stage, { matched, changed, done }) {
  const all = count(matched.value);
  if (stage === 'counting') return `Counting: ${all} so far.`;
  if (stage === 'ready') return matched.value ? `A dry run has counted ${all}.` : 'No task would change.';
  if (stage === 'refused') return 'The request was refused.';
  const progress = `${count(changed.value)} of ${all} ${done}`;
  return stage === 'running' ? `${progress} …` : stage === 'stopped' ? `Stopped: ${progress}.` : `${progress}.`;
}

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Returns the seconds of `90s`, `-15m`, `1h`, `2d`; NaN if it is something else. */
function secondsOf(text) {
  const [, number, unit = 's'] = /^\s*(-?\d+(?:\.\d+)?)\s*([smhd]?)\s*$/.exec(text) ?? [];
  return number ? Number(number) * UNITS[unit || 's'] : NaN;
}

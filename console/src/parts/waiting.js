/** What a task waits for, next to its status. */
import { html } from '../vendor/preact.js';
import { to } from '../router.js';
import { Label } from './status.js';

/** @param {{task: {waiting_for?: object|null}}} props */
export function Waiting({ task }) {
  const waits = task.waiting_for;
  if (!waits) return null;
  if (waits.limit) return html`<${Label} tone="amber">waits for the limit ${waits.limit}${waits.key && ` (${waits.key})`}</${Label}>`;
  if (waits.ordering_key) return html`<${Label} tone="amber">waits behind ${waits.ordering_key}</${Label}>`;
  if (waits.worker) return html`<${Label} tone="amber">waits for a worker with ${waits.worker}${waits.pool && ` in ${waits.pool}`}</${Label}>`;
  if (waits.run) return html`<a href=${to(`/runs/${waits.run}`)}><${Label} tone="violet">waits for a run</${Label}></a>`;
  return html`<${Label} tone="violet">waits for a callback</${Label}>`;
}

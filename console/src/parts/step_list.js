/** Steps as an indented list: each after what it needs. */
import { html } from '../vendor/preact.js';
import { indented, waitsFor } from '../models/run_steps.js';
import { withQuery } from '../router.js';
import { duration } from '../zone.js';
import { kindOf } from './graph.js';
import { Status } from './status.js';

const DEEPEST = 8;

/** @param {{steps: object[], chosen: string|null, label: string}} props as those of the graph */
export function StepList({ steps, chosen, label }) {
  return html`
    <ol class="steps" aria-label=${label}>${indented(steps).map(({ step, depth }) => html`
      <li key=${step.name} class=${`depth-${Math.min(depth, DEEPEST)}`}>
        <a href=${withQuery({ step: step.name === chosen ? '' : step.name })} aria-current=${step.name === chosen ? 'true' : undefined}>${step.name}</a>
        ${step.status ? html`<${Status} status=${step.status} />` : kindOf(step)}
        <span class="quiet">${noteOf(steps, step)}</span>
      </li>`)}</ol>`;
}

function noteOf(steps, step) {
  const waits = waitsFor(steps, step);
  if (waits.length) return `waits for ${waits.join(', ')}`;
  if (step.status === 'SKIPPED') return step.reason ?? '';
  if (step.finished_at && step.started_at) return duration(Date.parse(step.finished_at) - Date.parse(step.started_at));
  return step.needs.length && !step.status ? `after ${step.needs.join(', ')}` : step.finally ? 'after all others' : '';
}

/** One step of a run: what became of it, why, and its items if it is a map. */
import { html } from '../vendor/preact.js';
import { after, FAILED, waitsFor } from '../models/run_steps.js';
import { to, withQuery } from '../router.js';
import { useRead } from '../state.js';
import { duration, Time } from '../zone.js';
import { CopyButton } from './copy.js';
import { Icon } from './icon.js';
import { ListTable, useList } from './list.js';
import { Empty, Loaded } from './notes.js';
import { Status } from './status.js';

const REASONS = { condition: 'its condition was not met', upstream: 'a step before it failed', stopped: 'the run was stopped' };

/** @param {{run: object, step: object, retry: ((name: string) => void)|null}} props */
export function StepDetail({ run, step, retry }) {
  const waits = waitsFor(run.steps, step);
  const later = after(run.steps, step.name);
  const facts = [
    ['Needs', step.needs.length ? step.needs.join(', ') : step.finally ? 'all other steps to end' : 'nothing'],
    ['Before', later.length ? later.join(', ') : 'nothing'],
    waits.length && ['Waits for', waits.join(', ')],
    step.reason && ['Why', REASONS[step.reason] ?? step.reason],
    ['Attempt', step.attempt || '–'],
    ['Started', html`<${Time} at=${step.started_at} as="ms" />`],
    ['Took', step.started_at && step.finished_at ? duration(Date.parse(step.finished_at) - Date.parse(step.started_at)) : '–'],
    step.task_id && ['Task', html`<a href=${to(`/tasks/${step.task_id}`)}><code>${step.task_id}</code></a>`],
  ].filter(Boolean);
  return html`
    <section class="panel step-detail" aria-label=${`Step ${step.name}`}>
      <div class="head"><h2>${step.name}</h2><${Status} status=${step.status} />
        <span class="row">${retry && FAILED.includes(step.status) && html`<button class="small primary" onClick=${() => retry(step.name)}>Retry from here…</button>`}
          <a class="plain" href=${withQuery({ step: '' })} aria-label="Close the step"><${Icon} name="cross" /></a></span></div>
      <div class="body stack">
        <dl class="facts">${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>
        ${step.error && html`<${StepError} error=${step.error} />`}
        ${step.run_id && html`<${Nested} run=${run} step=${step} />`}
      </div>
    </section>`;
}

function StepError({ error }) {
  return html`
    <div class="step-error"><p><strong>${error.type}</strong>: ${error.message}</p>
      ${error.traceback && html`<details><summary>Traceback</summary><div class="code"><pre tabindex="0">${error.traceback}</pre><${CopyButton} text=${error.traceback} name="traceback" /></div></details>`}</div>`;
}

/** The run of a step that has one: the items of a map, or a workflow of its own. */
function Nested({ run, step }) {
  const read = useRead(`runs/${step.run_id}`);
  return html`<${Loaded} read=${read} rows=${2}>${(nested) => (nested.map
    ? html`<${Items} run=${run} step=${step} />`
    : html`<p><a href=${to(`/runs/${nested.id}`)}>Open its run</a> <${Status} status=${nested.status} /></p>`)}</${Loaded}>`;
}

const COLUMNS = [
  { id: 'index', head: 'Item', cell: ({ index, task_id: task }) => (task ? html`<a href=${to(`/tasks/${task}`)}>${index}</a>` : index) },
  { id: 'status', head: 'Status', class: 'bare', cell: ({ status }) => html`<${Status} status=${status} />` },
  { id: 'attempt', head: 'Attempt', class: 'number', cell: ({ attempt }) => attempt || '–' },
  { id: 'took', head: 'Took', class: 'number', cell: ({ started_at: from, finished_at: until }) => (from && until ? duration(Date.parse(until) - Date.parse(from)) : '–') },
  { id: 'error', head: 'Error', cell: ({ error, reason }) => error?.message ?? reason ?? '' },
];

function Items({ run, step }) {
  const list = useList(`runs/${run.id}/steps/${encodeURIComponent(step.name)}/items`, { limit: 50 }, ({ index }) => String(index));
  return html`<h3>Items</h3><${ListTable} list=${list} columns=${COLUMNS} caption=${`Items of ${step.name}`} empty=${html`<${Empty} title="The list was empty" />`} />`;
}

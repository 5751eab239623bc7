/** One run of a workflow: which step holds up the rest, and what to run again. */
import { html } from '../vendor/preact.js';
import { post, remove } from '../api.js';
import { counted } from '../format.js';
import { may, useLiveReads } from '../live.js';
import { after, FAILED, holdups } from '../models/run_steps.js';
import { confirm } from '../parts/confirm.js';
import { CopyButton } from '../parts/copy.js';
import { StepGraph } from '../parts/graph.js';
import { Loaded, Note } from '../parts/notes.js';
import { getWithSource, sourceAt } from '../parts/source.js';
import { Status } from '../parts/status.js';
import { StepDetail } from '../parts/step_detail.js';
import { StepList } from '../parts/step_list.js';
import { toast } from '../parts/toast.js';
import { JsonView } from '../parts/tree.js';
import { query, to, withQuery } from '../router.js';
import { useRead } from '../state.js';
import { Time } from '../zone.js';
import { Counts, runName, took, workflowText } from './runs.js';

const SETTLE = 250; // ms: many steps change at once
const NARROW = matchMedia('(max-width: 720px)');

export function Run({ id }) {
  const read = useRead(`runs/${id}`, {}, { load: getWithSource });
  useLiveReads({ topic: 'tasks', filter: { run_id: id } }, read.reload, SETTLE);
  return html`<${Loaded} read=${read}>${(run) => html`<${Shown} run=${run} reload=${read.reload} />`}</${Loaded}>`;
}

const over = ({ status }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);

function Shown({ run, reload }) {
  const view = query.value.get('view') ?? (NARROW.matches ? 'list' : 'graph');
  const chosen = run.steps.find(({ name }) => name === query.value.get('step'));
  const retry = may('operate') && run.status === 'FAILED' && !run.parent_task_id && !run.map ? (name) => askRetry(run, name, reload) : null;
  const props = { steps: run.steps, chosen: chosen?.name ?? null, label: `Steps of ${runName(run)}` };
  return html`
    <div class="page-head">
      <${Status} status=${run.status} /><h1>${run.name || run.workflow || 'Run'}</h1>
      <div class="actions"><${Actions} run=${run} retry=${retry} reload=${reload} /></div>
      <p class="subline"><span>${run.workflow ? html`<a href=${to(`/workflows/${run.workflow}`, { ns: run.namespace, version: run.version })}>${workflowText(run)}</a>` : workflowText(run)}</span>
        <span class="quiet">namespace ${run.namespace}</span>
        <span class="quiet">started <${Time} at=${run.run_at} />, ${over(run) ? 'took' : 'for'} ${took(run)}</span>
        ${run.attempt > 1 && html`<span class="quiet">attempt ${run.attempt}</span>`}
        ${run.parent_task_id && html`<a href=${to(`/tasks/${run.parent_task_id}`)}>the task that waits for it</a>`}
        <span class="quiet"><code>${run.id}</code><${CopyButton} text=${run.id} name="id" /></span></p>
    </div>
    <div class="stack">
      <${Holdups} run=${run} />
      ${run.map ? html`<${Note}>This run has the items of the step <strong>${run.map.step}</strong>. <a href=${to(`/runs/${run.map.run_id}`, { step: run.map.step })}>Open the run that it belongs to</a></${Note}>` : html`
        <div class="panel">
          <div class="head"><h2>Steps</h2><${Counts} counts=${run.counts} />
            <nav class="row" aria-label="View">${['graph', 'list'].map((each) => html`<a key=${each} class="button small" href=${withQuery({ view: each })} aria-current=${view === each ? 'true' : undefined}>${each}</a>`)}</nav></div>
          ${view === 'graph' ? html`<${StepGraph} ...${props} />` : html`<${StepList} ...${props} />`}
        </div>`}
      ${chosen && html`<${StepDetail} key=${chosen.name} run=${run} step=${chosen} retry=${retry} />`}
      <div class="grid">
        <${Value} name="Input" text=${sourceAt(run, 'input')} /><${Value} name="Result" text=${sourceAt(run, 'result')} note=${run.not_shown?.result} />
      </div>
    </div>`;
}

function Value({ name, text, note }) {
  return html`<section class="panel"><div class="head"><h2>${name}</h2></div><div class="body">
    ${note ? html`<p class="quiet">${note}</p>` : text === 'null' || text === null ? html`<span class="quiet">none</span>` : html`<${JsonView} text=${text} name=${name.toLowerCase()} />`}</div></section>`;
}

/** Which steps the rest waits for, or which failed. */
function Holdups({ run }) {
  const found = holdups(run.steps);
  if (!found.length || run.status === 'SUCCEEDED') return null;
  const failed = FAILED.includes(found[0].step.status);
  return html`
    <${Note} tone=${failed ? 'red' : 'blue'} icon=${failed ? 'alert' : 'hourglass'}>
      <ul class="holdups">${found.slice(0, 3).map(({ step, holds }) => html`<li key=${step.name}>
        <a href=${withQuery({ step: step.name })}><strong>${step.name}</strong></a>${' '}
        ${failed ? html`is ${step.status.toLowerCase()}${step.error && `: ${step.error.type}: ${step.error.message}`}` : `is ${step.status.toLowerCase()}${step.attempt > 1 ? `, attempt ${step.attempt}` : ''}`}
        ${holds.length > 0 && html`. ${failed ? 'Not run for it' : 'Waiting for it'}: ${namesOf(holds)}`}</li>`)}
        ${found.length > 3 && html`<li>and ${counted(found.length - 3, 'other step')}</li>`}</ul></${Note}>`;
}

const namesOf = (names) => (names.length > 6 ? `${names.slice(0, 6).join(', ')} and ${counted(names.length - 6, 'other')}` : names.join(', '));

function Actions({ run, retry, reload }) {
  if (!may('operate')) return null;
  const failed = run.steps.filter(({ status }) => FAILED.includes(status));
  const cancel = () => confirm({
    title: run.status === 'CANCELLING' ? 'Stop the last steps too?' : 'Cancel this run?',
    text: html`<p>No step starts any more, and those that run are asked to stop. ${run.status === 'CANCELLING' ? '' : 'Then the steps marked finally run.'}</p>`,
    action: 'Cancel the run', danger: true,
    run: async () => {
      await remove(`runs/${run.id}`);
      toast('Cancelling');
      await reload();
    },
  });
  return html`
    ${retry && html`<button class="primary" onClick=${() => retry(failed.length === 1 ? failed[0].name : null)}>${failed.length === 1 ? `Retry from ${failed[0].name}…` : 'Retry what failed…'}</button>`}
    ${!over(run) && html`<button onClick=${cancel}>Cancel…</button>`}`;
}

/** Asks to retry a run from one step, or from all that failed. */
function askRetry(run, name, reload) {
  const failed = run.steps.filter(({ status }) => FAILED.includes(status)).map((step) => step.name);
  const from = name ? [name] : failed;
  const again = [...new Set(from.flatMap((each) => [each, ...after(run.steps, each)]))];
  return confirm({
    title: name ? `Retry from ${name}?` : 'Retry every step that failed?',
    text: html`<p>${counted(again.length, 'step')} will run: <strong>${namesOf(again)}</strong>. What succeeded before is kept.</p>`,
    action: 'Retry',
    run: async () => {
      await post(`runs/${run.id}/retry`, name ? { steps: [name] } : {});
      toast('Retried');
      await reload();
    },
  });
}

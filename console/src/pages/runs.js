/** Runs of workflows, the latest first. */
import { html } from '../vendor/preact.js';
import { counted } from '../format.js';
import { ListTable, useList } from '../parts/list.js';
import { Empty } from '../parts/notes.js';
import { Status, toneOf } from '../parts/status.js';
import { query, setQuery, to, withQuery } from '../router.js';
import { curl } from '../snippets.js';
import { namespace } from '../state.js';
import { now } from '../clock.js';
import { duration, Time } from '../zone.js';

const STATUSES = ['RUNNING', 'CANCELLING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const HELLO = { type: 'python', handler: 'duetime.hello' };
export const STEPS = [{ name: 'first', target: HELLO }, { name: 'second', target: HELLO, needs: ['first'] }];
const TRY = { method: 'POST', path: 'runs', body: JSON.stringify({ steps: STEPS }) };

const COLUMNS = [
  { id: 'status', head: 'Status', class: 'bare', cell: (run) => html`<${Status} status=${run.status} />` },
  { id: 'name', head: 'Run', class: 'main', cell: (run) => html`<a href=${to(`/runs/${run.id}`)}>${runName(run)}</a><span class="sub">${workflowText(run)} · ${run.namespace}</span>` },
  { id: 'steps', head: 'Steps', cell: (run) => html`<${Counts} counts=${run.counts} />` },
  { id: 'created', head: 'Started', cell: (run) => html`<${Time} at=${run.created_at} />` },
  { id: 'took', head: 'Took', class: 'number', cell: (run) => took(run) },
  { id: 'error', head: 'Error', cell: ({ error }) => error && html`<code>${error.step}</code><span class="sub">${error.type}</span>` },
];

export function Runs() {
  const status = query.value.get('status') ?? '';
  const workflow = query.value.get('workflow') ?? '';
  const list = useList('runs', { namespace: namespace.value, status, workflow });
  return html`
    <div class="page-head"><h1>Runs</h1>
      <label class="key-field"><span class="quiet">of the workflow</span><input value=${workflow} placeholder="any" maxlength="64" spellcheck=${false} onChange=${({ currentTarget }) => setQuery({ workflow: currentTarget.value.trim() })} /></label>
      <div class="actions"><a class="button" href=${to('/workflows')}>Workflows</a></div>
    </div>
    <nav class="chips list-chips" aria-label="Status">${['', ...STATUSES].map((each) => html`
      <a key=${each} href=${withQuery({ status: each })} aria-current=${status === each ? 'true' : undefined}>${each.toLowerCase() || 'all'}</a>`)}</nav>
    <${ListTable} list=${list} columns=${COLUMNS} caption="Runs" href=${({ id }) => to(`/runs/${id}`)}
      empty=${status || workflow
        ? html`<${Empty} title="No run matches"><a href=${withQuery({ status: '', workflow: '' })}>Show all</a></${Empty}>`
        : html`<${Empty} title="No workflow has run yet" command=${curl(TRY)} />`} />`;
}

export const runName = (run) => run.name || run.workflow || run.id;

export function workflowText(run) {
  if (run.workflow) return `${run.workflow}@${run.version}`;
  return run.map ? `map of ${run.map.step}` : 'without a workflow';
}

export const took = (run) => duration((run.finished_at ? Date.parse(run.finished_at) : now.value) - Date.parse(run.run_at ?? run.created_at));

/** How many steps have which status, as a bar and in words. */
export function Counts({ counts }) {
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const words = Object.entries(counts).map(([status, each]) => `${each} ${status.toLowerCase().replaceAll('_', ' ')}`).join(', ');
  return html`
    <span class="counts" title=${words}>
      <span class="bar" aria-hidden="true">${Object.entries(counts).map(([status, each]) => html`<span key=${status} class=${`tone-${status === 'UNDER_WAY' ? 'blue' : toneOf(status)}`} style=${{ flexGrow: each }}></span>`)}</span>
      <span class="quiet">${counts.SUCCEEDED ?? 0} of ${counted(all, 'step')}</span><span class="unseen">: ${words}</span>
    </span>`;
}

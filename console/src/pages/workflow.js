/** One workflow: its steps as a graph, and how to start it. */
import { html, useRef } from '../vendor/preact.js';
import { post } from '../api.js';
import { may } from '../live.js';
import { confirm } from '../parts/confirm.js';
import { kindOf, StepGraph } from '../parts/graph.js';
import { Loaded } from '../parts/notes.js';
import { getWithSource, sourceAt } from '../parts/source.js';
import { StepList } from '../parts/step_list.js';
import { toast } from '../parts/toast.js';
import { JsonView } from '../parts/tree.js';
import { navigate, query, to, withQuery } from '../router.js';
import { useRead } from '../state.js';
import { duration, Time } from '../zone.js';

export function Workflow({ name }) {
  const namespace = query.value.get('ns') || 'default';
  const version = query.value.get('version') ?? '';
  const read = useRead(`workflows/${encodeURIComponent(name)}`, { namespace, version }, { load: getWithSource });
  return html`<${Loaded} read=${read}>${(workflow) => html`<${Shown} workflow=${workflow} />`}</${Loaded}>`;
}

function Shown({ workflow }) {
  const view = query.value.get('view') ?? 'graph';
  const chosen = workflow.steps.findIndex(({ name }) => name === query.value.get('step'));
  const props = { steps: workflow.steps, chosen: workflow.steps[chosen]?.name ?? null, label: `Steps of ${workflow.name}` };
  return html`
    <div class="page-head"><h1>${workflow.name}</h1>
      <div class="actions"><a class="button" href=${to('/runs', { workflow: workflow.name, ns: workflow.namespace })}>Runs</a><${Start} workflow=${workflow} /></div>
      <p class="subline"><span>version ${workflow.version}</span><span class="quiet">namespace ${workflow.namespace}</span>
        <span class="quiet">changed <${Time} at=${workflow.updated_at} /></span><span class="quiet">a run may take ${duration(workflow.timeout * 1_000)}</span>
        ${workflow.version > 1 && html`<a href=${withQuery({ version: workflow.version - 1 })}>the version before</a>`}</p>
    </div>
    <div class="stack">
      <div class="panel">
        <div class="head"><h2>Steps</h2><nav class="row" aria-label="View">${['graph', 'list'].map((each) => html`
          <a key=${each} class="button small" href=${withQuery({ view: each })} aria-current=${view === each ? 'true' : undefined}>${each}</a>`)}</nav></div>
        ${view === 'graph' ? html`<${StepGraph} ...${props} />` : html`<${StepList} ...${props} />`}
      </div>
      ${chosen >= 0 && html`<section class="panel" aria-label=${`Step ${props.chosen}`}><div class="head"><h2>${props.chosen}</h2>${kindOf(workflow.steps[chosen])}</div>
        <div class="body"><${JsonView} text=${JSON.stringify(workflow.steps[chosen])} name="step" /></div></section>`}
      <section class="panel"><div class="head"><h2>Definition</h2></div><div class="body"><${JsonView} text=${sourceAt(workflow, 'steps')} name="definition" /></div></section>
    </div>`;
}

function Start({ workflow }) {
  const input = useRef(null);
  if (!may('operate')) return null;
  const ask = () => confirm({
    title: `Start ${workflow.name}`,
    text: html`<label class="field"><span>Input, as JSON</span><textarea ref=${input} rows="6" spellcheck=${false} defaultValue="null"></textarea></label>`,
    action: 'Start',
    run: async () => {
      const text = input.current.value.trim() || 'null';
      JSON.parse(text);
      const named = JSON.stringify({ workflow: `${workflow.name}@${workflow.version}`, namespace: workflow.namespace });
      const run = await post('runs', `${named.slice(0, -1)}, "input": ${text}}`);
      toast('Started');
      navigate(to(`/runs/${run.id}`));
    },
  });
  return html`<button class="primary" onClick=${ask}>Start a run…</button>`;
}

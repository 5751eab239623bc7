/** Workflows: the named graphs of steps. */
import { html } from '../vendor/preact.js';
import { ListTable, useList } from '../parts/list.js';
import { Empty } from '../parts/notes.js';
import { to } from '../router.js';
import { curl } from '../snippets.js';
import { namespace, ofNamespace } from '../state.js';
import { Time } from '../zone.js';
import { STEPS } from './runs.js';

const TRY = { method: 'PUT', path: 'workflows/hello', body: JSON.stringify({ steps: STEPS }) };

const COLUMNS = [
  { id: 'name', head: 'Name', class: 'main', cell: (workflow) => html`<a href=${linkTo(workflow)}>${workflow.name}</a><span class="sub">${workflow.namespace}</span>` },
  { id: 'version', head: 'Version', class: 'number', cell: ({ version }) => version },
  { id: 'updated', head: 'Changed', cell: ({ updated_at: at }) => html`<${Time} at=${at} />` },
  { id: 'runs', head: 'Runs', class: 'bare', cell: ({ name, namespace }) => html`<a href=${to('/runs', { workflow: name, ns: namespace })} aria-label=${`Runs of ${name}`}>its runs</a>` },
];

const linkTo = ({ name, namespace }) => to(`/workflows/${encodeURIComponent(name)}`, { ns: namespace === 'default' ? '' : namespace });

export function Workflows() {
  const list = useList('workflows', { namespace: namespace.value }, (workflow) => `${workflow.namespace}/${workflow.name}`);
  return html`
    <div class="page-head"><h1>Workflows</h1></div>
    <${ListTable} list=${list} columns=${COLUMNS} caption="Workflows" href=${linkTo}
      empty=${html`<${Empty} title=${`No workflows${ofNamespace()}`} command=${curl(TRY)} />`} />`;
}

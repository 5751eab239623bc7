/** Workflows: the named graphs of steps of a namespace. */
import { html } from '../vendor/preact.js';
import { ListTable, useList } from '../parts/list.js';
import { Empty } from '../parts/notes.js';
import { Label } from '../parts/status.js';
import { query, to } from '../router.js';
import { Time } from '../zone.js';

const COLUMNS = [
  { id: 'name', head: 'Name', class: 'main', cell: (workflow) => html`<a href=${linkTo(workflow)}>${workflow.name}</a>` },
  { id: 'version', head: 'Version', class: 'number', cell: ({ version }) => version },
  { id: 'updated', head: 'Changed', cell: ({ updated_at: at }) => html`<${Time} at=${at} />` },
  { id: 'runs', head: 'Runs', class: 'bare', cell: ({ name, namespace }) => html`<a href=${to('/runs', { workflow: name, ns: namespace })} aria-label=${`Runs of ${name}`}>its runs</a>` },
];

const linkTo = ({ name, namespace }) => to(`/workflows/${encodeURIComponent(name)}`, { ns: namespace === 'default' ? '' : namespace });

export function Workflows() {
  const namespace = query.value.get('ns') || 'default';
  const list = useList('workflows', { namespace }, ({ name }) => name);
  return html`
    <div class="page-head"><h1>Workflows</h1><${Label} title="The list has the workflows of one namespace">namespace ${namespace}</${Label}></div>
    <${ListTable} list=${list} columns=${COLUMNS} caption="Workflows" href=${linkTo}
      empty=${html`<${Empty} title=${`No workflows in the namespace ${namespace}`} command="duetime workflows put etl --file etl.json" />`} />`;
}

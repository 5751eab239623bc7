/** Workers: who is alive, which handlers it knows, and what it runs. */
import { html } from '../vendor/preact.js';
import { address } from '../address.js';
import { count, counted } from '../format.js';
import { Empty, Loaded } from '../parts/notes.js';
import { Label } from '../parts/status.js';
import { to } from '../router.js';
import { useRead } from '../state.js';
import { Time } from '../zone.js';

const HEADS = [
  ['Worker', 'its name, and where it runs', ''],
  ['Takes', 'the pool and the lanes that it takes tasks from', ''],
  ['Handlers', 'what it can run', 'main'],
  ['Running', 'attempts that it runs now, of as many as it may', ''],
  ['Since', 'when it was seen first', ''],
  ['Last seen', 'a worker that is not seen for a minute is no longer listed', ''],
];
const SHOWN = 5; // handlers, and attempts

export function Workers() {
  const read = useRead('workers');
  return html`
    <div class="page-head"><h1>Workers</h1><p class="quiet">Processes outside Duetime that were seen within a minute. The executors of Duetime itself are not among them.</p></div>
    <${Loaded} read=${read} rows=${4}>${({ items }) => (items.length ? html`
      <div class="panel"><div class="scroll"><table class="rows">
        <caption class="unseen">Workers</caption>
        <thead><tr>${HEADS.map(([head, title, name]) => html`<th key=${head} scope="col" class=${name} title=${title}>${head}</th>`)}</tr></thead>
        <tbody>${items.map((worker) => html`<${Worker} key=${worker.name} worker=${worker} />`)}</tbody>
      </table></div></div>` : html`<div class="panel"><${NoWorkers} /></div>`)}</${Loaded}>`;
}

function Worker({ worker }) {
  const { name, host, version, pool, lanes, handlers, running, concurrency, draining, since, seen } = worker;
  const where = [host, version && `Duetime ${version}`].filter(Boolean).join(' · ');
  return html`
    <tr>
      <td class="bare"><strong>${name}</strong>${draining && html` <${Label} tone="amber" title="It takes no more tasks, since it is about to end">draining</${Label}>`}
        ${where && html`<span class="sub">${where}</span>`}</td>
      <td data-label="Takes">${pool === null ? 'no pool' : html`<${Label} title="Pool">${pool}</${Label}>`}<span class="sub">${lanes.join(', ')}</span></td>
      <td class="main" data-label="Handlers" title=${handlers.join('\n')}>${handlers.slice(0, SHOWN).join(', ')}${handlers.length > SHOWN && html` <span class="quiet">and ${count(handlers.length - SHOWN)} more</span>`}</td>
      <td data-label="Running">${count(running.length)}${concurrency !== null && html`<span class="quiet"> of ${count(concurrency)}</span>`}
        ${running.slice(0, SHOWN).map(({ task_id: id, since: at }) => html`<span class="sub" key=${id}><a class="mono" href=${to(`/tasks/${id}`)}>…${id.slice(-8)}</a> <${Time} at=${at} as="relative" /></span>`)}
        ${running.length > SHOWN && html`<span class="sub">and ${counted(running.length - SHOWN, 'other')}</span>`}</td>
      <td data-label="Since"><${Time} at=${since} /></td>
      <td data-label="Last seen"><${Time} at=${seen} as="relative" /></td>
    </tr>`;
}

function NoWorkers() {
  return html`<${Empty} title="No workers" command=${`duetime worker --url ${address.value} --handlers handlers`}>
    <p>Tasks run in Duetime itself. A worker runs them on another machine, or in processes of its own. Start one:</p></${Empty}>`;
}

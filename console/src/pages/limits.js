/** Limits: what they allow, what is in use, and what waits for them. */
import { html } from '../vendor/preact.js';
import { put, remove } from '../api.js';
import { count } from '../format.js';
import { may, useLiveReads } from '../live.js';
import { confirm } from '../parts/confirm.js';
import { ListTable, useList } from '../parts/list.js';
import { Empty } from '../parts/notes.js';
import { Meter } from '../parts/spark.js';
import { Label } from '../parts/status.js';
import { toast } from '../parts/toast.js';
import { query, setQuery, to } from '../router.js';
import { namespace } from '../state.js';
import { now } from '../clock.js';
import { relative, Time } from '../zone.js';

const SETTLE = 2_000; // ms: any task of the namespace may hold a limit
const keyOf = (limit) => `${limit.namespace}/${limit.name}`;

const COLUMNS = [
  { id: 'name', head: 'Name', class: 'main', cell: (limit) => html`<strong>${limit.name}</strong>${limit.draining && html` <${Label} tone="amber" title="no new task may name it; it goes when none is under it">draining</${Label}>`}<span class="sub">${limit.namespace}</span>` },
  { id: 'rate', head: 'Rate', cell: ({ rate }) => (rate ? `${count(rate.count)} per ${period(rate.period)}` : html`<span class="quiet">any</span>`) },
  { id: 'burst', head: 'Burst', class: 'number', cell: ({ rate }) => (rate ? count(rate.burst) : '') },
  { id: 'use', head: 'In use', class: 'number', cell: (limit) => html`<${Use} limit=${limit} />` },
  { id: 'waiting', head: 'Waiting', class: 'number', cell: ({ waiting, namespace: ns }) => (waiting ? html`<a href=${to('/tasks', { ns, status: 'PENDING,ENQUEUED,RETRYING' })} title="tasks to start">${count(waiting)}</a>` : waiting === null ? '' : count(waiting)) },
  { id: 'next', head: 'Next slot', cell: ({ next_slot: at }) => at && html`<${Next} at=${at} />` },
];

export function Limits() {
  const key = query.value.get('key') ?? '';
  const list = useList('limits', { namespace: namespace.value, key, limit: 100 }, keyOf);
  useLiveReads({ topic: 'tasks', filter: namespace.value === '*' ? {} : { namespace: namespace.value } }, list.read.reload, SETTLE);
  const editable = may('operate');
  const actions = { id: 'actions', head: html`<span class="unseen">Actions</span>`, label: '', class: 'end bare', cell: (limit) => html`<${Actions} limit=${limit} reload=${list.read.reload} />` };
  const create = () => edit(null, list.read.reload);
  return html`
    <div class="page-head"><h1>Limits</h1>
      <label class="key-field"><span class="quiet">of the key</span><input value=${key} placeholder="none" maxlength="128" spellcheck=${false} onChange=${({ currentTarget }) => setQuery({ key: currentTarget.value.trim() })} /></label>
      ${editable && html`<div class="actions"><button class="primary" onClick=${create}>New limit</button></div>`}
    </div>
    <${ListTable} list=${list} caption="Limits" columns=${editable ? [...COLUMNS, actions] : COLUMNS}
      empty=${html`<${Empty} title="No limits" command="duetime limits set stripe --rate 5/s --concurrency 3">A limit says how often tasks may start, how many may run at the same time, or both.</${Empty}>`} />`;
}

function period(seconds) {
  const [size, unit] = [[86_400, 'day'], [3_600, 'hour'], [60, 'minute'], [1, 'second']].find(([each]) => seconds % each === 0) ?? [1, 'second'];
  const number = seconds / size;
  return number === 1 ? unit : `${number} ${unit}s`;
}

function Use({ limit: { concurrency, holding } }) {
  if (concurrency === null) return '';
  return html`<span class="use">${count(holding)}/${count(concurrency)}<${Meter} share=${(holding ?? 0) / concurrency} tone=${holding >= concurrency ? 'amber' : 'blue'} title=${`${holding} of ${concurrency} in use`} /></span>`;
}

/** A slot that lies in the past is free now. */
function Next({ at }) {
  if (Date.parse(at) <= now.value) return html`<span class="quiet">now</span>`;
  return html`<${Time} at=${at} as="ms" /> <span class="quiet">${relative(at, now.value)}</span>`;
}

function Actions({ limit, reload }) {
  return html`<button class="small" onClick=${() => edit(limit, reload)} aria-label=${`Change ${limit.name}`}>Change</button> <button class="small" onClick=${() => erase(limit, reload)} aria-label=${`Delete ${limit.name}`}>Delete</button>`;
}

function edit(limit, reload) {
  return confirm({
    title: limit ? `Change ${limit.name}` : 'New limit',
    text: html`<${LimitForm} limit=${limit} />`,
    action: limit ? 'Save' : 'Create',
    run: async () => {
      const field = (name) => document.getElementById(`limit-${name}`).value.trim();
      const rate = field('count') ? { count: Number(field('count')), period: Number(field('period')), burst: Number(field('burst') || 0) } : null;
      const body = { ...(rate && { rate }), ...(field('concurrency') && { concurrency: Number(field('concurrency')) }) };
      await put(`limits/${encodeURIComponent(limit?.name ?? field('name'))}`, body, { query: { namespace: limit?.namespace ?? (field('namespace') || 'default') } });
      toast(limit ? 'Saved' : 'Created');
      await reload();
    },
  });
}

function LimitForm({ limit }) {
  const field = (name, label, value, more = {}) => html`
    <label class="field"><span>${label}</span><input id=${`limit-${name}`} defaultValue=${value ?? ''} ...${more} /></label>`;
  const number = { type: 'number', min: 0 };
  return html`
    <div class="fields">
      ${!limit && field('name', 'Name', '', { maxlength: 64, spellcheck: false, placeholder: 'stripe' })}
      ${!limit && field('namespace', 'Namespace', 'default', { maxlength: 128, spellcheck: false })}
      ${field('count', 'Starts', limit?.rate?.count, { ...number, placeholder: 'any number' })}
      ${field('period', 'in each (seconds)', limit?.rate?.period ?? 1, { ...number, step: 'any' })}
      ${field('burst', 'and more after a pause', limit?.rate?.burst ?? 0, number)}
      ${field('concurrency', 'At the same time', limit?.concurrency, { ...number, placeholder: 'any number' })}
    </div>
    <p class="quiet">${limit ? 'What runs goes on, and a time that was granted stays granted.' : 'How many tasks may start in each period, how many may run at the same time, or both. A task names the limit in its field limits.'}</p>`;
}

function erase(limit, reload) {
  return confirm({
    title: `Delete ${limit.name}?`,
    text: html`<${EraseForm} />`,
    action: 'Delete', danger: true,
    run: async () => {
      const drain = document.getElementById('limit-drain').checked;
      await remove(`limits/${encodeURIComponent(limit.name)}`, { query: { namespace: limit.namespace, drain: drain ? 'true' : '' } });
      toast(drain ? 'Deleted, or it goes with the last task under it' : 'Deleted');
      await reload();
    },
  });
}

const EraseForm = () => html`
  <p>A limit that is in use is not deleted. Drained, it takes no new tasks, and goes when no task is under it any more.</p>
  <label class="row"><input type="checkbox" id="limit-drain" /> drain it, if it is in use</label>`;

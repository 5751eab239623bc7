/** Dead letters by cause: error type, target, and the message without numbers, ids and quoted text. */
import { html, useState } from '../vendor/preact.js';
import { get } from '../api.js';
import { count, counted, targetText, taskName } from '../format.js';
import { may, useLiveReads } from '../live.js';
import { BulkDialog } from '../parts/bulk_dialog.js';
import { Empty, Loaded, Note, ProblemNote } from '../parts/notes.js';
import { query, to, withQuery } from '../router.js';
import { namespace, useDeadGroups, useRead } from '../state.js';
import { Time } from '../zone.js';
import { causeBody, causeText } from '../parts/cause.js';

const SHOWN = 100;
const SETTLE = 2_000; // ms: many tasks die at once

export function Dead() {
  const some = namespace.value === '*' ? undefined : namespace.value;
  const groups = useDeadGroups({ namespace: some });
  const [bulk, setBulk] = useState(null);
  useLiveReads({ topic: 'tasks', filter: { status: ['DEAD'] } }, groups.reload, SETTLE, { atOnce: true });
  const chosen = query.value.get('group');
  const close = (changed) => {
    setBulk(null);
    if (changed) groups.reload();
  };
  if (groups.problem?.status === 404) return html`<div class="page-head"><h1>Dead letters</h1></div><${Note}>This server does not group dead letters. <a href=${to('/tasks', { status: 'DEAD' })}>List the dead tasks</a>.</${Note}>`;
  const dead = groups.data?.items.reduce((sum, group) => sum + group.count, 0);
  return html`
    <div class="page-head"><h1>Dead letters</h1>${dead > 0 && html`<span class="quiet">${counted(dead, 'task')}, ${counted(groups.data.items.length, 'cause')}</span>`}
      ${may('operate') && dead > 0 && html`<div class="actions">
        <button onClick=${() => setBulk({ action: 'redrive', body: some ? { namespace: some } : { all: true }, what: html`<p>Every dead task${some && html` of the namespace ${some}`}. Is each cause fixed?</p>` })}>Retry all …</button>
        <button onClick=${() => setBulk({ action: 'discard', body: some ? { namespace: some } : { all: true }, what: html`<p>Gives up every dead task${some && html` of the namespace ${some}`}. Each becomes cancelled and cannot be retried.</p>` })}>Discard all …</button></div>`}
    </div>
    <${Loaded} read=${groups} rows=${6}>${({ items, complete, looked_at: read }) => (items.length ? html`
      ${complete === false && html`<${Note} tone="amber" icon="alert">Only the latest ${count(read)} dead tasks were read.</${Note}>`}
      <ul class="causes">${items.map((group) => html`<${Cause} key=${group.fingerprint} group=${group} open=${group.fingerprint === chosen} onAct=${setBulk} />`)}</ul>`
      : html`<div class="panel"><${Empty} title="No dead tasks">A task that is out of attempts, or failed for good, is listed here.</${Empty}></div>`)}</${Loaded}>
    ${bulk && html`<${BulkDialog} ...${bulk} onClose=${close} />`}`;
}

function Cause({ group, open, onAct }) {
  return html`
    <li class="panel cause">
      <div class="cause-head">
        <a class="cause-count" href=${withQuery({ group: open ? '' : group.fingerprint })} aria-expanded=${open} aria-label=${`${counted(group.count, 'task')} of ${group.error_type}`}>${count(group.count)}</a>
        <div class="cause-text"><p><strong>${group.error_type}</strong> <span class="target">${group.target}</span></p><p class="quiet message">${group.message}</p></div>
        <div class="cause-times quiet"><span>first <${Time} at=${group.first} /></span><span>last <${Time} at=${group.last} /></span></div>
        <div class="row">
          ${may('operate') && html`<button class="small primary" onClick=${() => onAct({ action: 'redrive', body: causeBody(group), what: causeText(group) })}>Retry ${count(group.count)} …</button>`}
          <a class="button small" href=${to(`/tasks/${group.sample_id}`)}>Open one</a>
        </div>
      </div>
      ${open && html`<${CauseTasks} group=${group} />`}
    </li>`;
}

/** The latest tasks of a cause. */
function CauseTasks({ group }) {
  const read = useRead('dead-letters', { fingerprint: group.fingerprint, namespace: causeBody(group).namespace, limit: SHOWN });
  return html`<${Loaded} read=${read}>${({ items }) => html`<ul class="cause-tasks">${items.map((task) => html`
    <li key=${task.id}><a href=${to(`/tasks/${task.id}`)}>${taskName(task)}</a><span class="quiet"><${Time} at=${task.finished_at} /></span><span class="quiet">${task.error?.message}</span></li>`)}</ul>`}</${Loaded}>`;
}

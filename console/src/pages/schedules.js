/** Schedules: what fires next, and what does not. */
import { html } from '../vendor/preact.js';
import { count } from '../format.js';
import { may } from '../live.js';
import { ListTable, useList } from '../parts/list.js';
import { Empty } from '../parts/notes.js';
import { Label, Status } from '../parts/status.js';
import { query, to, withQuery } from '../router.js';
import { namespace, ofNamespace } from '../state.js';
import { now } from '../clock.js';
import { relative, Time } from '../zone.js';

const STATUSES = ['active', 'paused', 'broken', 'finished'];
const TRY = "duetime schedules create --cron '0 9 * * 1-5' --tz Europe/Berlin --handler duetime.hello --name daily";

const COLUMNS = [
  { id: 'status', head: 'Status', class: 'bare', cell: (row) => html`<${Status} status=${row.status} />` },
  { id: 'name', head: 'Name', class: 'main', cell: (row) => html`<${Name} schedule=${row} />` },
  { id: 'next', head: 'Next', cell: (row) => html`<${Next} schedule=${row} />` },
  { id: 'last', head: 'Last', cell: (row) => html`<${Time} at=${row.last_fired_at} none="not yet" />` },
  { id: 'runs', head: 'Runs', class: 'number', cell: (row) => count(row.runs) },
  { id: 'origin', head: 'Origin', cell: (row) => html`<${Origin} schedule=${row} />` },
];

export function Schedules() {
  const status = query.value.get('status') ?? '';
  const list = useList('schedules', { namespace: namespace.value, status });
  return html`
    <div class="page-head"><h1>Schedules</h1>
      <div class="actions">
        <a class="button" href=${to('/cron')}>Cron builder</a>
        ${may('operate') && html`<a class="button primary" href=${to('/schedules/new')}>New schedule</a>`}
      </div>
    </div>
    <nav class="chips list-chips" aria-label="Status">
      ${['', ...STATUSES].map((each) => html`<a key=${each} href=${withQuery({ status: each })} aria-current=${status === each ? 'true' : undefined}>${each || 'all'}</a>`)}
    </nav>
    <${ListTable} list=${list} columns=${COLUMNS} caption="Schedules" href=${({ id }) => to(`/schedules/${id}`)}
      empty=${html`<${None} status=${status} />`} />`;
}

function None({ status }) {
  if (status) return html`<${Empty} title=${`No schedule${ofNamespace()} is ${status}`}><a href=${withQuery({ status: '' })}>Show all</a></${Empty}>`;
  return html`<${Empty} title=${`No schedules${ofNamespace()}`} command=${TRY}>
    ${may('operate') && html`<a href=${to('/schedules/new')}>Build one</a>, or type:`}</${Empty}>`;
}

/** What to call a schedule. */
export const scheduleName = ({ name, id }) => name || id;

function Name({ schedule }) {
  return html`<a href=${to(`/schedules/${schedule.id}`)}>${scheduleName(schedule)}</a><span class="sub">${schedule.description ?? 'its rule cannot be read'} · ${schedule.task.namespace}</span>`;
}

function Next({ schedule }) {
  if (schedule.next_fire_at) return html`<${Time} at=${schedule.next_fire_at} /><span class="sub">${relative(schedule.next_fire_at, now.value)}</span>`;
  const why = schedule.last_error ?? schedule.note;
  return html`<span class="quiet">${schedule.paused_at ? html`paused<${PausedBy} schedule=${schedule} />` : '–'}</span>${why && html`<span class="sub">${why}</span>`}`;
}

/** Who paused a schedule, and since when; of an ARN the last part. */
export function PausedBy({ schedule: { paused_at: at, paused_by: by } }) {
  return at ? html`${by && html` by <span title=${by}>${by.split('/').at(-1) || by}</span>`} since <${Time} at=${at} />` : null;
}

/** Where a schedule comes from: code, with its file and line, or a call. */
export function Origin({ schedule }) {
  if (schedule.origin !== 'code') return html`<span class="quiet">API</span>`;
  return html`<${Label} tone="violet" title=${`declared by ${schedule.app}`}>code</${Label}> <code class="source">${schedule.source}</code>`;
}

/** The ledger of a schedule: what became of every fire time, and when the next ones are. */
import { html } from '../vendor/preact.js';
import { serverNow } from '../clock.js';
import { counted } from '../format.js';
import { countsOf, countsText, STATES, stateOf, stripOf } from '../models/ledger.js';
import { to } from '../router.js';
import { useRead } from '../state.js';
import { duration, timeZone } from '../zone.js';
import { dayOf, FireTime } from './fire_times.js';
import { Icon } from './icon.js';
import { ListTable, useList } from './list.js';
import { Empty } from './notes.js';
import { AsTable } from './spark.js';
import { Status } from './status.js';
import { Upcoming } from './upcoming.js';

const PAGE = 100;

/** A state of a fire time as icon and word. */
export const Mark = ({ state }) => html`<span class=${`mark tone-${STATES[state].tone}`}><${Icon} name=${STATES[state].icon} />${STATES[state].word}</span>`;

const COLUMNS = [
  { id: 'fire_time', head: 'Fire time', class: 'main', cell: (row) => html`<${FireTime} at=${row.fire_time} />${row.backfill && html` <span class="quiet">backfill</span>`}` },
  { id: 'outcome', head: 'Outcome', class: 'bare', cell: (row) => html`<${Mark} state=${stateOf(row)} />` },
  { id: 'late', head: 'Late by', class: 'number', cell: (row) => (row.late_ms === null || row.late_ms === undefined ? '' : duration(row.late_ms)) },
  { id: 'task', head: 'Run', cell: (row) => row.task_id && html`<a href=${to(`/tasks/${row.task_id}`)} aria-label=${`Run ${row.task_id}`}>${row.task_status ? html`<${Status} status=${row.task_status} />` : 'open'}</a>` },
  { id: 'why', head: 'Why', cell: (row) => whyOf(row) },
];

const REASONS = {
  skipped_overlap: 'the previous run was still running', skipped_misfire: 'it could not start in time', paused: 'the schedule was paused',
};

const whyOf = ({ outcome, error, reason }) => error ?? REASONS[outcome] ?? reason ?? '';

export function Ledger({ schedule }) {
  const list = useList(`schedules/${schedule.id}/ledger`, { limit: PAGE }, ({ fire_time: at, task_id: task }) => `${at} ${task ?? ''}`);
  const { keys, list: shown } = list.rows;
  const rows = keys.value.length ? shown() : [];
  return html`
    <div class="split">
      <div class="stack">
        ${rows.length > 0 && html`<${Summary} rows=${rows} whole=${!list.more} />`}
        <${ListTable} list=${list} columns=${COLUMNS} caption="What became of each fire time"
          empty=${html`<${Empty} title="No fire time has passed yet">${schedule.status === 'active' && 'The coming ones are under Next.'}</${Empty}>`} />
      </div>
      <${Upcoming} schedule=${schedule} />
    </div>`;
}

/** The last 30 days as a strip, the worst outcome of each day. */
function Summary({ rows, whole }) {
  const strip = stripOf(rows, dayOf(serverNow()), (at) => dayOf(at, timeZone.value));
  const counts = countsText(countsOf(rows));
  const title = `The last 30 days: ${counts}`;
  return html`
    <figure class="ledger-strip">
      <figcaption><strong>${counts}</strong> <span class="quiet">${whole ? 'in 90 days' : `in the last ${counted(rows.length, 'fire time')}`}; below, the last 30 days</span></figcaption>
      <svg viewBox="0 0 300 22" preserveAspectRatio="none" role="img" aria-label=${title}><title>${title}</title>
        ${strip.map(({ day, state, counts: ofDay }, place) => html`
          <g key=${day} class=${state ? `tone-${STATES[state].tone}` : 'none'}><title>${`${day}: ${countsText(ofDay) || 'none'}`}</title>
            <rect x=${place * 10 + 1} width="8" y=${state && state !== 'fired' ? 0 : 5} height=${state && state !== 'fired' ? 22 : 17} rx="1.5" /></g>`)}
      </svg>
      <${AsTable} head=${['day', 'fire times']} rows=${strip.filter(({ state }) => state).map(({ day, counts: ofDay }) => [day, countsText(ofDay)])} />
    </figure>`;
}

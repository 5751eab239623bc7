/** The tasks of a schedule, the latest first. */
import { html } from '../vendor/preact.js';
import { attempts } from '../format.js';
import { to } from '../router.js';
import { duration, Time } from '../zone.js';
import { FireTime } from './fire_times.js';
import { ListTable, useList } from './list.js';
import { Empty } from './notes.js';
import { Status } from './status.js';

const COLUMNS = [
  { id: 'status', head: 'Status', class: 'bare', cell: (task) => html`<${Status} status=${task.status} />` },
  { id: 'for', head: 'Scheduled for', class: 'main', cell: (task) => html`<a href=${to(`/tasks/${task.id}`)}>${task.scheduled_for ? html`<${FireTime} at=${task.scheduled_for} />` : 'run by hand'}</a>` },
  { id: 'started', head: 'Started', cell: (task) => html`<${Time} at=${task.started_at} />` },
  { id: 'drift', head: 'Drift', class: 'number', cell: (task) => duration(task.drift_ms) },
  { id: 'took', head: 'Took', class: 'number', cell: (task) => (task.started_at && task.finished_at ? duration(Date.parse(task.finished_at) - Date.parse(task.started_at)) : '–') },
  { id: 'attempt', head: 'Attempt', class: 'number', cell: (task) => attempts(task.attempt, task.max_attempts) },
  { id: 'error', head: 'Error', cell: (task) => task.error?.type ?? task.reason ?? '' },
];

export function History({ schedule }) {
  const list = useList('tasks', { schedule_id: schedule.id, namespace: schedule.task.namespace, fields: 'summary' });
  return html`<${ListTable} list=${list} columns=${COLUMNS} caption="Runs of this schedule" href=${({ id }) => to(`/tasks/${id}`)}
    empty=${html`<${Empty} title="It has not run yet" />`} />`;
}

/** One schedule: why did it run, or not, and when does it run next? */
import { html } from '../vendor/preact.js';
import { may } from '../live.js';
import { CopyButton } from '../parts/copy.js';
import { Calendar } from '../parts/calendar.js';
import { Definition } from '../parts/definition.js';
import { Ledger } from '../parts/ledger.js';
import { Loaded, Note } from '../parts/notes.js';
import { ScheduleActions } from '../parts/schedule_actions.js';
import { History } from '../parts/schedule_history.js';
import { getWithSource } from '../parts/source.js';
import { Status } from '../parts/status.js';
import { query, withQuery } from '../router.js';
import { useRead } from '../state.js';
import { Origin, PausedBy, scheduleName } from './schedules.js';

const VIEWS = { ledger: Ledger, calendar: Calendar, history: History, definition: Definition };

export function Schedule({ id }) {
  const read = useRead(`schedules/${id}`, {}, { load: getWithSource });
  return html`<${Loaded} read=${read}>${(schedule) => html`<${Shown} schedule=${schedule} reload=${read.reload} />`}</${Loaded}>`;
}

function Shown({ schedule, reload }) {
  const view = Object.hasOwn(VIEWS, query.value.get('view') ?? '') ? query.value.get('view') : 'ledger';
  return html`
    <div class="page-head">
      <${Status} status=${schedule.status} /><h1>${scheduleName(schedule)}</h1>
      ${may('operate') && html`<div class="actions"><${ScheduleActions} schedule=${schedule} onChange=${reload} /></div>`}
      <p class="subline"><span>${schedule.description ?? 'Its rule cannot be read'}</span>
        <span class="quiet">namespace ${schedule.task.namespace}</span>
        <${Origin} schedule=${schedule} />
        <span class="quiet"><code>${schedule.id}</code><${CopyButton} text=${schedule.id} name="id" /></span></p>
    </div>
    ${schedule.status === 'paused' && html`<${Note} tone="amber" icon="pause">Paused<${PausedBy} schedule=${schedule} />${schedule.note ? `: ${schedule.note}` : ', without a note'}</${Note}>`}
    ${schedule.last_error && html`<${Note} tone="red" icon="alert">${schedule.last_error}</${Note}>`}
    <nav class="tabs" aria-label="Views">${Object.keys(VIEWS).map((each) => html`
      <a key=${each} href=${withQuery({ view: each === 'ledger' ? '' : each, month: '' })} aria-current=${view === each ? 'page' : undefined}>${words(each)}</a>`)}</nav>
    <${VIEWS[view]} key=${view} schedule=${schedule} />`;
}

const words = (view) => view[0].toUpperCase() + view.slice(1);

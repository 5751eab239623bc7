/** What comes due in each of the next minutes, as a map of heat: hours by minutes. */
import { html } from '../vendor/preact.js';
import { count, counted } from '../format.js';
import { heatOf, LEVELS, levelOf } from '../models/heat.js';
import { dayOf, FireTime, offsetAt } from '../parts/fire_times.js';
import { Empty, Loaded, Note } from '../parts/notes.js';
import { query, withQuery } from '../router.js';
import { namespace, useRead } from '../state.js';
import { clockTime, dateText, timeZone } from '../zone.js';

const HOURS = ['1', '2', '6', '12', '24'];
const LANES = ['', 'high', 'medium', 'low'];
const WIDTH = 600; // of a row: ten for each minute

export function Forecast() {
  const hours = HOURS.includes(query.value.get('hours')) ? query.value.get('hours') : '6';
  const lane = LANES.includes(query.value.get('lane') ?? '') ? query.value.get('lane') ?? '' : '';
  const read = useRead('forecast', { hours, by: 'lane', namespace: namespace.value });
  return html`
    <div class="page-head"><h1>Forecast</h1>
      <nav class="chips" aria-label="How far">${HOURS.map((each) => html`<a key=${each} href=${withQuery({ hours: each === '6' ? '' : each })} aria-current=${each === hours ? 'true' : undefined}>${each} h</a>`)}</nav>
      <nav class="chips" aria-label="Lane">${LANES.map((each) => html`<a key=${each} href=${withQuery({ lane: each })} aria-current=${each === lane ? 'true' : undefined}>${each || 'all lanes'}</a>`)}</nav>
    </div>
    <${Loaded} read=${read}>${(forecast) => html`<${Map} forecast=${forecast} lane=${lane} />`}</${Loaded}>`;
}

function Map({ forecast, lane }) {
  const { rows, most } = heatOf(forecast, (at) => offsetAt(at), lane || null);
  const { total, peak, complete } = forecast;
  const all = lane ? total.lanes[lane] : total.count;
  if (!all) {
    return html`<div class="panel"><${Empty} title=${`Nothing${lane ? ` of the lane ${lane}` : ''} is due until then`} command="duetime submit --handler duetime.hello --in 5m" /></div>`;
  }
  return html`
    <div class="stack">
      <p class="figures">
        <span><strong>${count(all)}</strong> due</span>
        ${!lane && html`<span class="quiet">${counted(total.tasks, 'stored task')}, ${counted(total.occurrences, 'coming run')} of schedules</span>`}
        ${!lane && peak && html`<span>peak <strong>${count(peak.count)}</strong> at <${FireTime} at=${peak.minute} /></span>`}
      </p>
      ${!complete && html`<${Note} tone="amber" icon="alert">There is more than can be counted. The counts are complete from <${FireTime} at=${forecast.looked_from} /> to <${FireTime} at=${forecast.looked_until} />.</${Note}>`}
      <div class="panel"><div class="body scroll">
        <table class="heat">
          <caption class="unseen">Tasks due in each minute of each hour, in ${timeZone.value}</caption>
          <thead><tr><th scope="col">Hour</th><th scope="col" class="minutes"><span class="unseen">Minutes</span><${Axis} /></th><th scope="col" class="number">Due</th><th scope="col" class="number">Peak</th></tr></thead>
          <tbody>${rows.map((row, place) => html`<${Hour} key=${row.start} row=${row} most=${most} before=${rows[place - 1]} />`)}</tbody>
        </table>
      </div></div>
      <p class="legend"><span class="quiet">tasks in a minute</span>
        <svg class="heat-key" viewBox="0 0 ${(LEVELS + 1) * 20} 12" role="img" aria-label=${`from none to ${most}`}><title>${`from none to ${most}`}</title>
          ${Array.from({ length: LEVELS + 1 }, (_, level) => html`<rect key=${level} class=${`heat-${level}`} x=${level * 20} width="18" height="12" rx="2" />`)}</svg>
        <span class="quiet">0 to ${count(most)}</span></p>
    </div>`;
}

const Axis = () => html`<svg class="axis" viewBox="0 0 ${WIDTH} 12" preserveAspectRatio="none" aria-hidden="true">${[0, 15, 30, 45].map((minute) => html`
  <line key=${minute} x1=${minute * 10 + 0.5} x2=${minute * 10 + 0.5} y1="4" y2="12" />`)}</svg><span class="ticks" aria-hidden="true">${[0, 15, 30, 45].map((minute) => html`<span key=${minute}>:${String(minute).padStart(2, '0')}</span>`)}</span>`;

function Hour({ row, most, before }) {
  const day = dayOf(row.start);
  const words = row.peak ? `${counted(row.total, 'task')}, most at ${minuteOf(row.peak)}: ${count(row.peak.count)}` : 'none';
  return html`
    <tr>
      <th scope="row"><${FireTime} at=${row.start} day=${false} />${(!before || dayOf(before.start) !== day) && html`<span class="sub">${shortDay(row.start)}</span>`}</th>
      <td class="minutes"><svg viewBox="0 0 ${WIDTH} 22" preserveAspectRatio="none" role="img" aria-label=${words}><title>${words}</title>
        ${row.cells.map((cell, minute) => cell && html`<rect key=${minute} class=${`heat-${levelOf(cell.count, most)}`} x=${minute * 10 + 0.5} width="9" height="22" rx="1.5">${cell.count > 0 && html`<title>${`${minuteOf(cell)}: ${counted(cell.count, 'task')}`}</title>`}</rect>`)}
      </svg></td>
      <td class="number">${row.total ? count(row.total) : html`<span class="quiet">0</span>`}</td>
      <td class="number">${row.peak ? html`${count(row.peak.count)} <span class="quiet">at ${minuteOf(row.peak)}</span>` : ''}</td>
    </tr>`;
}

const shortDay = (at) => dateText(at).slice(0, 6);
const minuteOf = ({ at }) => clockTime(at).slice(0, 5);

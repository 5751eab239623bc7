/** Lanes: how much waits in each, how old it is, and who gets which share. */
import { html } from '../vendor/preact.js';
import { count, counted } from '../format.js';
import { Loaded } from '../parts/notes.js';
import { AsTable, Meter, Spark } from '../parts/spark.js';
import { Label } from '../parts/status.js';
import { to } from '../router.js';
import { useLanes, useRead } from '../state.js';
import { clockTime, duration } from '../zone.js';

const OLD = 60; // seconds: what waits longer is late

const HEADS = [
  ['Lane', 'its share of the starts while every lane has work', ''],
  ['Waiting', 'tasks that are due and wait for an executor', 'number'],
  ['Running', 'attempts that run now', 'number'],
  ['Oldest', 'how long the oldest due task has waited', 'number'],
  ['In/min', 'messages of the last minute, also of retries and promotions', 'number'],
  ['Out/min', 'attempts that started in the last minute', 'number'],
  ['Promoted', 'tasks that moved to the next higher lane since the start', 'number'],
  ['Held', 'tasks that wait for a limit or their ordering key', 'number'],
  ['Due soon', 'tasks that are due within minutes', 'number'],
];

export function Lanes() {
  const read = useLanes();
  const stats = useRead('stats', { window: '1h' });
  return html`
    <div class="page-head"><h1>Lanes</h1><p class="quiet">The most urgent first. While all of them have work, each starts its share.</p>
      <div class="actions"><a class="button small" href=${to('/workers')}>Workers</a></div></div>
    <${Loaded} read=${read}>${({ items }) => html`
      <div class="stack">
        <div class="panel"><div class="scroll"><table class="rows lanes">
          <caption class="unseen">Lanes</caption>
          <thead><tr>${HEADS.map(([head, title, name]) => html`<th key=${head} scope="col" class=${name} title=${title}>${head}</th>`)}</tr></thead>
          <tbody>${items.map((lane) => html`<${Lane} key=${lane.lane} lane=${lane} />`)}</tbody>
        </table></div></div>
        ${items.every(({ running }) => running === null) && html`<p class="quiet">Here only SQS is asked, whose numbers are approximate. CloudWatch has the others.</p>`}
        ${stats.data?.source === 'table' && html`<${Minutes} stats=${stats.data} lanes=${items.map(({ lane }) => lane)} />`}
      </div>`}</${Loaded}>`;
}

function Lane({ lane }) {
  const { oldest_seconds: oldest, weight } = lane;
  const cell = (label, value) => html`<td class="number" data-label=${label}>${value}</td>`;
  return html`
    <tr>
      <td class="main"><strong>${lane.lane}</strong>
        ${weight !== null && html`<span class="weight"><${Meter} share=${weight / 100} title=${`${weight} % of the starts`} /><span class="quiet">${weight} %</span></span>`}</td>
      ${cell('Waiting', count(lane.depth))}
      ${cell('Running', count(lane.running))}
      ${cell('Oldest', oldest === null ? '–' : html`${duration(oldest * 1_000)}${oldest > OLD && html` <${Label} tone="amber">aging</${Label}>`}`)}
      ${cell('In/min', count(lane.in_per_minute))}
      ${cell('Out/min', count(lane.out_per_minute))}
      ${cell('Promoted', count(lane.promoted))}
      ${cell('Held', count(lane.waiting))}
      ${cell('Due soon', count(lane.delayed))}
    </tr>`;
}

/** The starts of the last hour, minute by minute, where figures are kept. */
function Minutes({ stats, lanes }) {
  return html`<div class="grid">${lanes.map((lane) => {
    const points = stats.series.filter((point) => point.lane === lane);
    const { minutes, values } = everyMinute(stats, points);
    const sum = values.reduce((all, value) => all + value, 0);
    const title = `${counted(sum, 'attempt')} in the last hour`;
    return html`<div key=${lane} class="panel"><div class="head"><h2>${lane}</h2><span class="quiet">${title}</span></div>
      <div class="body"><${Spark} values=${values} title=${`${lane}: ${title}, minute by minute`} unfinished />
        <${AsTable} head=${['minute', 'attempts']} rows=${minutes.map((at, place) => [clockTime(at).slice(0, 5), values[place]]).filter(([, value]) => value)} /></div></div>`;
  })}</div>`;
}

/** A value for each step of the window: minutes in which nothing happened have no row. */
function everyMinute({ from, to, step }, points) {
  const known = new Map(points.map((point) => [Date.parse(point.at), point.attempts ?? 0]));
  const minutes = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += step * 1_000) minutes.push(at);
  return { minutes, values: minutes.map((at) => total(known.get(at))) };
}

const total = (attempts) => (typeof attempts === 'object' && attempts ? Object.values(attempts).reduce((all, each) => all + each, 0) : attempts ?? 0);

/** Overview: is it on time? What is stuck, what fails, what comes next? In words first, then in figures. */
import { html, useState } from '../vendor/preact.js';
import { now } from '../clock.js';
import { count, counted, percent } from '../format.js';
import { may } from '../live.js';
import { BulkDialog } from '../parts/bulk_dialog.js';
import { causeBody, causeHref, causeText } from '../parts/cause.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loaded, Note } from '../parts/notes.js';
import { AsTable, Spark } from '../parts/spark.js';
import { Label, Status } from '../parts/status.js';
import { query, to, withQuery } from '../router.js';
import { namespace, useDeadGroups, useLanes, useRead } from '../state.js';
import { clockTime, duration, millis, Time } from '../zone.js';

const WINDOWS = { '1h': 60, '6h': 300, '24h': 1_200 }; // → seconds of a step
const HOURS = { '1h': 'hour', '6h': '6 hours', '24h': '24 hours' };
const NEXT = 5;

export function Overview() {
  const window = WINDOWS[query.value.get('window')] ? query.value.get('window') : '1h';
  const some = namespace.value === '*' ? undefined : namespace.value;
  const stats = useRead('stats', { window, step: WINDOWS[window] });
  const slo = useRead('slo');
  const stuck = useRead('stuck', { limit: 5 });
  const groups = useDeadGroups({ namespace: some });
  const schedules = useRead('schedules', { namespace: namespace.value, limit: 100 });
  return html`
    <div class="page-head"><h1>Overview</h1><nav class="chips actions" aria-label="Window">
      ${Object.keys(WINDOWS).map((name) => html`<a key=${name} href=${withQuery({ window: name === '1h' ? '' : name })} aria-current=${name === window ? 'true' : undefined}>${name}</a>`)}</nav></div>
    <div class="stack">
      <div class="grid answers">
        <${OnTime} slo=${slo} stats=${stats} window=${window} />
        <${Stuck} stuck=${stuck} stats=${stats} />
        <${Dead} groups=${groups} />
      </div>
      <${Charts} stats=${stats} window=${window} />
      <div class="grid halves">
        <${Failing} groups=${groups} />
        <${Next} schedules=${schedules} />
      </div>
      <${LaneStrip} />
    </div>`;
}

/** An answer in words: a tone, a headline, the figures behind it. */
function Answer({ tone, icon, title, children, href }) {
  const body = html`<div class="answer-head"><${Icon} name=${icon} /><strong>${title}</strong></div><div class="answer-facts">${children}</div>`;
  return href ? html`<a class=${`panel answer tone-${tone}`} href=${href}>${body}</a>` : html`<section class=${`panel answer tone-${tone}`}>${body}</section>`;
}

const missing = (read) => read.problem?.status === 404 && read.data === undefined;

function OnTime({ slo, stats, window }) {
  const drift = stats.data?.total?.drift_ms;
  const figures = drift && html`<span>p50 <b>${duration(drift.p50)}</b></span><span>p99 <b>${duration(drift.p99)}</b></span>`;
  if (stats.data?.source === 'emf') return html`<${Answer} tone="grey" icon="external" title="Figures are in CloudWatch">${stats.data.url && html`<a href=${stats.data.url} target="_blank" rel="noreferrer">Open the dashboard</a>`}</${Answer}>`;
  const lanes = slo.data?.lanes?.filter(({ total }) => total > 0) ?? [];
  if (!slo.data && !missing(slo)) return html`<${Answer} tone="grey" icon="clock" title=${slo.problem ? 'Not known' : '…'}>${slo.problem?.message}</${Answer}>`;
  if (!lanes.length) {
    const within = slo.data?.lanes?.[0]?.objective.drift_ms ?? 1_000;
    if (!drift) return html`<${Answer} tone="grey" icon="clock" title=${`Nothing has started in the last ${HOURS[window]}`}>${may('operate') && html`<a href=${to('/new')}>Submit a task</a>`}</${Answer}>`;
    const [tone, icon, title] = drift.p99 <= within ? ['green', 'check', 'On time'] : ['amber', 'alert', 'Late starts'];
    return html`<${Answer} tone=${tone} icon=${icon} title=${title}>${figures}</${Answer}>`;
  }
  const judged = lanes.filter(hasEnough);
  const total = lanes.reduce((sum, lane) => sum + lane.total, 0);
  const good = lanes.reduce((sum, lane) => sum + lane.good, 0);
  const [{ objective }] = judged.length ? judged : lanes;
  if (!judged.length) {
    const [tone, icon, title] = good === total ? ['green', 'check', 'On time'] : ['amber', 'alert', 'Late starts'];
    return html`<${Answer} tone=${tone} icon=${icon} title=${title} href=${to('/lanes')}>
      <span><b>${count(good)} of ${count(total)}</b> planned tasks started within ${duration(objective.drift_ms)}</span>${figures}
      <span>budget: too few tasks to tell</span></${Answer}>`;
  }
  const worst = judged.reduce((a, b) => (a.budget_left <= b.budget_left ? a : b));
  const burn = Math.max(...judged.map((lane) => lane.burn?.['1h'] ?? 0));
  const [tone, icon, title] = worst.budget_left < 0 ? ['red', 'alert', 'Late'] : burn > 1 ? ['amber', 'alert', 'Getting late'] : ['green', 'check', 'On time'];
  return html`<${Answer} tone=${tone} icon=${icon} title=${title} href=${to('/lanes')}>
    <span><b>${percent(good / total)}</b> of planned tasks started within ${duration(worst.objective.drift_ms)}</span>${figures}
    <span>budget left <b>${percent(Math.max(worst.budget_left, 0))}</b></span><span>burn <b>${burn.toFixed(1)}×</b></span></${Answer}>`;
}

/** Whether one late task alone leaves some of a lane's budget. */
const hasEnough = ({ total, objective }) => total * (1 - objective.share) >= 1;

const WHY = {
  not_claimed: 'not claimed by the scanner', not_taken: 'in its lane, not taken', no_worker: 'no free worker', lease_run_out: 'its executor died',
  held_back: 'held back after an outage', queued_behind: 'behind another task of its key', limit: 'waits for a limit', set_aside: 'set aside: unreadable',
};

function Stuck({ stuck, stats }) {
  const ages = stats.data && html`
    ${ageOf(stats.data.tick_age_seconds) && html`<span>tick <b>${ageOf(stats.data.tick_age_seconds)}</b> ago</span>`}
    ${ageOf(stats.data.relay_age_seconds) && html`<span>relay <b>${ageOf(stats.data.relay_age_seconds)}</b> behind</span>`}`;
  if (missing(stuck)) return html`<${Answer} tone="grey" icon="help" title="Not known here">This server does not say what is stuck.</${Answer}>`;
  if (!stuck.data) return html`<${Answer} tone="grey" icon="clock" title=${stuck.problem ? 'Not known' : '…'}>${stuck.problem?.message}</${Answer}>`;
  const { items, complete } = stuck.data;
  if (!items.length) return html`<${Answer} tone="green" icon="check" title="Nothing stuck">${ages}${complete === false && html`<span>as far as was read</span>`}</${Answer}>`;
  return html`<${Answer} tone="amber" icon="hourglass" title=${`${items.length}${items.length >= 5 || !complete ? ' or more' : ''} stuck`}>
    <ul class="stuck">${items.slice(0, 3).map((item) => html`<li key=${item.id}><a href=${to(`/tasks/${item.id}`)}>${item.name || item.target}</a> ${WHY[item.why] ?? item.why} <span class="quiet"><${Time} at=${item.since ?? item.due_at} as="relative" /></span></li>`)}</ul></${Answer}>`;
}

const ageOf = (seconds) => (seconds === null || seconds === undefined ? null : duration(Math.round(seconds * 1_000)));

function Dead({ groups }) {
  if (missing(groups)) return html`<${Answer} tone="grey" icon="help" title="Dead letters" href=${to('/dead')}>Open the list</${Answer}>`;
  if (!groups.data) return html`<${Answer} tone="grey" icon="clock" title=${groups.problem ? 'Not known' : '…'}>${groups.problem?.message}</${Answer}>`;
  const { items, complete, looked_at: read } = groups.data;
  const dead = items.reduce((sum, group) => sum + group.count, 0);
  if (!dead) return html`<${Answer} tone="green" icon="check" title="None dead" href=${to('/dead')}>No task is out of attempts.</${Answer}>`;
  const first = items.map((group) => group.first).sort()[0];
  return html`<${Answer} tone="red" icon="cross" title=${`${count(dead)}${complete ? '' : '+'} dead`} href=${to('/dead')}>
    <span>${counted(items.length, 'cause')}</span><span>since <b><${Time} at=${first} /></b></span>${!complete && html`<span>the latest ${count(read)} were read</span>`}</${Answer}>`;
}

/** Adds up the lanes of each step, with a place for every step of the window. */
function steps({ series, from, to: until, step }) {
  const places = new Map();
  const ms = step * 1_000;
  for (let at = Math.floor(millis(from) / ms) * ms; at <= millis(until); at += ms) places.set(at, { at, started: 0, failed: 0, p99: null });
  for (const point of series) {
    const place = places.get(Math.floor(millis(point.at) / ms) * ms);
    if (!place) continue;
    for (const [outcome, number] of Object.entries(point.attempts)) {
      place.started += number;
      if (['failed', 'timed_out', 'lease_expired'].includes(outcome)) place.failed += number;
    }
    if (point.drift_ms) place.p99 = Math.max(place.p99 ?? 0, point.drift_ms.p99);
  }
  return [...places.values()].sort((a, b) => a.at - b.at);
}

function Charts({ stats, window }) {
  if (missing(stats) || stats.data?.source === 'emf') return null;
  return html`<section class="panel" aria-label=${`The last ${window}`}><${Loaded} read=${stats} rows=${2}>${(data) => {
    const points = steps(data);
    const sum = (name) => points.reduce((total, point) => total + point[name], 0);
    const chart = (name, title, tone, headline) => html`
      <figure class="chart"><figcaption><span>${title}</span><b>${headline}</b></figcaption>
        <${Spark} values=${points.map((point) => point[name])} title=${`${title}, ${window}: ${headline}`} tone=${tone} unfinished /></figure>`;
    const drift = data.total?.drift_ms;
    const each = data.step === 60 ? 'minute' : `${data.step / 60} minutes`;
    return html`<div class="body charts">
        ${chart('started', 'Attempts', 'blue', count(sum('started')))}
        ${chart('p99', 'Drift p99', 'violet', drift ? duration(drift.p99) : '–')}
        ${chart('failed', 'Failed attempts', 'red', count(sum('failed')))}
      </div>
      <div class="charts-foot"><span class="quiet"><${Time} at=${data.from} as="clock" /> – <${Time} at=${data.to} as="clock" />, a bar for each ${each}; the last one is not over yet.</span>
      <${AsTable} head=${['From', 'Attempts', 'Failed', 'Drift p99']} rows=${points.filter(({ started }) => started).map((point) => [clockTime(point.at), count(point.started), count(point.failed), duration(point.p99)])} /></div>`;
  }}</${Loaded}></section>`;
}

function Failing({ groups }) {
  const [bulk, setBulk] = useState(null);
  return html`
    <section class="panel" aria-label="Failing now"><div class="head"><h2>Failing now</h2><a href=${to('/dead')}>All causes</a></div>
      ${missing(groups) ? html`<${Empty} title="This server does not group dead letters"><a href=${to('/tasks', { status: 'DEAD' })}>Dead tasks</a></${Empty}>`
        : html`<${Loaded} read=${groups}>${({ items }) => (items.length ? html`<div class="scroll"><table class="rows plain"><tbody>${items.slice(0, 5).map((group) => html`
          <tr key=${group.fingerprint}>
            <td class="main bare"><a href=${causeHref(group)}>${group.error_type}</a> <span class="target">${group.target}</span><span class="sub">${group.message}</span></td>
            <td class="number bare"><b>${count(group.count)}</b></td>
            <td class="end bare">${may('operate') && html`<button class="small" onClick=${() => setBulk({ action: 'redrive', body: causeBody(group), what: causeText(group) })}>Retry ${count(group.count)} …</button>`}</td>
          </tr>`)}</tbody></table></div>` : html`<${Empty} title="Nothing fails"/>`)}</${Loaded}>`}
      ${bulk && html`<${BulkDialog} ...${bulk} onClose=${(changed) => { setBulk(null); if (changed) groups.reload(); }} />`}
    </section>`;
}

/** The schedules that fire next, of the first hundred. */
function Next({ schedules }) {
  return html`
    <section class="panel" aria-label="Next"><div class="head"><h2>Next</h2><a href=${to('/schedules')}>All schedules</a></div>
      <${Loaded} read=${schedules}>${({ items }) => {
        const active = items.filter(({ status, next_fire_at: at }) => status === 'active' && at).sort((a, b) => (a.next_fire_at < b.next_fire_at ? -1 : 1));
        const paused = items.filter(({ status }) => status === 'paused');
        const shown = [...active.slice(0, NEXT), ...paused.slice(0, Math.max(NEXT - active.length, 1))];
        if (!shown.length) return html`<${Empty} title="No schedules"><a href=${to('/schedules/new')}>Make one</a></${Empty}>`;
        return html`<div class="scroll"><table class="rows plain"><tbody>${shown.map((schedule) => html`
          <tr key=${schedule.id}>
            <td class="main bare"><a href=${to(`/schedules/${schedule.id}`)}>${schedule.name || schedule.id}</a>${schedule.status === 'paused' && (schedule.note || schedule.paused_by) && html`<span class="sub">${schedule.paused_by && `by ${schedule.paused_by.split('/').at(-1)}`}${schedule.paused_by && schedule.note && ': '}${schedule.note}</span>`}</td>
            <td class="end bare">${schedule.status === 'paused' ? html`<${Status} status="paused" />` : html`<${Time} at=${schedule.next_fire_at} as="relative" />`}</td>
            <td class="end bare quiet">${schedule.status !== 'paused' && html`<${Time} at=${schedule.next_fire_at} />`}</td>
          </tr>`)}</tbody></table></div>`;
      }}</${Loaded}>
    </section>`;
}

function LaneStrip() {
  const lanes = useLanes();
  return html`<section class="panel" aria-label="Lanes"><${Loaded} read=${lanes} rows=${1}>${({ items }) => html`
    <div class="lane-strip">${items.map((lane) => html`
      <a key=${lane.lane} href=${to('/lanes')}><span class="lane-name">${lane.lane}</span>
        <span><b>${count(lane.depth)}</b> waiting</span><span><b>${count(lane.running ?? lane.in_flight)}</b> running</span>
        ${lane.oldest_seconds !== null && html`<span>oldest <b>${duration(Math.round(lane.oldest_seconds * 1_000))}</b></span>`}
        ${lane.promoted ? html`<${Label} tone="amber">${count(lane.promoted)} promoted</${Label}>` : null}</a>`)}</div>`}</${Loaded}></section>`;
}

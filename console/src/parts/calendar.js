/** The months of a schedule: what became of its fire times, and which are to come. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { get, post } from '../api.js';
import { now, serverNow } from '../clock.js';
import { daysOf, shiftMonth, weeksOf } from '../models/calendar.js';
import { changesAfter, clocksOf, momentOf } from '../models/clock_changes.js';
import { countsText, STATES, stateOf } from '../models/ledger.js';
import { query, withQuery } from '../router.js';
import { timeZone } from '../zone.js';
import { dayOf, FireTime, offsetAt } from './fire_times.js';
import { Icon } from './icon.js';
import { Mark } from './ledger.js';
import { Loading, Note, ProblemNote } from './notes.js';
import { zoneOf } from './upcoming.js';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const SHOWN = 3; // fire times of a day
const PAGES = 5; // of the ledger that are read for one month
const MOST = 100;

export function Calendar({ schedule }) {
  const zone = zoneOf(schedule) ?? timeZone.value;
  const today = dayOf(now.value, zone);
  const month = /^\d{4}-\d\d$/.test(query.value.get('month') ?? '') ? query.value.get('month') : today.slice(0, 7);
  const { days, cut, problem } = useMonth(schedule, month, zone);
  const name = `${MONTHS[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`;
  const turn = (by) => withQuery({ month: shiftMonth(month, by) });
  return html`
    <div class="stack">
      <div class="row calendar-head">
        <a class="button small" href=${turn(-1)} aria-label="Previous month"><${Icon} name="back" /></a>
        <h2 aria-live="polite">${name}</h2>
        <a class="button small" href=${turn(1)} aria-label="Next month"><${Icon} name="forward" /></a>
        ${month !== today.slice(0, 7) && html`<a href=${withQuery({ month: '' })}>this month</a>`}
        <span class="quiet">days and times of ${zone}</span>
      </div>
      <${ProblemNote} problem=${problem} />
      ${days ? html`<${Month} month=${month} name=${name} days=${days} today=${today} zone=${zone} />` : !problem && html`<${Loading} />`}
      ${cut && html`<${Note} icon="alert" tone="amber">There are more fire times in this month than the calendar reads.</${Note}>`}
      <p class="legend">${Object.keys(STATES).reverse().map((state) => html`<${Mark} key=${state} state=${state} />`)}<${Excluded} /><span class="mark tone-amber"><${Icon} name="clock" />the clock changes</span></p>
    </div>`;
}

function Month({ month, name, days, today, zone }) {
  return html`
    <table class="calendar">
      <caption class="unseen">${name}</caption>
      <thead><tr>${WEEKDAYS.map((day) => html`<th key=${day} scope="col"><abbr title=${day}>${day.slice(0, 2)}</abbr></th>`)}</tr></thead>
      <tbody>${weeksOf(month).map((week, place) => html`<tr key=${place}>${week.map((day, column) => html`
        <td key=${day ?? column} class=${`${day ? '' : 'outside'} ${day === today ? 'today' : ''}`}>${day && html`<${Day} day=${day} known=${days.get(day)} zone=${zone} isToday=${day === today} />`}</td>`)}</tr>`)}</tbody>
    </table>`;
}

function Day({ day, known, zone, isToday }) {
  const items = known?.items ?? [];
  return html`
    <span class="day-number">${isToday ? html`<span class="unseen">today, </span>` : ''}${Number(day.slice(8))}</span>
    ${known?.excluded && html`<${Excluded} />`}
    ${known?.notes.length > 0 && html`<span class="mark tone-amber" title=${notesText(known)}><${Icon} name="clock" /><span class="unseen">${notesText(known)}</span></span>`}
    ${items.length > SHOWN ? html`<${Counts} items=${items} />` : items.map(({ at, state }) => html`
      <span key=${at} class=${`fire tone-${STATES[state].tone}`} title=${STATES[state].word}><${Icon} name=${STATES[state].icon} /><span class="unseen">${STATES[state].word} </span><span class="clock"><${FireTime} at=${at} timezone=${zone} day=${false} /></span></span>`)}`;
}

const notesText = ({ notes }) => notes.map(({ note }) => note).join('; ');

const Excluded = () => html`<span class="mark tone-grey"><${Icon} name="slash" /><span class="word">excluded</span></span>`;

function Counts({ items }) {
  const counts = Object.keys(STATES).map((state) => [state, items.filter((item) => item.state === state).length]).filter(([, each]) => each);
  return html`<span class="fires" title=${countsText(counts)}>${counts.map(([state, each]) => html`
    <span key=${state} class=${`fire tone-${STATES[state].tone}`}><${Icon} name=${STATES[state].icon} />${each}<span class="unseen"> ${STATES[state].word}</span></span>`)}</span>`;
}

/** Reads what a month has: the ledger for what was, a preview for what comes. */
function useMonth(schedule, month, zone) {
  const [state, setState] = useState({});
  const key = [schedule.id, schedule.version, month, zone].join(' ');
  useEffect(() => {
    let wanted = true;
    const show = (next) => wanted && setState({ key, ...next });
    read(schedule, month, zone).then(show, (problem) => show({ problem }));
    return () => (wanted = false);
  }, [key]);
  return state.key === key ? state : {};
}

async function read(schedule, month, zone) {
  const start = momentOf(`${month}-01T00:00`, (at) => offsetAt(at, zone));
  const end = momentOf(`${shiftMonth(month, 1)}-01T00:00`, (at) => offsetAt(at, zone));
  const [past, coming] = await Promise.all([ledgerOf(schedule, start, end), upcomingOf(schedule, start, end)]);
  const days = daysOf({
    ledger: past.rows, upcoming: coming.times, notes: [...coming.notes, ...clockNotes(start, end, zone)], exclude: schedule.exclude, dayOf: (at) => dayOf(at, zone), stateOf,
  });
  return { days, cut: past.cut || coming.cut };
}

/** The changes of the clock in a month, whether they matter to the rule or not. */
function clockNotes(start, end, zone) {
  return changesAfter((at) => offsetAt(at, zone), start, 2, 31).filter(({ at }) => at < end).map((change) => {
    const [from, to] = clocksOf(change);
    return { at: new Date(change.at).toISOString(), note: `the clock goes from ${from} to ${to}` };
  });
}

async function ledgerOf(schedule, start, end) {
  const rows = [];
  if (start > serverNow()) return { rows, cut: false };
  let cursor;
  for (let page = 0; page < PAGES; page += 1) {
    const { items, next_cursor: next } = await get(`schedules/${schedule.id}/ledger`, { limit: MOST, cursor });
    rows.push(...items);
    cursor = next;
    if (!next || Date.parse(items.at(-1).fire_time) < start) break;
  }
  const within = rows.filter(({ fire_time: at }) => Date.parse(at) >= start && Date.parse(at) < end);
  return { rows: within, cut: Boolean(cursor) && Date.parse(rows.at(-1).fire_time) >= start };
}

/** The fire times of the rule from now on, within the bounds of the schedule. A paused one has none. */
async function upcomingOf(schedule, start, end) {
  const from = Math.max(start - 1, serverNow(), schedule.starts_at ? Date.parse(schedule.starts_at) - 1 : 0);
  const until = Math.min(end, schedule.ends_at ? Date.parse(schedule.ends_at) : Infinity);
  if (schedule.status !== 'active' || from >= until) return { times: [], notes: [], cut: false };
  const named = schedule.rules ? { rules: schedule.rules } : { rule: schedule.rule };
  const body = { ...named, exclude: schedule.exclude, after: new Date(from).toISOString(), count: MOST };
  const { fire_times: all, daylight_saving: notes } = await post('schedules/preview', body);
  const inside = (at) => Date.parse(at) < until;
  return { times: all.filter(inside), notes: notes.filter(({ at }) => inside(at)), cut: all.length === MOST && inside(all.at(-1)) };
}

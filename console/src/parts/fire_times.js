/** Fire times, in the zone of the schedule, in UTC and in the zone of the page, with the changes of the clock. */
import { html } from '../vendor/preact.js';
import { now } from '../clock.js';
import { clocksOf, offsetMinutes, offsetText } from '../models/clock_changes.js';
import { dateText, inputTime, partsOf, relative, timeZone, zoneLabel } from '../zone.js';
import { Icon } from './icon.js';

/** The offset of a zone from UTC at a moment, in minutes. */
export const offsetAt = (at, timezone) => offsetMinutes(partsOf(at, timezone).offset);

/** The local day of a moment, such as `2026-11-18`. */
export const dayOf = (at, timezone = timeZone.value) => inputTime(at, timezone).slice(0, 10);

/** `Thu 19 Nov 2026 09:00`, with seconds only where there are some. */
export function FireTime({ at, timezone = timeZone.value, offset = false, day = true }) {
  const parts = partsOf(at, timezone);
  const seconds = parts.second === '00' && parts.fractionalSecond === '000' ? '' : `:${parts.second}`;
  const clock = `${parts.hour}:${parts.minute}${seconds}`;
  const text = `${day ? `${parts.weekday} ${dateText(at, timezone)} ` : ''}${clock}${offset ? ` ${parts.offset}` : ''}`;
  return html`<time datetime=${new Date(at).toISOString()} title=${`${timezone} ${parts.offset}`}>${text}</time>`;
}

/**
 * The next fire times. Those that a change of the clock moves, drops or doubles are flagged.
 * @param {{times: string[], notes: object[], timezone: string|null, caption: string}} props `timezone` is that of the rule
 */
export function FireTimes({ times, notes, timezone, caption }) {
  const noted = new Map(notes.map((note) => [Date.parse(note.at), note]));
  const zones = zonesOf(timezone);
  return html`
    <div class="scroll fires-in"><table class=${zones.length > 2 ? 'fire-times three-zones' : 'fire-times'}>
      <caption class="unseen">${caption}</caption>
      <thead><tr>${zones.map(({ name, head }) => html`<th key=${name} scope="col">${head}</th>`)}<th scope="col"><span class="unseen">From now</span></th></tr></thead>
      <tbody>${times.map((at, place) => {
        const note = noted.get(Date.parse(at));
        const changed = timezone && place > 0 && offsetAt(at, timezone) !== offsetAt(times[place - 1], timezone);
        return html`
          ${changed && html`<tr key=${`change ${at}`} class="clock-change"><td colspan=${zones.length + 1}><${Icon} name="clock" /> From here on the offset is ${partsOf(at, timezone).offset}</td></tr>`}
          <tr key=${at} class=${note ? 'flagged' : ''}>
            ${zones.map(({ name, head }) => html`<td key=${name} data-label=${head}><${FireTime} at=${at} timezone=${name} offset=${name === timezone} /></td>`)}
            <td class="quiet end">${relative(at, now.value)}</td>
          </tr>
          ${note && html`<tr key=${`note ${at}`} class="flagged note-row"><td colspan=${zones.length + 1}><${Icon} name="alert" /> ${note.note}</td></tr>`}`;
      })}</tbody>
    </table></div>`;
}

/** The zones of the columns: that of the rule, UTC and that of the page, each once. */
function zonesOf(timezone) {
  const zones = [];
  const add = (name, head) => name && !zones.some((each) => each.name === name) && zones.push({ name, head });
  add(timezone, timezone);
  add('UTC', 'UTC');
  add(timeZone.value, `My zone, ${zoneLabel.value}`);
  return zones;
}

/**
 * The next changes of the clock of a zone, and what they do to a rule.
 * @param {{changes: object[], timezone: string, fixed?: boolean}} props `fixed`: the rule names local times
 */
export function ClockChanges({ changes, timezone, fixed = true }) {
  if (!changes.length) return null;
  return html`
    <ul class="clock-changes">${changes.map((change) => html`<${ClockChange} key=${change.at} change=${change} timezone=${timezone} fixed=${fixed} />`)}</ul>`;
}

function ClockChange({ change, timezone, fixed }) {
  const [from, to] = clocksOf(change);
  const flagged = change.notes.length > 0;
  return html`
    <li class=${flagged ? 'flagged' : ''}>
      <${Icon} name=${flagged ? 'alert' : 'clock'} />
      <div>
        <strong><time datetime=${new Date(change.at).toISOString()}>${partsOf(change.at, timezone).weekday} ${dateText(change.at, timezone)}</time></strong>
        ${` the clock in ${timezone} goes from ${from} to ${to}, `}<span class="nowrap">${offsetText(change.before)} to ${offsetText(change.after)}</span>
        ${change.notes.map(({ at, note }) => html`<p key=${at + note} class="flag-note">${note}</p>`)}
        ${change.next && html`<p class="quiet">Then <${FireTime} at=${change.next} timezone=${timezone} offset />${fixed && !flagged && html`, which is ${utcClock(change.next)} UTC (was ${utcClock(before(change))})`}</p>`}
      </div>
    </li>`;
}

/** The moment of the same local time with the offset of before. */
const before = ({ next, before: old, after }) => Date.parse(next) + (after - old) * 60_000;

function utcClock(at) {
  const { hour, minute } = partsOf(at, 'UTC');
  return `${hour}:${minute}`;
}

/** Formats every time of the console, in one zone. No other module formats times. */
import { computed, html } from './vendor/preact.js';
import { now, quarter, serverNow } from './clock.js';
import { query } from './router.js';
import { storedZone } from './settings.js';

const LOCALE = 'en-GB';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** As chosen: `local`, `UTC` or an IANA zone. `tz=` in the URL wins over the setting. */
export const zone = computed(() => valid(query.value.get('tz')) ?? valid(storedZone.value) ?? 'local');
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
/** The IANA zone in which times are shown. */
export const timeZone = computed(() => (zone.value === 'local' ? localZone : zone.value));
/** A short name for the header: `Berlin`. */
export const zoneLabel = computed(() => timeZone.value.split('/').pop().replaceAll('_', ' '));

export const isZone = (name) => valid(name) !== null;
export const allZones = () => ['UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])];

function valid(name) {
  if (!name) return null;
  if (name === 'local') return name;
  try {
    return new Intl.DateTimeFormat(LOCALE, { timeZone: name }) && name;
  } catch {
    return null;
  }
}

const formats = new Map();
/** The moments that were formatted last: rows show the same ones again and again, and formatting is slow. */
const formatted = new Map();
const MOST_FORMATTED = 1_000;

/** Returns the numbers and names of a moment in a zone: year, month, day, hour, minute, second, weekday, offset. */
export function partsOf(at, timezone = timeZone.value) {
  const key = `${millis(at)} ${timezone}`;
  if (!formatted.has(key)) {
    if (formatted.size === MOST_FORMATTED) formatted.clear();
    formatted.set(key, format(millis(at), timezone));
  }
  return formatted.get(key);
}

function format(ms, timezone) {
  if (!formats.has(timezone)) {
    formats.set(timezone, new Intl.DateTimeFormat(LOCALE, {
      timeZone: timezone, hourCycle: 'h23', weekday: 'short', year: 'numeric', month: 'short', day: '2-digit',
      hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, timeZoneName: 'longOffset',
    }));
  }
  const parts = Object.fromEntries(formats.get(timezone).formatToParts(ms).map(({ type, value }) => [type, value]));
  const offset = parts.timeZoneName.replace('GMT', '') || '+00:00';
  return { ...parts, month: parts.month.slice(0, 3), offset };
}

/** Accepts an RFC 3339 text or milliseconds; returns milliseconds, or NaN. */
export const millis = (at) => (typeof at === 'number' ? at : Date.parse(at));

/** `09:00:00` */
export function clockTime(at, timezone) {
  const { hour, minute, second } = partsOf(at, timezone);
  return `${hour}:${minute}:${second}`;
}

/** `09:00:00.123` */
export const clockTimeMs = (at, timezone) => `${clockTime(at, timezone)}.${partsOf(at, timezone).fractionalSecond}`;

/** `17 Nov 2026` */
export function dateText(at, timezone) {
  const { day, month, year } = partsOf(at, timezone);
  return `${day} ${month} ${year}`;
}

/** `09:00:00` today, `17 Nov 09:00:00` this year, `17 Nov 2027 09:00` else. */
export function shortTime(at, timezone) {
  const { year, month, day, hour, minute, second } = partsOf(at, timezone);
  const today = partsOf(quarter.value, timezone);
  if (year !== today.year) return `${day} ${month} ${year} ${hour}:${minute}`;
  const time = `${hour}:${minute}:${second}`;
  return month === today.month && day === today.day ? time : `${day} ${month} ${time}`;
}

/** `17 Nov 2026 09:00:00.123 +01:00` */
export const stamp = (at, timezone) => `${dateText(at, timezone)} ${clockTimeMs(at, timezone)} ${partsOf(at, timezone).offset}`;

/** `Tue 17 Nov 2026 09:00:00.123 +01:00` */
export const fullTime = (at, timezone) => `${partsOf(at, timezone).weekday} ${stamp(at, timezone)}`;

/** `2026-11-17T09:00` for an input, and the day alone as its first ten characters. */
export function inputTime(at, timezone) {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone ?? timeZone.value, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
    }).formatToParts(millis(at)).map(({ type, value }) => [type, value]),
  );
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`;
}

/** `3 ms`, `1.3 s`, `41 min`, `2 h 5 min`, `3 d` */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  const size = Math.abs(ms);
  if (size < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(1)} ms`;
  if (size < SECOND) return `${Math.round(ms)} ms`;
  if (size < 10 * SECOND) return `${trimmed(ms / SECOND)} s`;
  if (size < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (size < HOUR) return both(ms, MINUTE, 'min', SECOND, 's', 10);
  if (size < 2 * DAY) return both(ms, HOUR, 'h', MINUTE, 'min', 24);
  if (size < 730 * DAY) return both(ms, DAY, 'd', HOUR, 'h', 10);
  return `${trimmed(ms / (365.25 * DAY))} y`;
}

const trimmed = (number) => number.toFixed(1).replace(/\.0$/, '');

/** Two units up to `few` of the first one, else the first one alone. */
function both(ms, unit, name, smaller, smallerName, few) {
  const whole = Math.floor(ms / unit);
  const rest = Math.floor((ms % unit) / smaller);
  return whole < few && rest ? `${whole} ${name} ${rest} ${smallerName}` : `${whole} ${name}`;
}

/** `in 38 s`, `5 min ago`, `now` */
export function relative(at, from = serverNow()) {
  const left = millis(at) - from;
  if (Math.abs(left) < SECOND) return 'now';
  return left > 0 ? `in ${whole(left)}` : `${whole(-left)} ago`;
}

const whole = (ms) => duration(Math.floor(ms / SECOND) * SECOND);

/**
 * A moment: short text, all of it as the title. Nothing where there is none.
 * @param {{at: string|number|null, as?: 'short'|'clock'|'ms'|'stamp'|'full'|'date'|'relative', timezone?: string, none?: string}} props
 */
export function Time({ at, as = 'short', timezone, none = '–' }) {
  if (at === null || at === undefined || Number.isNaN(millis(at))) return html`<span class="quiet">${none}</span>`;
  const iso = new Date(millis(at)).toISOString();
  const text = as === 'relative' ? relative(at, now.value) : FORMATS[as](at, timezone);
  const title = as === 'full' ? undefined : fullTime(at, timezone);
  return html`<time datetime=${iso} title=${title}>${text}</time>`;
}

const FORMATS = { short: shortTime, clock: clockTime, ms: clockTimeMs, stamp, full: fullTime, date: dateText };

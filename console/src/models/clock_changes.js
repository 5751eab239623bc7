/**
 * Changes of the clock of a zone, and the moments of its local times. `offsetAt` returns the offset from UTC in
 * minutes at a moment in milliseconds.
 */

const MINUTE = 60_000;
const DAY = 86_400_000;
const STEP = 5 * DAY; // shorter than Morocco's Ramadan, the shortest time between two changes

/** Returns up to `count` changes after a moment: `{at, before, after}`, with offsets in minutes. */
export function changesAfter(offsetAt, from, count = 2, days = 400) {
  const found = [];
  for (let start = from; start < from + days * DAY && found.length < count; start += STEP) {
    const before = offsetAt(start);
    const after = offsetAt(start + STEP);
    if (before !== after) found.push({ at: firstWith(offsetAt, start, start + STEP, before), before, after });
  }
  return found;
}

/** Returns the first whole minute between the two at which the offset is no longer `before`. */
function firstWith(offsetAt, start, end, before) {
  let low = Math.floor(start / MINUTE);
  let high = Math.ceil(end / MINUTE);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * MINUTE) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE;
}

/** Returns the moment of a local time such as `2027-03-28T00:00`. One that does not exist is moved past the gap. */
export function momentOf(local, offsetAt) {
  const wall = Date.parse(`${local}Z`);
  const first = wall - offsetAt(wall) * MINUTE;
  return wall - Math.min(offsetAt(first), offsetAt(wall - offsetAt(first) * MINUTE)) * MINUTE;
}

/** `+05:30` → 330 */
export function offsetMinutes(text) {
  const [hours, minutes] = text.slice(1).split(':').map(Number);
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + (minutes || 0));
}

/** 330 → `+05:30` */
export function offsetText(minutes) {
  const size = Math.abs(minutes);
  const two = (number) => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Returns what the clock shows just before and just after a change: `02:00` and `03:00`. */
export function clocksOf({ at, before, after }) {
  const shown = (offset) => new Date(at + offset * MINUTE).toISOString().slice(11, 16);
  return [shown(before), shown(after)];
}

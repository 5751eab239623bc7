/** Months of days, as texts such as `2026-11-18`, and what a schedule did or will do on each. */

const DAY = 86_400_000;
const THURSDAY = 3; // of 1 January 1970, with Monday as 0

/** Returns the weeks of a month (`2026-11`): seven days each, Monday first, null outside of the month. */
export function weeksOf(month) {
  const first = dayNumber(`${month}-01`);
  const last = dayNumber(`${shiftMonth(month, 1)}-01`);
  const cells = Array(weekday(first)).fill(null);
  for (let day = first; day < last; day += 1) cells.push(dayText(day));
  while (cells.length % 7) cells.push(null);
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}

export function shiftMonth(month, by) {
  const [year, number] = month.split('-').map(Number);
  const months = year * 12 + number - 1 + by;
  return `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}`;
}

/** Returns the last `count` days up to and including one, the oldest first. */
export function daysBefore(day, count) {
  const last = dayNumber(day);
  return Array.from({ length: count }, (_, place) => dayText(last - count + 1 + place));
}

const dayNumber = (day) => Date.parse(`${day}T00:00:00Z`) / DAY;
const dayText = (number) => new Date(number * DAY).toISOString().slice(0, 10);
const weekday = (number) => (number + THURSDAY) % 7;

/**
 * Returns what is known of each day: `{items: [{at, state, row?}], excluded, notes}`, its items by time.
 * @param {{ledger: object[], upcoming: string[], notes: object[], exclude: object[], dayOf: (at: string) => string,
 *   stateOf: (row: object) => string}} known
 */
export function daysOf({ ledger, upcoming, notes, exclude, dayOf, stateOf }) {
  const days = new Map();
  const on = (day) => {
    if (!days.has(day)) days.set(day, { items: [], excluded: false, notes: [] });
    return days.get(day);
  };
  for (const row of ledger) on(dayOf(row.fire_time)).items.push({ at: row.fire_time, state: stateOf(row), row });
  for (const at of upcoming) on(dayOf(at)).items.push({ at, state: 'to_come' });
  for (const note of notes) on(dayOf(note.at)).notes.push(note);
  for (const { dates = [] } of exclude) for (const day of dates) on(day).excluded = true;
  for (const { items } of days.values()) items.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return days;
}

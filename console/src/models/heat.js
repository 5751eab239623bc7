/** A forecast as a map of heat: a row for each local hour, a cell for each of its minutes. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const LEVELS = 5;

/**
 * Returns `{rows, most}`. A row is `{start, cells, total, peak}`; a cell is `{at, count}`, or null outside of what was
 * looked at; the peak is its fullest cell, or null.
 * @param {{looked_from: string, looked_until: string, minutes: object[]}} forecast
 * @param {(at: number) => number} offsetAt the offset from UTC in minutes
 * @param {string|null} lane the only lane to count
 */
export function heatOf(forecast, offsetAt, lane = null) {
  const counts = new Map(forecast.minutes.map((each) => [Date.parse(each.minute), lane ? each.lanes[lane] : each.count]));
  const first = Math.floor(Date.parse(forecast.looked_from) / MINUTE) * MINUTE;
  const last = Date.parse(forecast.looked_until);
  const rows = new Map();
  for (let at = first; at < last || counts.has(at); at += MINUTE) {
    const [start, place] = hourOf(at, offsetAt(at) * MINUTE);
    if (!rows.has(start)) rows.set(start, { start, cells: Array(60).fill(null), total: 0, peak: null });
    add(rows.get(start), place, { at, count: counts.get(at) ?? 0 });
  }
  return { rows: [...rows.values()], most: Math.max(0, ...counts.values()) };
}

function hourOf(at, offset) {
  const start = Math.floor((at + offset) / HOUR) * HOUR - offset;
  return [start, (at - start) / MINUTE];
}

function add(row, place, cell) {
  row.cells[place] = cell;
  row.total += cell.count;
  if (cell.count > (row.peak?.count ?? 0)) row.peak = cell;
}

/** Returns 0 for nothing, else 1 to LEVELS: square roots, so that small counts differ too. */
export const levelOf = (count, most) => (count ? Math.max(1, Math.ceil(LEVELS * Math.sqrt(count / most))) : 0);

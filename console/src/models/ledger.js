/** What became of the fire times of a schedule. */
import { daysBefore } from './calendar.js';

const LATE = 1_000; // ms: what starts within a second is on time

/** The states of a fire time, the worst first: icon, tone and word. */
export const STATES = {
  broken: { icon: 'cross', tone: 'red', word: 'broken' },
  dead: { icon: 'alert', tone: 'red', word: 'dead' },
  missed: { icon: 'timeout', tone: 'amber', word: 'missed' },
  skipped: { icon: 'forward', tone: 'amber', word: 'skipped' },
  paused: { icon: 'pause', tone: 'amber', word: 'paused' },
  late: { icon: 'hourglass', tone: 'amber', word: 'late' },
  fired: { icon: 'check', tone: 'green', word: 'fired' },
  to_come: { icon: 'dot', tone: 'grey', word: 'to come' },
};
const RANK = Object.keys(STATES);
const OF_OUTCOME = { skipped_overlap: 'skipped', skipped_misfire: 'missed', paused: 'paused', broken: 'broken' };

/** Returns the state of a row of the ledger. */
export function stateOf(row) {
  if (row.outcome !== 'fired') return OF_OUTCOME[row.outcome] ?? 'broken';
  if (row.task_status === 'DEAD') return 'dead';
  return row.late_ms > LATE ? 'late' : 'fired';
}

/** Returns `[state, count]` of each state that occurs, the usual ones first. */
export function countsOf(rows) {
  const counts = new Map();
  for (const row of rows) counts.set(stateOf(row), (counts.get(stateOf(row)) ?? 0) + 1);
  return RANK.filter((state) => counts.has(state)).reverse().map((state) => [state, counts.get(state)]);
}

/**
 * Returns the last days, the oldest first: `{day, state, counts}`, with the worst state of each; null without a fire time.
 * @param {(at: string) => string} dayOf the local day of a fire time
 */
export function stripOf(rows, today, dayOf, length = 30) {
  const byDay = grouped(rows, dayOf);
  return daysBefore(today, length).map((day) => {
    const counts = countsOf(byDay.get(day) ?? []);
    const worst = RANK.find((state) => counts.some(([each]) => each === state)) ?? null;
    return { day, state: worst, counts };
  });
}

function grouped(rows, dayOf) {
  const found = new Map();
  for (const row of rows) {
    const day = dayOf(row.fire_time);
    if (!found.has(day)) found.set(day, []);
    found.get(day).push(row);
  }
  return found;
}

/** `21 fired, 1 skipped` */
export const countsText = (counts) => counts.map(([state, count]) => `${count} ${STATES[state].word}`).join(', ');

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { daysBefore, daysOf, shiftMonth, weeksOf } from '../src/models/calendar.js';
import { changesAfter, clocksOf, momentOf, offsetMinutes, offsetText } from '../src/models/clock_changes.js';
import { controlsOf, defaultDst, expressionOf, withKind } from '../src/models/cron.js';
import { heatOf, levelOf } from '../src/models/heat.js';
import { countsOf, stateOf, stripOf } from '../src/models/ledger.js';
import { after, holdups, indented, waitsFor } from '../src/models/run_steps.js';

/** The offset of a zone in minutes, as zone.js reads it. */
const offsetIn = (timeZone) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' });
  return (at) => {
    const { value } = format.formatToParts(at).find(({ type }) => type === 'timeZoneName');
    return offsetMinutes(value.replace('GMT', '') || '+00:00');
  };
};

describe('cron controls', () => {
  const written = [
    '* * * * *', '*/15 * * * *', '5 * * * *', '30 */2 * * *', '0 9 * * *', '0 9 * * 1-5', '30 2 * * 6,0', '0 9 * * 1,3,5',
    '0 9 * * 5-7', '0 9 1 * *', '0 9 L * *', '0 9 LW * *', '0 9 * * mon#2', '0 9 * * friL', '15 10 29 2 *',
  ];
  for (const text of written) {
    test(`write ${text} as it was read`, () => {
      const controls = controlsOf(text);
      assert.ok(!['fields', 'text'].includes(controls.kind), controls.kind);
      assert.equal(expressionOf(controls), text);
    });
  }

  test('read the same days in other words', () => {
    assert.equal(expressionOf(controlsOf('0 9 ? * MON-FRI')), '0 9 * * 1-5');
    assert.equal(expressionOf(controlsOf('0 9 * * sat-mon')), '0 9 * * 1,6,0');
    assert.equal(expressionOf(controlsOf('0 9 * * friday#L')), '0 9 * * friL');
  });

  test('know the defaults for a change of the clock', () => {
    assert.deepEqual(defaultDst('30 2 * * *'), { gap: 'shift', overlap: 'first' });
    assert.deepEqual(defaultDst('*/15 2 * * *'), { gap: 'skip', overlap: 'both' });
    assert.deepEqual(defaultDst('0 */2 * * 1-5'), { gap: 'skip', overlap: 'both' });
    assert.equal(defaultDst('cron(0 9 * * ? *)'), null);
  });

  test('leave what they cannot show as fields or as text', () => {
    for (const text of ['0 9,17 * * *', '0 9 13 * fri', '*/7 * * * *', '0 9 * * 8', '0 9 * 1,2 *', '61 9 * * *', '0 9 15W * *']) {
      assert.equal(controlsOf(text).kind, 'fields', text);
      assert.equal(expressionOf(controlsOf(text)), text);
    }
    for (const text of ['@daily', 'cron(0 9 ? * MON-FRI *)', 'CRON_TZ=UTC 0 9 * * *', '0 0 9 * * *', '']) {
      assert.equal(controlsOf(text).kind, 'text', text);
      assert.equal(expressionOf(controlsOf(text), text), text);
    }
  });

  test('keep the time when the kind changes', () => {
    const monthly = withKind(controlsOf('30 7 * * 1-5'), 'month');
    assert.equal(expressionOf(monthly), '30 7 1 * *');
    assert.equal(expressionOf(withKind(monthly, 'minutes')), '*/15 * * * *');
    assert.deepEqual(withKind(monthly, 'fields').fields, ['30', '7', '1', '*', '*']);
    assert.deepEqual(withKind(controlsOf('@daily'), 'fields', '@daily').fields, ['@daily', '*', '*', '*', '*']);
  });
});

describe('calendar', () => {
  test('weeks begin on Monday and have all days of the month', () => {
    const weeks = weeksOf('2026-11');
    assert.deepEqual(weeks[0], [null, null, null, null, null, null, '2026-11-01']);
    assert.deepEqual(weeks.at(-1), ['2026-11-30', null, null, null, null, null, null]);
    assert.equal(weeksOf('2028-02').flat().filter(Boolean).length, 29);
    assert.equal(shiftMonth('2026-12', 1), '2027-01');
    assert.equal(shiftMonth('2026-01', -1), '2025-12');
    assert.deepEqual(daysBefore('2027-01-01', 2), ['2026-12-31', '2027-01-01']);
  });

  test('a day has what was, what comes and what is left out', () => {
    const days = daysOf({
      ledger: [{ fire_time: '2026-11-17T09:00:00Z', outcome: 'fired', task_status: 'DEAD' }],
      upcoming: ['2026-11-17T08:00:00Z', '2026-11-18T09:00:00Z'],
      notes: [{ at: '2026-11-18T09:00:00Z', kind: 'shifted', note: 'why' }],
      exclude: [{ type: 'dates', dates: ['2026-12-25'] }, { type: 'cron' }],
      dayOf: (at) => at.slice(0, 10),
      stateOf,
    });
    assert.deepEqual(days.get('2026-11-17').items.map(({ state }) => state), ['to_come', 'dead']);
    assert.equal(days.get('2026-11-18').notes.length, 1);
    assert.equal(days.get('2026-12-25').excluded, true);
  });
});

describe('ledger', () => {
  const row = (fire_time, outcome, more = {}) => ({ fire_time, outcome, ...more });
  const rows = [
    row('2026-11-18T09:00:00Z', 'fired', { late_ms: 3 }),
    row('2026-11-17T09:00:00Z', 'fired', { late_ms: 4_000 }),
    row('2026-11-16T10:00:00Z', 'skipped_overlap'),
    row('2026-11-16T09:00:00Z', 'fired', { task_status: 'DEAD', late_ms: 0 }),
  ];

  test('rows have a state of their own', () => {
    assert.deepEqual(rows.map(stateOf), ['fired', 'late', 'skipped', 'dead']);
    assert.equal(stateOf(row('', 'skipped_misfire')), 'missed');
    assert.equal(stateOf(row('', 'unheard of')), 'broken');
    assert.deepEqual(countsOf(rows), [['fired', 1], ['late', 1], ['skipped', 1], ['dead', 1]]);
  });

  test('a strip shows the worst of each day', () => {
    const strip = stripOf(rows, '2026-11-18', (at) => at.slice(0, 10), 4);
    assert.deepEqual(strip.map(({ state }) => state), [null, 'dead', 'late', 'fired']);
  });
});

describe('clock changes', () => {
  const berlin = offsetIn('Europe/Berlin');

  test('the next two of Berlin are found to the minute', () => {
    const [spring, autumn] = changesAfter(berlin, Date.parse('2026-11-18T00:00:00Z'));
    assert.deepEqual(spring, { at: Date.parse('2027-03-28T01:00:00Z'), before: 60, after: 120 });
    assert.deepEqual(autumn, { at: Date.parse('2027-10-31T01:00:00Z'), before: 120, after: 60 });
    assert.deepEqual(clocksOf(spring), ['02:00', '03:00']);
    assert.deepEqual(changesAfter(offsetIn('UTC'), 0), []);
    assert.equal(changesAfter(offsetIn('Africa/Casablanca'), Date.parse('2027-01-01T00:00:00Z')).length, 2);
  });

  test('a local time becomes a moment on both sides of a change', () => {
    const moment = (local) => new Date(momentOf(local, berlin)).toISOString();
    assert.equal(moment('2027-03-28T00:00'), '2027-03-27T23:00:00.000Z');
    assert.equal(moment('2027-03-29T00:00'), '2027-03-28T22:00:00.000Z');
    assert.equal(moment('2027-03-28T02:30'), '2027-03-28T01:30:00.000Z');
    assert.equal(new Date(momentOf('2027-04-01T00:00', offsetIn('America/New_York'))).toISOString(), '2027-04-01T04:00:00.000Z');
  });

  test('offsets are written as they are read', () => {
    for (const text of ['+00:00', '-03:30', '+05:45', '+14:00']) assert.equal(offsetText(offsetMinutes(text)), text);
  });
});

describe('heat map', () => {
  const forecast = {
    looked_from: '2026-11-18T19:37:17Z', looked_until: '2026-11-18T21:02:00Z',
    minutes: [
      { minute: '2026-11-18T19:38:00Z', count: 12, lanes: { high: 2, medium: 10, low: 0 } },
      { minute: '2026-11-18T21:01:00Z', count: 3, lanes: { high: 0, medium: 0, low: 3 } },
    ],
  };

  test('rows are local hours, and only what was looked at is known', () => {
    const { rows, most } = heatOf(forecast, () => 0);
    assert.equal(most, 12);
    assert.deepEqual(rows.map(({ total }) => total), [12, 0, 3]);
    assert.equal(rows[0].cells[36], null);
    assert.equal(rows[0].cells[37].count, 0);
    assert.equal(rows[0].peak.count, 12);
    assert.equal(rows[2].cells[2], null);
    const india = heatOf(forecast, () => 330);
    assert.equal(new Date(india.rows[0].start).toISOString(), '2026-11-18T19:30:00.000Z');
    assert.equal(india.rows[0].cells[8].count, 12);
  });

  test('a lane is counted alone', () => {
    assert.deepEqual(heatOf(forecast, () => 0, 'low').rows.map(({ total }) => total), [0, 0, 3]);
    assert.deepEqual([0, 1, 50, 100].map((count) => levelOf(count, 100)), [0, 1, 4, 5]);
  });
});

describe('steps of a run', () => {
  const step = (name, status, needs = [], more = {}) => ({ name, status, needs, finally: false, ...more });
  const steps = [
    step('extract', 'SUCCEEDED'),
    step('resize', 'SUCCEEDED', ['extract']),
    step('index', 'RETRYING', ['extract']),
    step('publish', 'BLOCKED', ['resize', 'index']),
    step('tell', 'BLOCKED', ['publish']),
    step('clean', 'BLOCKED', [], { finally: true }),
  ];

  test('a blocked step says which needs it waits for', () => {
    assert.deepEqual(waitsFor(steps, steps[3]), ['index']);
    assert.deepEqual(waitsFor(steps, steps[0]), []);
  });

  test('the step that holds up the most comes first', () => {
    assert.deepEqual(holdups(steps).map(({ step: { name }, holds }) => [name, holds]), [['index', ['publish', 'tell']]]);
    const failed = [step('a', 'DEAD'), step('b', 'SKIPPED', ['a']), step('c', 'SUCCEEDED')];
    assert.deepEqual(holdups(failed).map(({ step: { name }, holds }) => [name, holds]), [['a', ['b']]]);
    assert.deepEqual(holdups([step('a', 'SUCCEEDED')]), []);
  });

  test('a retry runs what comes after, and an indented list is in that order', () => {
    assert.deepEqual(after(steps, 'index'), ['publish', 'tell']);
    assert.deepEqual(indented(steps).map(({ step: { name }, depth }) => [name, depth]), [
      ['extract', 0], ['resize', 1], ['index', 1], ['publish', 2], ['tell', 3], ['clean', 4],
    ]);
  });
});

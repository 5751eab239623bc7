/** A schedule as it was defined. */
import { html } from '../vendor/preact.js';
import { targetText } from '../format.js';
import { pretty } from '../json.js';
import { duration, Time } from '../zone.js';
import { JsonView } from './tree.js';

/** The fields that `POST /v1/schedules` takes. */
const FIELDS = ['name', 'rule', 'rules', 'exclude', 'task', 'starts_at', 'ends_at', 'max_runs', 'jitter', 'misfire', 'overlap', 'pause_on_failure'];

/** Returns the JSON text with which a schedule can be put again. */
const bodyOf = ({ source }) => pretty({ ...source, entries: source.entries.filter(([name]) => FIELDS.includes(name)) });

const seconds = (number) => duration(number * 1_000);

export function Definition({ schedule }) {
  const { misfire, task } = schedule;
  const facts = [
    ['Rule', schedule.description],
    ['Target', html`<code>${targetText(task.target)}</code>`],
    ['If the previous run is not over', OVERLAPS[schedule.overlap] ?? schedule.overlap],
    ['If a run cannot start in time', `${MISFIRES[misfire.policy] ?? misfire.policy}; in time is within ${seconds(misfire.grace)}`],
    ['Jitter', schedule.jitter ? `up to ${seconds(schedule.jitter)}` : 'none'],
    ['Excluded', schedule.exclude.length ? schedule.exclude.map((each) => (each.dates ? each.dates.join(', ') : each.expression)).join('; ') : 'nothing'],
    ['From', html`<${Time} at=${schedule.starts_at} as="full" none="the beginning" />`],
    ['Until', html`<${Time} at=${schedule.ends_at} as="full" none="no end" />`],
    ['Runs at most', schedule.max_runs ?? 'any number'],
    ['Pauses after', schedule.pause_on_failure ? `${schedule.pause_on_failure} dead runs in a row` : 'never'],
    ['Version', schedule.version],
    ['Created', html`<${Time} at=${schedule.created_at} as="full" />`],
    ['Changed', html`<${Time} at=${schedule.updated_at} as="full" />`],
  ];
  return html`
    <div class="grid">
      <div class="panel"><div class="body"><dl class="facts">${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl></div></div>
      <div class="panel"><div class="body"><${JsonView} text=${bodyOf(schedule)} name="definition" /></div></div>
    </div>`;
}

export const OVERLAPS = { skip: 'skip the new run', queue: 'wait for it', cancel: 'cancel the previous run', allow: 'run beside it' };
export const MISFIRES = { run_once: 'run the latest missed one', run_all: 'run all that were missed', skip: 'run none of them' };

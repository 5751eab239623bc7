/** When a schedule fires next, and what the next changes of the clock do to it. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { useRead } from '../state.js';
import { isZone } from '../zone.js';
import { isFixed } from './cron_builder.js';
import { ClockChanges, FireTimes } from './fire_times.js';
import { Loaded } from './notes.js';
import { clockChanges } from './preview.js';

/** The rules of a schedule, of which there may be one or several. */
export const rulesOf = (schedule) => schedule.rules ?? [schedule.rule];

/** The only zone of its cron rules, or null. */
export function zoneOf(schedule) {
  const zones = new Set(rulesOf(schedule).filter(({ type }) => type === 'cron').map(({ timezone }) => timezone));
  const [zone] = zones;
  return zones.size === 1 && isZone(zone) ? zone : null;
}

export function Upcoming({ schedule }) {
  const read = useRead(`schedules/${schedule.id}/upcoming`, { count: 10 }, { version: schedule.version });
  const zone = zoneOf(schedule);
  return html`
    <div class="stack">
      <div class="panel"><div class="head"><h2>Next</h2></div>
        <div class="body"><${Loaded} read=${read}>${({ fire_times: times, daylight_saving: notes }) => (times.length
          ? html`<${FireTimes} times=${times} notes=${notes} timezone=${zone} caption="The next fire times" />`
          : html`<p class="quiet">${WHY_NONE[schedule.status] ?? 'It does not fire any more.'}</p>`)}</${Loaded}></div>
      </div>
      ${zone && html`<${Changes} schedule=${schedule} zone=${zone} />`}
    </div>`;
}

const WHY_NONE = {
  paused: 'It is paused, and does not fire until it is resumed.',
  broken: 'Its rule cannot be read.',
};

function Changes({ schedule, zone }) {
  const rule = rulesOf(schedule).find(({ type }) => type === 'cron');
  const [changes, setChanges] = useState([]);
  useEffect(() => {
    let shown = true;
    clockChanges(rule, schedule.exclude).then((found) => shown && setChanges(found), () => shown && setChanges([]));
    return () => (shown = false);
  }, [schedule.id, schedule.version]);
  if (!changes.length) return null;
  return html`<div class="panel"><div class="head"><h2>When the clock changes</h2></div>
    <div class="body"><${ClockChanges} changes=${changes} timezone=${zone} fixed=${isFixed(rule)} /></div></div>`;
}

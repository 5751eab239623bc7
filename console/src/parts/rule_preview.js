/** What a rule means: its words, its next fire times and the changes of the clock. */
import { html } from '../vendor/preact.js';
import { ClockChanges, FireTimes } from './fire_times.js';
import { isFixed } from './cron_builder.js';
import { isZone } from '../zone.js';
import { Loading, Note, ProblemNote } from './notes.js';

/** @param {{preview: object}} props that of `usePreview` */
export function RulePreview({ preview }) {
  const { rule, answer, problem, changes, asking } = preview;
  const timezone = isZone(rule?.timezone) ? rule.timezone : null;
  if (problem && !problem.errors?.length) return html`<${ProblemNote} problem=${problem} />`;
  if (!answer) return asking ? html`<${Loading} />` : html`<${Note} icon="alert" tone="amber">This rule cannot be read yet.</${Note}>`;
  return html`
    <div class=${`panel ${problem ? 'outdated' : ''}`} aria-busy=${asking}>
      <div class="head"><h2>Next ${answer.fire_times.length === 1 ? 'run' : `${answer.fire_times.length} runs`}</h2><span class="in-words">${answer.description}</span></div>
      <div class="body">
        ${answer.fire_times.length
          ? html`<${FireTimes} times=${answer.fire_times} notes=${answer.daylight_saving} timezone=${timezone} caption="The next fire times" />`
          : html`<p class="quiet">This rule never fires.</p>`}
      </div>
    </div>
    ${changes.length > 0 && !problem && html`<div class="panel">
      <div class="head"><h2>When the clock changes</h2></div>
      <div class="body"><${ClockChanges} changes=${changes} timezone=${timezone} fixed=${isFixed(rule)} /></div>
    </div>`}`;
}

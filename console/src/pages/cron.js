/** The cron builder on its own: what does this expression do, also when the clock changes? All of it is in the URL. */
import { html } from '../vendor/preact.js';
import { may } from '../live.js';
import { Command } from '../parts/copy.js';
import { CronBuilder, cronRule, NEW_CRON } from '../parts/cron_builder.js';
import { usePreview } from '../parts/preview.js';
import { RulePreview } from '../parts/rule_preview.js';
import { query, setQuery, to } from '../router.js';
import { timeZone } from '../zone.js';

/** Parameters of the URL. `tz` is the zone of the page, so that of the expression is `zone`. */
const PARAMETERS = { expression: 'e', timezone: 'zone', gap: 'gap', overlap: 'twice', seconds: 'seconds', days: 'days' };

/** Returns the parameters of the URL for a value of the builder. */
export const cronQuery = (value) => Object.fromEntries(Object.entries(PARAMETERS).map(([field, name]) => [name, value[field]]));

/** Returns the value of the builder in the URL; null if there is none. */
export function cronFrom(parameters) {
  if (!parameters.has('e')) return null;
  return Object.fromEntries(Object.entries(PARAMETERS).map(([field, name]) => [field, parameters.get(name) ?? (field === 'timezone' ? 'UTC' : '')]));
}

/** What a new rule starts with: in the zone of the page. */
export const freshCron = () => ({ ...NEW_CRON, timezone: timeZone.peek() });

export function Cron() {
  const value = cronFrom(query.value) ?? freshCron();
  const preview = usePreview(cronRule(value));
  return html`
    <div class="page-head"><h1>Cron builder</h1>
      ${may('operate') && html`<div class="actions"><a class="button primary" href=${to('/schedules/new', cronQuery(value))}>Create a schedule of it</a></div>`}
    </div>
    <div class="stack">
      <div class="panel"><div class="body">
        <${CronBuilder} value=${value} problem=${preview.problem} onChange=${(changed) => setQuery(cronQuery(changed), { replace: true })} />
      </div></div>
      <${RulePreview} preview=${preview} />
      <div class="same"><span class="quiet">The same on the command line</span><${Command} text=${commandOf(value)} /></div>
    </div>`;
}

function commandOf({ expression, timezone, gap, overlap, seconds, days }) {
  const options = [
    timezone && timezone !== 'UTC' && `--tz ${timezone}`, gap && `--gap ${gap}`, overlap && `--dst-overlap ${overlap}`,
    seconds && `--seconds ${seconds}`, days && `--days ${days}`,
  ];
  return ['duetime cron', quoted(expression), ...options.filter(Boolean)].join(' ');
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

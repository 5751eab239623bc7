/** The cron builder: each control writes the text, and the text sets each control. Only the API evaluates it. */
import { html, useState } from '../vendor/preact.js';
import {
  caretLine, controlsOf, defaultDst, expressionOf, FIELDS, HOUR_STEPS, MINUTE_STEPS, MONTHS, WEEKDAY_NAMES, WEEKDAYS, withKind,
} from '../models/cron.js';
import { allZones } from '../zone.js';
import { Choice, Choices, errorOf, TextField, useId } from './form.js';

const KINDS = [
  ['minutes', 'every few minutes'], ['hours', 'every few hours'], ['days', 'on days of the week'], ['month', 'every month'],
  ['year', 'every year'], ['fields', 'field by field'], ['text', 'as text only'],
];
const ORDINALS = [['1', 'first'], ['2', 'second'], ['3', 'third'], ['4', 'fourth'], ['5', 'fifth'], ['L', 'last']];
const DAYS = [
  ...Array.from({ length: 31 }, (_, place) => [String(place + 1), `day ${place + 1}`]),
  ['L', 'the last day'], ['LW', 'the last Monday to Friday'],
];

const GAPS = [['shift', 'run after the gap'], ['skip', 'leave it out']];
const OVERLAPS = [['first', 'run the first time'], ['last', 'run the last time'], ['both', 'run both times']];

/** What the builder starts with. */
export const NEW_CRON = { expression: '0 9 * * 1-5', timezone: 'UTC', gap: '', overlap: '', seconds: '', days: '' };

/** Returns the rule as the API takes it. */
export function cronRule({ expression, timezone, gap, overlap, seconds, days }) {
  const dst = { ...(gap && { gap }), ...(overlap && { overlap }) };
  return {
    type: 'cron', expression, timezone,
    ...(seconds && { seconds }),
    ...(days && { days }),
    ...((gap || overlap) && { dst }),
  };
}

/** Whether the expression names local times, so that they move in UTC when the clock changes. */
export const isFixed = ({ expression }) => ['days', 'month', 'year'].includes(controlsOf(expression).kind);

/**
 * @param {{value: object, onChange: (value: object) => void, problem: object|null}} props `problem` is the refusal of the
 *   last preview
 */
export function CronBuilder({ value, onChange, problem }) {
  const [wanted, setWanted] = useState(null); // of the kinds that can show every expression
  const controls = controlsAs(wanted, value.expression);
  const change = (fields) => onChange({ ...value, ...fields });
  const write = (changed) => change({ expression: expressionOf(changed, value.expression) });
  const choose = (kind) => {
    setWanted(['fields', 'text'].includes(kind) ? kind : null);
    write(withKind(controls, kind, value.expression));
  };
  return html`
    <div class="cron">
      <div class="cron-controls">
        <${Choice} label="Runs" value=${controls.kind} options=${KINDS} onChange=${choose} />
        <${Controls} controls=${controls} write=${(fields) => write({ ...controls, ...fields })} />
      </div>
      <${Expression} value=${value.expression} onChange=${(expression) => change({ expression })} problem=${problem} />
      <div class="fields">
        <${ZoneField} label="Time zone" value=${value.timezone} onChange=${(timezone) => change({ timezone })} error=${errorOf(problem, 'rule.timezone')} />
        <${Choice} label="A local time that does not exist" value=${value.gap} onChange=${(gap) => change({ gap })}
          options=${withDefault(GAPS, defaultDst(value.expression)?.gap)} />
        <${Choice} label="A local time that comes twice" value=${value.overlap} onChange=${(overlap) => change({ overlap })}
          options=${withDefault(OVERLAPS, defaultDst(value.expression)?.overlap)} />
        ${hasSeconds(value) && html`<${Choice} label="The second is" value=${value.seconds} onChange=${(seconds) => change({ seconds })} error=${errorOf(problem, 'rule.seconds')}
          options=${[['', 'choose'], ['first', 'the first field'], ['last', 'the last field']]} />`}
        ${hasBothDays(value) && html`<${Choice} label="A day must match" value=${value.days} onChange=${(days) => change({ days })}
          options=${[['', 'one of the two'], ['both', 'both: date and weekday']]} />`}
      </div>
    </div>`;
}

function controlsAs(wanted, expression) {
  const controls = controlsOf(expression);
  return wanted && controls.kind !== 'text' ? { ...controls, kind: wanted } : controls;
}

/** The choices, and before them the default, in the words of the choice that it is. */
function withDefault(choices, byDefault) {
  const [, words] = choices.find(([each]) => each === byDefault) ?? [];
  return [['', words ? `default: ${words}` : 'default of the expression'], ...choices];
}

const hasSeconds = ({ expression, seconds }) => Boolean(seconds) || expression.trim().split(/\s+/).length === 6;

function hasBothDays({ expression, days }) {
  const { kind, fields } = controlsOf(expression);
  return Boolean(days) || (kind === 'fields' && [fields[2], fields[4]].every((field) => !/^[*?]$/.test(field)));
}

/** The text, and under it a caret at what is wrong. */
function Expression({ value, onChange, problem }) {
  const id = useId();
  const error = problem?.errors?.find(({ field }) => field === 'rule.expression');
  const message = error?.message.replace(/ \(at position \d+\)$/, '');
  return html`
    <div class="field expression">
      <label for=${id}>Cron expression</label>
      <input id=${id} class="mono" value=${value} maxlength="256" spellcheck=${false} autocapitalize="off" autocomplete="off"
        aria-invalid=${error ? 'true' : undefined} aria-describedby=${`${id}-error`} onInput=${({ currentTarget }) => onChange(currentTarget.value)} />
      <div id=${`${id}-error`} class="caret" aria-live="polite">
        ${error && html`${error.position && html`<pre aria-hidden="true">${caretLine(error.position)}</pre>`}<span class="error">${message}</span>`}
      </div>
    </div>`;
}

function Controls({ controls, write }) {
  switch (controls.kind) {
    case 'minutes':
      return html`<${Choice} label="Every" value=${String(controls.every)} options=${steps(MINUTE_STEPS, 'minute')} onChange=${(every) => write({ every: Number(every) })} />`;
    case 'hours':
      return html`
        <${Choice} label="Every" value=${String(controls.every)} options=${steps(HOUR_STEPS, 'hour')} onChange=${(every) => write({ every: Number(every) })} />
        <${TextField} label="At minute" type="number" min="0" max="59" value=${String(controls.minute)} onChange=${(minute) => minute !== '' && write({ minute: Number(minute) })} />`;
    case 'days':
      return html`<${At} ...${{ controls, write }} /><${Weekdays} chosen=${controls.weekdays} onChange=${(weekdays) => write({ weekdays })} />`;
    case 'month':
      return html`<${Monthly} ...${{ controls, write }} /><${At} ...${{ controls, write }} />`;
    case 'year':
      return html`
        <${Choice} label="Month" value=${String(controls.month)} options=${MONTHS.map((name, place) => [String(place + 1), name])} onChange=${(month) => write({ month: Number(month) })} />
        <${Choice} label="Day" value=${controls.day} options=${DAYS.slice(0, 31)} onChange=${(day) => write({ day })} />
        <${At} ...${{ controls, write }} />`;
    case 'fields':
      return html`<div class="five">${FIELDS.map((name, place) => html`
        <${TextField} key=${name} label=${name} value=${controls.fields[place]} onChange=${(text) => write({ fields: controls.fields.with(place, text.replaceAll(' ', '')) })} />`)}</div>`;
    default:
      return html`<p class="quiet">No controls show this expression. Change the text below.</p>`;
  }
}

const steps = (counts, unit) => counts.map((each) => [String(each), each === 1 ? unit : `${each} ${unit}s`]);
const two = (number) => String(number).padStart(2, '0');

function At({ controls: { hour, minute }, write }) {
  const number = (name, value, max) => html`
    <input type="number" aria-label=${name} min="0" max=${max} value=${two(value)} onInput=${({ currentTarget: { value: text } }) => text !== '' && write({ [name]: Number(text) })} />`;
  return html`<fieldset><legend>At</legend><div class="at">${number('hour', hour, 23)}<span aria-hidden="true">:</span>${number('minute', minute, 59)}</div></fieldset>`;
}

function Weekdays({ chosen, onChange }) {
  const toggle = (day) => {
    const next = chosen.includes(day) ? chosen.filter((each) => each !== day) : [...chosen, day];
    if (next.length) onChange(next);
  };
  return html`
    <fieldset class="choices"><legend>On</legend>
      <div class="segments">${WEEKDAYS.map(([day, short]) => html`
        <label key=${day} title=${WEEKDAY_NAMES[day]}><input class="unseen" type="checkbox" aria-label=${WEEKDAY_NAMES[day]} checked=${chosen.includes(day)} onChange=${() => toggle(day)} /><span aria-hidden="true">${short}</span></label>`)}
      </div>
    </fieldset>`;
}

function Monthly({ controls, write }) {
  const byWeekday = controls.on === 'weekday';
  return html`
    <${Choices} label="On a" value=${controls.on} options=${[['day', 'date'], ['weekday', 'weekday']]} onChange=${(on) => write({ on })} />
    ${byWeekday
      ? html`
        <${Choice} label="The" value=${controls.nth} options=${ORDINALS} onChange=${(nth) => write({ nth })} />
        <${Choice} label="Weekday" value=${String(controls.weekday)} options=${WEEKDAYS.map(([day]) => [String(day), WEEKDAY_NAMES[day]])} onChange=${(weekday) => write({ weekday: Number(weekday) })} />`
      : html`<${Choice} label="Day" value=${controls.day} options=${DAYS} onChange=${(day) => write({ day })} />`}`;
}

/** An IANA zone, with suggestions. */
export function ZoneField({ label, value, onChange, error }) {
  const id = useId();
  return html`
    <${TextField} label=${label} value=${value} onChange=${onChange} error=${error} list=${`${id}-zones`} placeholder="Europe/Berlin" />
    <datalist id=${`${id}-zones`}>${allZones().map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}

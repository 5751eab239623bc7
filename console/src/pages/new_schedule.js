/** A new schedule, or a change of one: when, what, and what if. */
import { html, useState } from '../vendor/preact.js';
import { post, put } from '../api.js';
import { may } from '../live.js';
import { bodyText, formOf, NEW_FORM, rulesOf, UNITS } from '../models/schedule_form.js';
import { Command } from '../parts/copy.js';
import { CronBuilder, cronRule } from '../parts/cron_builder.js';
import { MISFIRES, OVERLAPS } from '../parts/definition.js';
import { Choice, Choices, errorOf, TextField } from '../parts/form.js';
import { Loaded, ProblemNote } from '../parts/notes.js';
import { usePreview } from '../parts/preview.js';
import { RulePreview } from '../parts/rule_preview.js';
import { getWithSource, sourceAt } from '../parts/source.js';
import { JsonField, TargetForm } from '../parts/target_form.js';
import { toast } from '../parts/toast.js';
import { navigate, query, to } from '../router.js';
import { curl } from '../snippets.js';
import { useRead } from '../state.js';
import { cronFrom, freshCron } from './cron.js';

const KINDS = [['cron', 'at times of day'], ['rate', 'at an interval'], ['delay', 'after each run'], ['json', 'as JSON']];
const PRIORITIES = ['high', 'medium', 'low'].map((name) => [name, name]);
const options = (words) => Object.entries(words);

export function NewSchedule() {
  const [form] = useState(() => ({ ...NEW_FORM, namespace: query.peek().get('ns') || 'default', cron: cronFrom(query.peek()) ?? freshCron() }));
  return html`<${ScheduleForm} title="New schedule" action="Create" initial=${form} save=${(body) => post('schedules', body)} />`;
}

export function EditSchedule({ id }) {
  const read = useRead(`schedules/${id}`, {}, { load: getWithSource, again: false });
  return html`<${Loaded} read=${read}>${(schedule) => html`
    <${ScheduleForm} title=${`Change ${schedule.name || 'the schedule'}`} action="Save" stays save=${(body) => put(`schedules/${id}`, body)}
      initial=${formOf(schedule, sourceAt(schedule, 'task.payload'), cronOf)} />`}</${Loaded}>`;
}

/** Returns the value of the builder for a stored rule. */
const cronOf = ({ expression, timezone, dst = {}, seconds = '', days = '' }) => ({
  expression, timezone, gap: dst.gap ?? '', overlap: dst.overlap ?? '', seconds, days,
});

function ScheduleForm({ title, action, initial, save, stays = false }) {
  const [form, setForm] = useState(initial);
  const [state, setState] = useState({ busy: false, problem: null });
  const change = (fields) => setForm((before) => ({ ...before, ...fields }));
  const { rule, broken } = ruleOf(form);
  const preview = usePreview(rule);
  const { body, problem: unreadable } = bodyOf(form);
  const problem = state.problem ?? unreadable;
  const submit = async (event) => {
    event.preventDefault();
    if (unreadable) {
      setState({ busy: false, problem: unreadable });
      return;
    }
    setState({ busy: true, problem: null });
    try {
      const schedule = await save(body);
      toast(action === 'Create' ? 'Created' : 'Saved');
      navigate(to(`/schedules/${schedule.id}`));
    } catch (refused) {
      setState({ busy: false, problem: refused });
    }
  };
  return html`
    <form class="schedule-form" onSubmit=${submit} onInput=${() => state.problem && setState({ busy: false, problem: null })}>
      <div class="page-head"><h1>${title}</h1></div>
      <div class="split even">
        <div class="stack">
          <section class="panel"><div class="head"><h2>When</h2></div><div class="body form">
            <${Choices} label="It fires" unseen value=${form.kind} options=${KINDS} onChange=${(kind) => change({ kind })} />
            <${When} form=${form} change=${change} problem=${broken ?? preview.problem ?? problem} />
          </div></section>
          <section class="panel"><div class="head"><h2>What</h2></div><div class="body"><${TargetForm} form=${form} change=${change} problem=${problem} /></div></section>
          <section class="panel"><div class="head"><h2>What if</h2></div><div class="body"><${WhatIf} form=${form} change=${change} problem=${problem} /></div></section>
        </div>
        <div class="stack">
          <section class="panel"><div class="body form">
            <div class="fields">
              <${TextField} label="Name" value=${form.name} onChange=${(name) => change({ name })} maxlength="256" placeholder="daily-report" error=${errorOf(problem, 'name')} />
              <${TextField} label="Namespace" value=${form.namespace} onChange=${(namespace) => change({ namespace })} maxlength="128" disabled=${stays} error=${errorOf(problem, 'task.namespace')} />
              <${Choice} label="Priority" value=${form.priority} options=${PRIORITIES} onChange=${(priority) => change({ priority })} />
            </div>
            <${ProblemNote} problem=${state.problem} />
            <div class="row">${may('operate') && html`<button class="primary" type="submit" disabled=${state.busy}>${action}</button>`}<a class="button" href=${to('/schedules')}>Back</a></div>
          </div></section>
          <${RulePreview} preview=${preview} />
          ${body && action === 'Create' && html`<details class="same"><summary>The same with curl</summary><${Command} text=${curl({ method: 'POST', path: 'schedules', body })} /></details>`}
        </div>
      </div>
    </form>`;
}

/** The rule for the preview. One that is not JSON has a problem instead; several are previewed in their first one. */
function ruleOf(form) {
  try {
    const { rule, rules } = rulesOf(form, cronRule);
    return { rule: rule ?? rules?.[0] ?? null, broken: null };
  } catch (error) {
    return { rule: null, broken: problemOf(error) };
  }
}

function bodyOf(form) {
  try {
    return { body: bodyText(form, cronRule), problem: null };
  } catch (error) {
    return { body: null, problem: problemOf(error) };
  }
}

const problemOf = ({ field, message }) => ({ title: 'The form is not complete', errors: [{ field, message }] });

function When({ form, change, problem }) {
  if (form.kind === 'cron') return html`<${CronBuilder} value=${form.cron} onChange=${(cron) => change({ cron })} problem=${problem} />`;
  if (form.kind === 'json') {
    return html`<${JsonField} label="Rule, or a list of rules" value=${form.rules} onChange=${(rules) => change({ rules })} error=${errorOf(problem, 'rule', 'rules')}
      hint=${html`such as <code>${'{"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}'}</code>`} />`;
  }
  const error = errorOf(problem, 'rule');
  return html`
    <div class="fields">
      <${TextField} label=${form.kind === 'rate' ? 'Every' : 'After'} type="number" min="1" step="any" value=${form.every} onChange=${(every) => change({ every })} error=${error} />
      <${Choice} label="Unit" value=${form.unit} options=${Object.keys(UNITS).map((name) => [name, name])} onChange=${(unit) => change({ unit })} />
    </div>
    <p class="quiet">${form.kind === 'rate' ? 'Counted from when the schedule is created, however long a run takes.' : 'Counted from the end of the previous run, whether it succeeded or not.'}</p>`;
}

function WhatIf({ form, change, problem }) {
  const field = (name, label, more = {}) => html`
    <${TextField} label=${label} type="number" min="0" step="any" value=${form[name]} onChange=${(value) => change({ [name]: value })} error=${errorOf(problem, more.field ?? name)} ...${more} />`;
  return html`
    <div class="form">
      <div class="fields">
        <${Choice} label="The previous run is not over" value=${form.overlap} options=${options(OVERLAPS)} onChange=${(overlap) => change({ overlap })} error=${errorOf(problem, 'overlap')} />
        <${Choice} label="A run cannot start in time" value=${form.policy} options=${options(MISFIRES)} onChange=${(policy) => change({ policy })} error=${errorOf(problem, 'misfire.policy')} />
      </div>
      <details><summary>More</summary><div class="fields more-fields">
        ${field('grace', 'In time is within (seconds)', { field: 'misfire.grace' })}
        ${field('jitter', 'Spread starts over (seconds)')}
        ${field('max_runs', 'Runs at most', { placeholder: 'any number' })}
        ${field('pause_on_failure', 'Pause after dead runs in a row', { placeholder: 'never' })}
        <${TextField} label="Not on these dates" value=${form.dates} onChange=${(dates) => change({ dates })} placeholder="2026-12-24, 2026-12-25" error=${errorOf(problem, 'exclude')} />
      </div></details>
    </div>`;
}

/** What a run does: the target and the payload of a form. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { get } from '../api.js';
import { Choice, Choices, errorOf, Field, TextField, useId } from './form.js';

const TYPES = [['python', 'Python handler'], ['http', 'HTTP call'], ['json', 'other, as JSON']];
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((name) => [name, name]);

/** @param {{form: object, change: (fields: object) => void, problem: object|null}} props */
export function TargetForm({ form, change, problem }) {
  return html`
    <div class="form">
      <${Choices} label="A run" value=${form.type} options=${TYPES} onChange=${(type) => change({ type })} />
      ${form.type === 'python' && html`<${HandlerField} value=${form.handler} onChange=${(handler) => change({ handler })} error=${errorOf(problem, 'task.target')} />`}
      ${form.type === 'http' && html`<div class="fields http">
        <${Choice} label="Method" value=${form.method} options=${METHODS} onChange=${(method) => change({ method })} error=${errorOf(problem, 'task.target.method')} />
        <${TextField} label="URL" value=${form.url} onChange=${(url) => change({ url })} placeholder="https://…" maxlength="8192" error=${errorOf(problem, 'task.target.url', 'task.target')} />
      </div>`}
      ${form.type === 'json' && html`<${JsonField} label="Target" value=${form.target} onChange=${(target) => change({ target })} error=${errorOf(problem, 'task.target')} hint="sqs, sns, eventbridge, lambda, stepfunctions, dynamodb, sql, email or workflow" />`}
      <${JsonField} label="Payload" value=${form.payload} onChange=${(payload) => change({ payload })} error=${errorOf(problem, 'task.payload')} hint=${html`JSON; <code>${'"{{scheduled_for}}"'}</code> becomes the fire time`} />
    </div>`;
}

export function JsonField({ label, value, onChange, error, hint }) {
  return html`<${Field} label=${label} error=${error} hint=${hint}>${(attributes) => html`
    <textarea ...${attributes} rows="4" spellcheck=${false} value=${value} onInput=${({ currentTarget }) => onChange(currentTarget.value)} />`}</${Field}>`;
}

/** The handlers that the API knows are suggestions; where it lists none, any name may be typed. */
function HandlerField({ value, onChange, error }) {
  const id = useId();
  const [names, setNames] = useState([]);
  useEffect(() => {
    get('handlers', {}).then(({ items }) => setNames(items.map(({ name }) => name)), () => setNames([]));
  }, []);
  return html`
    <${TextField} label="Handler" value=${value} onChange=${onChange} error=${error} list=${`${id}-names`} placeholder="reports.daily" maxlength="256" />
    <datalist id=${`${id}-names`}>${names.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}

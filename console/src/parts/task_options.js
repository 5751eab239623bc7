/** The fields of a task that most tasks leave as they are. */
import { html, useState } from '../vendor/preact.js';
import { useRead } from '../state.js';
import { Choice, TextField } from './form.js';

export const NO_OPTIONS = {
  name: '', namespace: '', tags: '', max_attempts: '', timeout: '', pool: '', limits: [], ordering_key: '', on_dead: '', fairness_key: '',
  jitter: '', expires_at: '', unique_key: '',
};
const MOST_LIMITS = 2;
const EMPTY = { name: '', key: '' };
const isGiven = ({ name, key }) => Boolean(name || key);
const ON_DEAD = [['', 'the next one starts'], ['block', 'those behind it wait']];

/** Returns the limits of a form as the API takes them. */
export const limitsOf = (limits) => limits.filter(isGiven).map(({ name, key, on_full: onFull }) => ({ name, ...(key && { key }), ...(onFull && onFull !== 'queue' && { on_full: onFull }) }));

/** @param {{fields: object, change: (fields: object) => void, wrong: Record<string, string>}} props `wrong` has what the API, or this form, says about a field */
export function TaskOptions({ fields, change, wrong }) {
  const given = Object.entries(NO_OPTIONS).some(([name, none]) => (name === 'limits' ? fields.limits.some(isGiven) : name !== 'namespace' && fields[name] !== none));
  const [opened, setOpened] = useState(false); // once; the fields below are read then
  const text = (name, label, more = {}) => html`<${TextField} label=${label} value=${fields[name]} error=${wrong[name]} onChange=${(value) => change({ [name]: value })} ...${more} />`;
  return html`
    <details open=${given || opened} onToggle=${({ currentTarget }) => currentTarget.open && setOpened(true)}><summary>More</summary>
      <div class="fields more">
        ${text('name', 'Name')}
        ${text('namespace', 'Namespace', { placeholder: 'default' })}
        ${text('max_attempts', 'Attempts', { inputmode: 'numeric', placeholder: '5', error: wrong['retry.max_attempts'] })}
        ${text('timeout', 'Timeout, seconds', { inputmode: 'decimal', placeholder: '60' })}
        ${text('tags', 'Tags', { hint: 'team:growth, kind:mail' })}
        ${text('ordering_key', 'Ordering key', { hint: 'tasks with one key start one at a time', maxlength: 128 })}
        ${fields.ordering_key && html`<${Choice} label="If it dies" value=${fields.on_dead} options=${ON_DEAD} error=${wrong.on_dead} onChange=${(value) => change({ on_dead: value })} />`}
        ${text('fairness_key', 'Fairness key', { hint: 'tasks with different keys take turns', maxlength: 128 })}
        ${text('jitter', 'Jitter, seconds', { hint: 'adds 0 to this many to the due time', inputmode: 'decimal', placeholder: '0' })}
        ${text('expires_at', 'Expires (UTC)', { hint: 'is not started later', type: 'datetime-local', step: '0.001' })}
        ${text('unique_key', 'Unique key', { hint: 'at most one live task has it', maxlength: 128, error: wrong['unique.key'] ?? wrong.unique })}
        ${opened && html`<${Pool} value=${fields.pool} error=${wrong.pool} onChange=${(pool) => change({ pool })} />`}
      </div>
      ${opened && html`<${Limits} limits=${fields.limits} namespace=${fields.namespace || 'default'} wrong=${wrong} onChange=${(limits) => change({ limits })} />`}
    </details>`;
}

/** The pools are those that have lanes. */
function Pool({ value, error, onChange }) {
  const lanes = useRead('lanes', {}, { again: false });
  const pools = new Set((lanes.data?.items ?? []).filter(({ lane }) => lane.includes('/')).map(({ lane }) => lane.split('/')[0]));
  if (value) pools.add(value);
  if (!pools.size) return null;
  return html`<${Choice} label="Pool" value=${value} error=${error} options=${[['', 'none'], ...[...pools].map((name) => [name, name])]} onChange=${onChange} hint="whose workers run it" />`;
}

/** A row for each limit, and one for the next. */
function Limits({ limits, namespace, wrong, onChange }) {
  const known = useRead('limits', { namespace: '*', limit: 100 }, { again: false });
  const names = (known.data?.items ?? []).filter((limit) => limit.namespace === namespace).map(({ name }) => name);
  const rows = limits.length < MOST_LIMITS && limits.every(isGiven) ? [...limits, EMPTY] : limits;
  const change = (place, field) => onChange(rows.map((row, each) => (each === place ? { ...row, ...field } : row)).filter((row, each) => each <= place || isGiven(row)));
  return html`
    ${rows.map((row, place) => {
      const sent = rows.slice(0, place).filter(isGiven).length; // its place among those that are sent
      return html`
        <div key=${place} class="fields more">
          <${TextField} label=${place ? 'Second limit' : 'Limit'} value=${row.name} list="limits" maxlength="64" onChange=${(name) => change(place, { name })}
            error=${wrong[`limits.${sent}.name`] ?? wrong[`limits.${sent}.on_full`]} hint=${place ? null : 'it starts when the limit has room'} />
          <${TextField} label=${place ? 'Key of the second limit' : 'Key of the limit'} value=${row.key} maxlength="128" placeholder="none" onChange=${(key) => change(place, { key })} error=${wrong[`limits.${sent}.key`]} />
        </div>`;
    })}
    <datalist id="limits">${names.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}

/** Submit a task: try it, with the same call as curl and Python beside the form. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { call, get, Problem } from '../api.js';
import { field, parse, pretty, sourceOf } from '../json.js';
import { may } from '../live.js';
import { Snippets } from '../parts/code.js';
import { Empty, Note, ProblemNote } from '../parts/notes.js';
import { limitsOf, NO_OPTIONS, TaskOptions } from '../parts/task_options.js';
import { toast } from '../parts/toast.js';
import { navigate, query, to } from '../router.js';
import { namespace, useRead } from '../state.js';

const TYPES = ['python', 'http', 'sqs', 'sns', 'eventbridge', 'lambda', 'stepfunctions', 'dynamodb', 'email', 'sql', 'workflow'];
/** What each target needs at least, to begin with. */
const TARGETS = {
  sqs: { type: 'sqs', queue_url: '' }, sns: { type: 'sns', topic_arn: '' }, eventbridge: { type: 'eventbridge', source: '', detail_type: '' },
  lambda: { type: 'lambda', function: '' }, stepfunctions: { type: 'stepfunctions', state_machine_arn: '' }, dynamodb: { type: 'dynamodb', table: '' },
  email: { type: 'email', to: '' }, sql: { type: 'sql', database: '', statement: '' }, workflow: { type: 'workflow', workflow: '' },
};
const START = {
  type: 'python', handler: '', method: 'POST', url: '', target: '', payload: '', when: 'now', delay: '60', run_at: '', priority: '', ...NO_OPTIONS,
  retry: {}, unique: {}, // of a task that is submitted again: what the form has no fields for
};

export function New() {
  const from = query.value.get('from');
  const handlers = useRead('handlers', {}, { again: false });
  const [fields, setFields] = useState(() => ({ ...START, handler: query.value.get('handler') ?? '', namespace: namespace.value === '*' ? '' : namespace.value }));
  const [state, setState] = useState({ busy: false, problem: null });
  useEffect(() => {
    if (from) fieldsOf(from).then((found) => setFields({ ...START, ...found }), (problem) => setState({ busy: false, problem }));
  }, [from]);
  const known = handlers.data?.items ?? [];
  const none = handlers.data?.items.length === 0;
  const handler = known.find(({ name }) => name === fields.handler);
  const { body, errors } = useMemo(() => bodyOf(fields), [fields]);
  const wrong = { ...errors, ...fieldErrors(state.problem) };
  const set = (name) => ({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value });
  const submit = async (event) => {
    event?.preventDefault();
    if (Object.keys(errors).length) return;
    setState({ busy: true, problem: null });
    try {
      const task = await call('POST', 'tasks', { body });
      toast('Submitted');
      navigate(to(`/tasks/${task.id}`, { from: '', ns: query.value.get('ns') }));
    } catch (problem) {
      setState({ busy: false, problem });
    }
  };
  const input = { fields, set, wrong };
  return html`
    <div class="page-head"><h1>${from ? 'Submit again' : 'New task'}</h1></div>
    <div class="split even">
      <form class="panel form" onSubmit=${submit}>
        <div class="body form">
          <${TargetFields} ...${input} known=${known} none=${none} handler=${handler} setFields=${setFields} />
          <${Field} label="Payload, JSON" error=${wrong.payload} hint=${handler?.doc}>
            <textarea rows="7" spellcheck=${false} value=${fields.payload} aria-invalid=${Boolean(wrong.payload)} placeholder='{"name": "Ada"}' onInput=${set('payload')}></textarea></${Field}>
          ${handler?.payload_schema && html`<${Schema} schema=${handler.payload_schema} fill=${(payload) => setFields({ ...fields, payload })} />`}
          <fieldset class="fields"><legend class="unseen">When</legend>
            <${Field} label="When"><select value=${fields.when} onChange=${set('when')}><option value="now">Now</option><option value="delay">After a delay</option><option value="run_at">At a time (UTC)</option></select></${Field}>
            ${fields.when === 'delay' && html`<${Field} label="Delay, seconds" error=${wrong.delay}><input inputmode="decimal" value=${fields.delay} aria-invalid=${Boolean(wrong.delay)} onInput=${set('delay')} /></${Field}>`}
            ${fields.when === 'run_at' && html`<${Field} label="Time (UTC)" error=${wrong.run_at}><input type="datetime-local" value=${fields.run_at} onInput=${set('run_at')} /></${Field}>`}
            <${Field} label="Priority"><select value=${fields.priority} onChange=${set('priority')}><option value="">Default</option>${['high', 'medium', 'low'].map((name) => html`<option key=${name}>${name}</option>`)}</select></${Field}>
          </fieldset>
          <${TaskOptions} fields=${fields} wrong=${wrong} change=${(changed) => setFields({ ...fields, ...changed })} />
          <${ProblemNote} problem=${state.problem} />
          ${may('operate') && html`<div class="row"><button class="primary" disabled=${state.busy || Object.keys(errors).length > 0}>Submit</button></div>`}
        </div>
      </form>
      <section class="panel" aria-label="The same call"><div class="head"><h2>The same call</h2></div><div class="body">
        <${Snippets} call=${{ method: 'POST', path: 'tasks', body, call: 'client.submit(**)' }} /></div></section>
    </div>`;
}

/** A field with its label, its hint and what is wrong with it. */
export function Field({ label, hint, error, children }) {
  return html`<label class="field"><span>${label}</span>${children}${hint && html`<span class="hint">${hint}</span>`}${error && html`<span class="error">${error}</span>`}</label>`;
}

function TargetFields({ fields, set, wrong, known, none, handler, setFields }) {
  const setType = ({ currentTarget: { value } }) => setFields({ ...fields, type: value, target: TARGETS[value] ? JSON.stringify(TARGETS[value], null, 2) : '' });
  return html`
    <div class="fields">
      <${Field} label="Target"><select value=${fields.type} onChange=${setType}>${TYPES.map((name) => html`<option key=${name}>${name}</option>`)}</select></${Field}>
      ${fields.type === 'python' && html`
        <${Field} label="Handler" error=${wrong['target.handler']} hint=${handler?.module && `${handler.module}${handler.line ? `:${handler.line}` : ''}`}>
          <input list="handlers" value=${fields.handler} required aria-invalid=${Boolean(wrong['target.handler'])} placeholder="shop.restock" spellcheck=${false} autocomplete="off" onInput=${set('handler')} /></${Field}>
        <datalist id="handlers">${known.map(({ name, doc }) => html`<option key=${name} value=${name}>${doc}</option>`)}</datalist>`}
      ${fields.type === 'http' && html`
        <${Field} label="Method"><select value=${fields.method} onChange=${set('method')}>${['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((name) => html`<option key=${name}>${name}</option>`)}</select></${Field}>`}
    </div>
    ${fields.type === 'http' && html`<${Field} label="URL" error=${wrong['target.url']}><input type="url" value=${fields.url} required placeholder="https://example.com/hook" aria-invalid=${Boolean(wrong['target.url'])} onInput=${set('url')} /></${Field}>`}
    ${fields.target !== '' && html`<${Field} label=${`Target, JSON`} error=${wrong.target}><textarea rows="6" spellcheck=${false} value=${fields.target} aria-invalid=${Boolean(wrong.target)} onInput=${set('target')}></textarea></${Field}>`}
    ${none && fields.type === 'python' && html`<${Note}>No handlers are registered. Start the runner with <code>duetime local --handlers handlers</code>.</${Note}>`}`;
}

/** The parameters of a handler, and a payload to begin with. */
function Schema({ schema, fill }) {
  const required = new Set(schema.required ?? []);
  const properties = Object.entries(schema.properties ?? {});
  if (!properties.length) return null;
  const example = Object.fromEntries(properties.filter(([name]) => required.has(name)).map(([name, each]) => [name, exampleOf(each, schema)]));
  return html`<div class="schema"><dl class="facts">${properties.map(([name, each]) => html`<dt key=${name}><code>${name}</code></dt>
    <dd class="quiet">${typeOf(each)}${required.has(name) ? ', required' : each.default !== undefined ? `, default ${JSON.stringify(each.default)}` : ''}${each.description && ` · ${each.description}`}</dd>`)}</dl>
    <button type="button" class="small" onClick=${() => fill(JSON.stringify(example, null, 2))}>Fill in</button></div>`;
}

function typeOf(schema) {
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  return schema.$ref?.split('/').pop() ?? schema.format ?? schema.type ?? 'any';
}

const EXAMPLES = { string: '', integer: 0, number: 0, boolean: false, array: [], object: {} };

function exampleOf(schema, root) {
  const named = schema.$ref && root.$defs?.[schema.$ref.split('/').pop()];
  if (named) return exampleOf(named, root);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  return EXAMPLES[schema.type] ?? null;
}

/** Returns the body as JSON text, so that numbers of the payload stay as they were typed, and what is wrong. */
function bodyOf(fields) {
  const errors = {};
  const parts = [];
  const add = (name, text) => parts.push(`${JSON.stringify(name)}: ${text}`);
  const json = (name, text) => {
    try {
      add(name, pretty(parse(text), '  '));
    } catch (error) {
      errors[name] = `Not JSON: ${error.message}`;
    }
  };
  const number = (name, text, wrong = name) => {
    if (text === '' || Number.isNaN(Number(text))) errors[wrong] = 'Not a number';
    else add(name, String(Number(text)));
  };
  if (fields.target) json('target', fields.target);
  else if (fields.type === 'http') add('target', JSON.stringify({ type: 'http', url: fields.url, ...(fields.method !== 'POST' && { method: fields.method }) }));
  else add('target', JSON.stringify({ type: fields.type, handler: fields.handler }));
  if (fields.payload.trim()) json('payload', fields.payload);
  if (fields.when === 'delay') number('delay', fields.delay);
  if (fields.when === 'run_at' && fields.run_at) add('run_at', JSON.stringify(`${fields.run_at}:00Z`));
  for (const name of ['priority', 'pool', 'name', 'namespace', 'ordering_key', 'fairness_key']) if (fields[name]) add(name, JSON.stringify(fields[name]));
  if (fields.timeout) number('timeout', fields.timeout);
  const retry = { ...(fields.max_attempts && { max_attempts: Number(fields.max_attempts) || 0 }), ...fields.retry };
  if (Object.keys(retry).length) add('retry', JSON.stringify(retry));
  if (fields.jitter) number('jitter', fields.jitter);
  if (fields.expires_at) add('expires_at', JSON.stringify(new Date(`${fields.expires_at}Z`).toISOString()));
  if (fields.unique_key) add('unique', JSON.stringify({ key: fields.unique_key, ...fields.unique }));
  if (fields.ordering_key && fields.on_dead) add('on_dead', JSON.stringify(fields.on_dead));
  const limits = limitsOf(fields.limits);
  if (limits.length) add('limits', JSON.stringify(limits));
  const tags = tagsOf(fields.tags);
  if (Object.keys(tags).length) add('tags', JSON.stringify(tags));
  return { body: `{\n  ${parts.join(',\n  ')}\n}`, errors };
}

function tagsOf(text) {
  const pairs = text.split(',').map((pair) => pair.trim()).filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split(':')[0].trim(), pair.split(':').slice(1).join(':').trim()]));
}

const fieldErrors = (problem) => Object.fromEntries((problem?.errors ?? []).map(({ field: name, message }) => [name, message]));

const DELAYS = { base_delay: 1, multiplier: 2, max_delay: 3_600, jitter: 0.5 }; // of a task without a retry policy
const isDefault = (delays) => Object.entries(delays).every(([name, value]) => value === DELAYS[name]);

/** Reads a task and returns the fields of the form that submit the same again. */
async function fieldsOf(id) {
  const text = await call('GET', `tasks/${id}`, { text: true });
  const task = JSON.parse(text);
  const source = parse(text);
  const simple = task.target?.type === 'python' && Object.keys(task.target).length === 2;
  const { max_attempts: attempts, ...delays } = task.retry;
  const { key, ...unique } = task.unique ?? { key: '' };
  let payload = sourceOf(field(source, 'payload'));
  if (task.not_shown?.payload) payload = await call('GET', `tasks/${id}/payload`, { text: true });
  return {
    type: task.target?.type ?? 'python', handler: simple ? task.target.handler : '', target: simple ? '' : pretty(field(source, 'target')),
    payload: payload === 'null' ? '' : pretty(parse(payload)), priority: task.priority === 'medium' ? '' : task.priority, name: task.name ?? '',
    namespace: task.namespace === 'default' ? '' : task.namespace, tags: Object.entries(task.tags ?? {}).map(([key, value]) => `${key}:${value}`).join(', '),
    max_attempts: attempts === 5 ? '' : String(attempts), retry: isDefault(delays) ? {} : delays, unique, unique_key: key,
    jitter: task.jitter ? String(task.jitter) : '', expires_at: task.expires_at?.replace('Z', '') ?? '', timeout: task.timeout === 60 ? '' : String(task.timeout),
    pool: task.pool ?? '', limits: (task.limits ?? []).map((use) => ({ ...use, key: use.key ?? '' })), ordering_key: task.ordering_key ?? '',
    on_dead: task.on_dead === 'block' ? 'block' : '', fairness_key: task.fairness_key ?? '',
  };
}

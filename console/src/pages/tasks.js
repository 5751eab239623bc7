/** Tasks: where is my task? The filter is in the URL; bulk actions take the same filter. */
import { html, signal, useEffect, useMemo, useRef, useSignal, useState } from '../vendor/preact.js';
import { get } from '../api.js';
import { ACTIONS, applicable, selects } from '../bulk.js';
import { attempts, counted, REASONS, targetText, taskName } from '../format.js';
import { useKeys } from '../keys.js';
import { may, onReread, still, useHold, useLive } from '../live.js';
import { BulkDialog } from '../parts/bulk_dialog.js';
import { Icon } from '../parts/icon.js';
import { Empty, Loading, Note, ProblemNote } from '../parts/notes.js';
import { Label, Status } from '../parts/status.js';
import { createRows, MOST_ROWS, Table } from '../parts/table.js';
import { announce } from '../parts/toast.js';
import { Waiting } from '../parts/waiting.js';
import { filterOf, fromUrl, parse, print, STATUSES, toUrl, WORDS } from '../query.js';
import { navigate, query, setQuery, to, withQuery } from '../router.js';
import { noteNamespaces } from '../state.js';
import { duration, millis, Time } from '../zone.js';

const PAGE = 100;
const CHIPS = [
  ['All', []], ['To start', ['PENDING', 'ENQUEUED']], ['Running', ['RUNNING']], ['Retrying', ['RETRYING']], ['Waiting', ['WAITING']],
  ['Succeeded', ['SUCCEEDED']], ['Dead', ['DEAD']], ['Cancelled', ['CANCELLED']], ['Expired', ['EXPIRED']],
];

export function Tasks() {
  const view = fromUrl(query.value);
  const soonest = query.value.get('order') === 'soonest';
  const list = useTaskList(filterOf(view), soonest);
  const selected = useSignal(new Set());
  const [bulk, setBulk] = useState(null);
  const [understood, setUnderstood] = useState(true); // what is not could match more than is meant
  useHold(selected.value.size > 0);
  const close = (changed) => {
    setBulk(null);
    selected.value = new Set();
    if (changed) list.read();
  };
  return html`
    <div class="page-head"><h1>Tasks</h1><${Order} soonest=${soonest} /></div>
    <${FilterField} view=${view} onRead=${setUnderstood} />
    <nav class="chips" aria-label="Status">${CHIPS.map(([name, statuses]) => html`
      <a key=${name} href=${withQuery({ status: statuses.join(',') })} aria-current=${String(statuses) === String(view.status) ? 'true' : undefined}>${name}</a>`)}
    </nav>
    <div class="panel tasks" onPointerEnter=${() => (list.hovered.current = true)} onPointerLeave=${() => (list.hovered.current = false)}>
      ${may('operate') && understood && html`<${BulkBar} view=${view} selected=${selected} rows=${list.rows} onAct=${setBulk} />`}
      ${list.news.value > 0 && html`<button class="news" onClick=${list.read}><${Icon} name="refresh" />${counted(list.news.value, 'new task')}</button>`}
      <${Body} list=${list} view=${view} selected=${may('operate') ? selected : undefined} />
    </div>
    ${bulk && html`<${BulkDialog} ...${bulk} onClose=${close} />`}`;
}

function Body({ list, view, selected }) {
  if (!list.rows.keys.value.length) {
    if (list.problem.value) return html`<div class="body"><${ProblemNote} problem=${list.problem.value} retry=${list.read} /></div>`;
    return list.loading.value ? html`<${Loading} rows=${6} />` : html`<${NoTasks} view=${view} list=${list} />`;
  }
  return html`
    ${list.problem.value && html`<div class="body"><${ProblemNote} problem=${list.problem.value} retry=${list.read} /></div>`}
    <${Table} rows=${list.rows} columns=${COLUMNS} href=${(task) => to(`/tasks/${task.id}`)} caption="Tasks" selected=${selected} />
    <${Foot} list=${list} />`;
}

const COLUMNS = [
  { id: 'status', head: 'Status', class: 'bare', cell: (task) => html`<${Status} status=${task.status} />${task.cancel_requested && task.status === 'RUNNING' && html` <${Label} tone="amber">stopping</${Label}>`}` },
  { id: 'name', head: 'Name and target', class: 'main', cell: (task) => html`
      <a href=${to(`/tasks/${task.id}`)}>${taskName(task)}</a>${task.name && html` <span class="target">${targetText(task.target)}</span>`}
      ${task.error && task.status !== 'SUCCEEDED' && html`<span class="sub tone-red error-text">${task.error.type}: ${task.error.message}</span>`}
      ${task.waiting_for && html`<span class="sub"><${Waiting} task=${task} /></span>`}
      ${task.reason && html`<span class="sub">${REASONS[task.reason] ?? task.reason}</span>`}` },
  { id: 'due', head: 'Due', cell: (task) => html`<${Time} at=${task.due_at} />` },
  { id: 'started', head: 'Started', cell: (task) => (task.started_at && !['RETRYING', 'PENDING'].includes(task.status)
    ? html`<${Time} at=${task.started_at} />` : ['PENDING', 'ENQUEUED', 'RETRYING'].includes(task.status) ? html`<span class="quiet"><${Time} at=${task.due_at} as="relative" /></span>` : '–') },
  { id: 'drift', head: 'Drift', class: 'number', cell: (task) => duration(task.drift_ms) },
  { id: 'try', head: 'Attempt', class: 'number', cell: (task) => attempts(task.attempt, task.max_attempts) },
  { id: 'lane', head: 'Lane', class: 'word', cell: (task) => task.lane },
  { id: 'namespace', head: 'Namespace', cell: (task) => html`<a class="quiet" href=${withQuery({ ns: task.namespace })}>${task.namespace}</a>` },
];

function Order({ soonest }) {
  return html`<nav class="chips actions" aria-label="Order">
    <a href=${withQuery({ order: '' })} aria-current=${soonest ? undefined : 'true'}>Newest</a>
    <a href=${withQuery({ order: 'soonest', status: '' })} aria-current=${soonest ? 'true' : undefined}>Due next</a></nav>`;
}

/** The filter as text. Typing replaces the history entry; Enter pushes one, or opens the task of an id. */
function FilterField({ view, onRead }) {
  const shown = print(view);
  const [text, setText] = useState(shown);
  const input = useRef(null);
  const parsed = parse(text);
  useEffect(() => {
    if (print(parse(text).view) !== shown) setText(shown); // the URL has changed: a click, or Back
  }, [shown]);
  const understood = parsed.unknown.length === 0;
  useEffect(() => onRead(understood), [understood]);
  useKeys({ '/': () => input.current.focus() });
  const apply = (typed, options) => {
    setText(typed);
    const { view: wanted } = parse(typed);
    setQuery({ ...toUrl(wanted), ns: wanted.ns || query.value.get('ns') }, options);
  };
  const onKeyDown = (event) => {
    if (event.key !== 'Enter') return;
    if (parsed.open) navigate(to(`/tasks/${parsed.open}`));
    else apply(text);
  };
  return html`
    <div class="filter">
      <${Icon} name="search" />
      <input ref=${input} type="search" aria-label="Filter tasks" aria-describedby="filter-hints" aria-invalid=${parsed.unknown.length > 0} value=${text} spellcheck=${false} autocomplete="off" autocapitalize="off"
        placeholder="Filter: status:DEAD handler:shop.restock tag.team:growth since:24h, or an id" onInput=${({ currentTarget }) => apply(currentTarget.value, { replace: true })} onKeyDown=${onKeyDown} />
      <kbd aria-hidden="true">/</kbd>
      <div id="filter-hints" class="hints">
        ${parsed.unknown.map((pair) => html`<p key=${pair} class="tone-red"><code>${pair}</code> means nothing here. ${hint(pair)}</p>`)}
        ${!text && html`<dl class="words">${Object.entries(WORDS).map(([word, what]) => html`<dt><button type="button" class="link" onMouseDown=${(event) => event.preventDefault()} onClick=${() => { setText(`${word}:`); input.current.focus(); }}>${word}:</button></dt><dd>${what}</dd>`)}</dl>`}
      </div>
    </div>`;
}

/** What could be meant: a value of a word that is known, or another word. */
function hint(pair) {
  const word = pair.split(/[:.]/)[0];
  if (word === 'status') return `Statuses: ${STATUSES.join(', ')}`;
  if (Object.hasOwn(WORDS, word)) return WORDS[word].includes(': ') ? `Write ${WORDS[word].replace(/^.*?: /, '')}` : `${word}: ${WORDS[word]}`;
  return `Words: ${Object.keys(WORDS).join(', ')}`;
}

function BulkBar({ view, selected, rows, onAct }) {
  const ids = [...selected.value];
  if (ids.length) return html`<div class="bulk"><strong>${ids.length} selected</strong>${actionsOnSelected(ids, rows, onAct)}
    <button class="plain" onClick=${() => (selected.value = new Set())}>Clear</button></div>`;
  const filter = filterOf(view);
  if (!selects(filter)) return null;
  return html`<div class="bulk"><span class="quiet">All that match</span>
    ${['retry', 'cancel', 'shift'].map((action) => {
      const body = applicable(action, filter);
      return body && html`<button key=${action} class="small" onClick=${() => onAct({ action, body, what: matching(view) })}>${ACTIONS[action].verb} …</button>`;
    })}</div>`;
}

const matching = (view) => html`<p>Every task that matches</p><p><code>${[view.ns && `ns:${view.ns}`, print(view)].filter(Boolean).join(' ')}</code></p>`;

/** The API cancels by filter, or one task. A few selected ones are cancelled one by one. */
function actionsOnSelected(ids, rows, onAct) {
  const chosen = ids.map((id) => rows.row(id)?.value).filter(Boolean);
  const dead = chosen.filter(({ status }) => status === 'DEAD');
  const live = chosen.filter(({ status }) => ACTIONS.cancel.statuses.includes(status));
  const names = (tasks) => html`<ul>${tasks.slice(0, 5).map((task) => html`<li key=${task.id}>${taskName(task)}</li>`)}${tasks.length > 5 && html`<li class="quiet">and ${tasks.length - 5} more</li>`}</ul>`;
  return html`
    ${dead.length > 0 && html`<button class="small" onClick=${() => onAct({ action: 'redrive', body: { ids: dead.map(({ id }) => id) }, what: names(dead) })}>Retry ${dead.length} …</button>`}
    ${live.length > 0 && html`<button class="small" onClick=${() => onAct({ action: 'cancelEach', body: { ids: live.map(({ id }) => id) }, what: names(live) })}>Cancel ${live.length} …</button>`}`;
}

function Foot({ list }) {
  const shown = list.rows.keys.value.length;
  return html`<div class="foot quiet">
    <span>${counted(shown, 'task')} shown${list.left.value && html`, the first ones left: at most ${MOST_ROWS} are shown`}${list.lookedUntil.value && html`, due until <${Time} at=${list.lookedUntil.value} />`}</span>
    ${list.cursor.value ? html`<button class="small" disabled=${list.adding.value !== null} onClick=${list.more}>Show more</button>` : html`<span>End of the list</span>`}
  </div>`;
}

function NoTasks({ view, list }) {
  const text = print(view);
  if (list.cursor.value) return html`<${Empty} title="No match so far"><p>The newest tasks were read.</p><p><button onClick=${list.more}>Search further</button></p></${Empty}>`;
  if (text || view.ns) {
    return html`<${Empty} title="No task matches"><p class="row">${text && html`<a class="button small" href=${withQuery(toUrl({ ...parse('').view, ns: view.ns }))}>Remove the filter</a>`}
      ${view.ns && html`<a class="button small" href=${withQuery({ ns: '' })}>All namespaces</a>`}</p></${Empty}>`;
  }
  return html`<${Empty} title="No tasks yet" command="duetime submit --handler duetime.hello --in 5"><p>Submit one in a terminal, or <a href=${to('/new')}>here</a>.</p></${Empty}>`;
}

/** Reads pages of the list. Known rows change in place; new ones wait while the pointer is on the table. */
function useTaskList(filter, soonest) {
  const key = JSON.stringify([filter, soonest]);
  const hovered = useRef(false);
  const list = useMemo(() => createList(filter, soonest, hovered), [key]);
  useEffect(() => {
    list.read();
    const stop = onReread(list.reread);
    return () => {
      stop();
      list.end();
    };
  }, [list]);
  useLive({ topic: 'tasks', filter: liveFilter(filter) }, ({ items }) => items && list.apply(items));
  const before = useRef(list); // shown until the list of a new filter has been read
  if (list.loaded.value || list.problem.value) before.current = list;
  return before.current;
}

/** The fields of a filter that live updates know. */
function liveFilter({ namespace, status, handler, schedule_id, run_id, lane }) {
  return clean({ namespace: namespace === '*' ? undefined : namespace, status, handler, schedule_id, run_id, lane });
}

const clean = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const SOON = 1_000;
const AT_ONCE = 40; // changes

function createList(filter, soonest, hovered) {
  const rows = createRows((task) => task.id);
  const list = {
    rows, hovered, ...signals({ loading: true, loaded: false, problem: null, cursor: null, adding: null, news: 0, left: false, lookedUntil: null }),
  };
  let number = 0;
  let pages = [null]; // the cursors of the pages on screen
  let soon = null;
  const coming = []; // changes that are still to be applied
  let later = null;

  // Coming runs of schedules have the newest ids; there they would hide everything else.
  const upcoming = soonest || filter.status || filter.schedule_id || filter.due_since || filter.due_before ? undefined : false;
  const page = (cursor) => get('tasks', { ...filter, fields: 'summary', limit: PAGE, order: soonest ? 'soonest' : undefined, upcoming, cursor });

  /** Reads some pages, one after the other, so that no task is between two of them. */
  async function load(cursor, count, show) {
    const mine = (number += 1);
    list.loading.value = true;
    try {
      let last = await page(cursor);
      const found = [...last.items];
      for (let read = 1; read < count && last.next_cursor; read += 1) {
        last = await page(last.next_cursor);
        found.push(...last.items);
      }
      if (mine !== number) return;
      show(found);
      list.loaded.value = true;
      list.cursor.value = last.next_cursor;
      list.lookedUntil.value = last.looked_until ?? null;
      list.problem.value = null;
      noteNamespaces(rows.list());
    } catch (problem) {
      if (mine === number) list.problem.value = problem;
    }
    if (mine === number) list.loading.value = false;
  }

  list.read = () => {
    pages = [null];
    return load(null, 1, (found) => {
      rows.replace(found);
      list.news.value = 0;
      list.left.value = false;
    });
  };
  list.reread = async () => {
    clearTimeout(soon); // this read is the one
    soon = null;
    await list.adding.peek(); // the page that is on its way: reading again would drop it
    await load(pages[0], pages.length, show);
  };
  const show = (found) => {
    const added = found.filter((task) => !rows.has(task.id));
    if (!hovered.current || !rows.keys.peek().length) {
      rows.replace(found);
      list.news.value = 0;
      return;
    }
    rows.replace(found.filter((task) => rows.has(task.id)));
    list.news.value = pages[0] === null ? added.length : 0;
    if (added.length) announce(counted(added.length, 'new task'));
  };
  list.more = async () => {
    const from = list.cursor.peek();
    list.adding.value = load(from, 1, (found) => {
      pages = [...pages, from].slice(-MOST_ROWS / PAGE);
      if (rows.keys.peek().length + found.length > MOST_ROWS) list.left.value = true;
      rows.append(found);
    });
    await list.adding.peek();
    list.adding.value = null;
  };
  /**
   * Applies changes that are not older than what is shown, and reads soon what is not on screen. Of many, some at once,
   * so that the page answers in between.
   */
  list.apply = (items) => {
    coming.push(...items);
    later ??= setTimeout(applySome);
  };
  const applySome = () => {
    const items = coming.splice(0, AT_ONCE);
    later = coming.length ? setTimeout(applySome) : null;
    for (const change of items) {
      const shown = rows.row(change.task_id)?.peek();
      if (shown && isNewer(change, shown)) rows.change(change.task_id, changed(change));
    }
    if (items.some((change) => !rows.has(change.task_id) || change.error_type)) soon ??= setTimeout(readSoon, SOON);
  };
  const readSoon = () => {
    soon = null;
    if (!still.peek()) list.reread();
  };
  list.end = () => {
    clearTimeout(soon);
    clearTimeout(later);
    number += 1;
  };
  return list;
}

function signals(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, signal(value)]));
}

const isNewer = (change, shown) => change.updated_at > shown.updated_at || (change.updated_at === shown.updated_at && change.attempt >= shown.attempt);

function changed({ status, attempt, updated_at, due_at, drift_ms }) {
  const known = clean({ status, attempt, updated_at, due_at: due_at ?? undefined, drift_ms: drift_ms ?? undefined });
  const startedAt = due_at && typeof drift_ms === 'number' ? { started_at: millis(due_at) + drift_ms } : {};
  return { ...known, ...startedAt };
}

/** A table whose rows change in place: each row has a signal of its own. */
import { batch, html, signal, useRef } from '../vendor/preact.js';
import { useKeys } from '../keys.js';
import { navigate } from '../router.js';

/** Rows in the page at most; older ones leave. */
export const MOST_ROWS = 200;

/** The rows of a table, by key. @param {(row: object) => string} keyOf */
export function createRows(keyOf) {
  const keys = signal([]);
  const rows = new Map();

  function put(row) {
    const key = keyOf(row);
    const known = rows.get(key);
    if (known) known.value = row;
    else rows.set(key, signal(row));
    return key;
  }

  function keep(wanted) {
    const kept = new Set(wanted);
    for (const key of rows.keys()) if (!kept.has(key)) rows.delete(key);
    const same = wanted.length === keys.peek().length && wanted.every((key, place) => key === keys.peek()[place]);
    if (!same) keys.value = wanted;
  }

  return {
    keys,
    has: (key) => rows.has(key),
    row: (key) => rows.get(key),
    list: () => keys.peek().map((key) => rows.get(key).peek()),
    /** Shows these rows; what is already there keeps its place in the page. */
    replace: (list) => batch(() => keep([...new Set(list.map(put))])),
    /** Adds rows at the end. The first ones leave when there are too many. */
    append: (list) => batch(() => keep([...new Set([...keys.peek(), ...list.map(put)])].slice(-MOST_ROWS))),
    /** Changes one row in place. */
    change: (key, fields) => rows.get(key) && (rows.get(key).value = { ...rows.get(key).peek(), ...fields }),
  };
}

/**
 * @param {{rows: object, columns: {id: string, head: any, cell: (row: object) => any, class?: string, label?: string}[],
 *   href?: (row: object) => string, caption: string, selected?: object}} props
 *   `href` is where a row leads; `selected` is a signal of a Set of keys. `label` names a column whose head is not words.
 */
export function Table({ rows, columns, href, caption, selected }) {
  const body = useRef(null);
  const last = useRef(null);
  const move = (step) => {
    const all = [...body.current.rows];
    const place = all.indexOf(document.activeElement.closest('tr'));
    all[Math.max(0, Math.min(all.length - 1, place + step))]?.focus();
  };
  const focused = () => document.activeElement.closest('tr')?.dataset.key;
  const toggle = (key, range = false) => {
    if (!key) return;
    const next = new Set(selected.peek());
    if (range && last.current) for (const each of between(rows.keys.peek(), last.current, key)) next.add(each);
    else if (!next.delete(key)) next.add(key);
    last.current = key;
    selected.value = next;
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(selected && { x: () => toggle(focused()), X: () => toggle(focused(), true) }),
  });
  const all = selected && rows.keys.value.length > 0 && rows.keys.value.every((key) => selected.value.has(key));
  return html`
    <div class="scroll"><table class="rows">
      <caption class="unseen">${caption}</caption>
      <thead><tr>
        ${selected && html`<th class="check"><input type="checkbox" aria-label="Select all rows" checked=${all}
          onChange=${() => (selected.value = new Set(all ? [] : rows.keys.peek()))} /></th>`}
        ${columns.map((column) => html`<th key=${column.id} scope="col" class=${column.class}>${column.head}</th>`)}
      </tr></thead>
      <tbody ref=${body}>
        ${rows.keys.value.map((key) => html`<${Row} key=${key} name=${key} row=${rows.row(key)} ...${{ columns, href, selected, toggle }} />`)}
      </tbody>
    </table></div>`;
}

function between(keys, from, to) {
  const [start, end] = [keys.indexOf(from), keys.indexOf(to)].sort((a, b) => a - b);
  return keys.slice(Math.max(start, 0), end + 1);
}

function Row({ name, row, columns, href, selected, toggle }) {
  const shown = row.value;
  const open = (event) => {
    if (!href || event.target.closest('a, button, input, label') || window.getSelection().toString()) return;
    navigate(href(shown));
  };
  const onKeyDown = (event) => event.key === 'Enter' && event.target === event.currentTarget && href && navigate(href(shown));
  const marked = selected?.value.has(name);
  return html`
    <tr data-key=${name} tabindex="-1" class=${`${href ? 'opens' : ''} ${marked ? 'selected' : ''}`} onClick=${open} onKeyDown=${onKeyDown}>
      ${selected && html`<td class="check"><input type="checkbox" aria-label=${`Select ${name}`} checked=${marked}
        onClick=${(event) => toggle(name, event.shiftKey)} /></td>`}
      ${columns.map((column) => html`<td key=${column.id} class=${column.class} data-label=${column.label ?? column.head}>${column.cell(shown)}</td>`)}
    </tr>`;
}

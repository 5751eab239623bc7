/** A list of the API that is read page by page, and whose rows change in place. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { get } from '../api.js';
import { noteNamespaces, useRead } from '../state.js';
import { Loading, ProblemNote } from './notes.js';
import { createRows, Table } from './table.js';

const byId = ({ id }) => id;

/**
 * Reads the first page now and again, and others with `more`. After that the first page only changes rows in place, so
 * that nothing moves.
 * @returns {{rows: object, read: object, more: (() => Promise<void>)|null}} `more` is null at the end of the list
 */
export function useList(path, parameters, keyOf = byId) {
  const key = `${path}?${JSON.stringify(parameters)}`;
  const rows = useMemo(() => createRows(keyOf), [key]);
  const [further, setFurther] = useState({ key, cursor: undefined });
  const [problem, setProblem] = useState(null);
  const read = useRead(path, parameters);
  const { cursor } = further.key === key ? further : { cursor: undefined };
  useEffect(() => {
    if (!read.data) return;
    noteNamespaces(read.data.items);
    if (cursor === undefined) rows.replace(read.data.items);
    else for (const row of read.data.items) rows.change(keyOf(row), row);
  }, [read.data]);
  const next = cursor === undefined ? read.data?.next_cursor : cursor;
  const more = async () => {
    setProblem(null);
    try {
      const page = await get(path, { ...parameters, cursor: next });
      rows.append(page.items);
      setFurther({ key, cursor: page.next_cursor });
    } catch (refused) {
      setProblem(refused);
    }
  };
  return { rows, read: { ...read, problem: problem ?? read.problem }, more: next ? more : null };
}

/** A table of such a list, with what to show while there is nothing in it. @param {{list: object, empty: any}} props */
export function ListTable({ list, empty, ...table }) {
  const { rows, read, more } = list;
  const none = read.data !== undefined && !read.data.items.length && !rows.keys.value.length;
  return html`
    <${ProblemNote} problem=${read.problem} retry=${read.reload} />
    ${(read.data !== undefined || !read.problem) && html`<div class="panel">
      ${read.data === undefined ? html`<${Loading} />` : none ? empty : html`<${Table} rows=${rows} ...${table} />`}
    </div>`}
    ${more && html`<p class="list-more"><button onClick=${more}>Show more</button></p>`}`;
}

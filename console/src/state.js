/** Reading the API into components: answers of older requests are dropped, and what is shown is read again. */
import { computed, signal, useEffect, useRef, useState } from './vendor/preact.js';
import { get } from './api.js';
import { onReread, useLive } from './live.js';
import { query } from './router.js';

/** The namespace of lists: `ns=` in the URL; all of them without it. */
export const namespace = computed(() => query.value.get('ns') || '*');
/** What a title says about it. */
export const ofNamespace = () => (namespace.value === '*' ? '' : ` in the namespace ${namespace.value}`);
/** How many tasks are dead, as far as a page has read it; null if none has. */
export const deadCount = signal(null);
/** Namespaces of the rows that were read so far, as suggestions. */
export const seenNamespaces = signal(new Set(['default']));

export function noteNamespaces(rows) {
  const found = rows.map((row) => row.namespace ?? row.task?.namespace).filter((name) => name && !seenNamespaces.peek().has(name));
  if (found.length) seenNamespaces.value = new Set([...seenNamespaces.peek(), ...found]);
}

/** Reads the causes of dead tasks, and notes how many tasks they have. */
export function useDeadGroups(parameters) {
  const read = useRead('dead-letters/groups', parameters);
  useEffect(() => {
    if (read.data) deadCount.value = read.data.items.reduce((sum, group) => sum + group.count, 0);
  }, [read.data]);
  return read;
}

/**
 * Reads `path` now, and again when path or query change, when a live connection asks for it, and every 30 s. A new `version` of what is read has it read again at once.
 * @returns {{data: any, problem: Error|null, loading: boolean, reload: () => Promise<void>, set: (data: any) => void}}
 *   `data` is the last answer for this path and query, and stays while it is read again. A `path` of null reads nothing.
 */
export function useRead(path, parameters = {}, { load = get, again = true, version } = {}) {
  const key = path && `${path}?${JSON.stringify(parameters)}`;
  const [state, setState] = useState({ key: null, data: undefined, problem: null, loading: true });
  const latest = useRef(0);
  const reload = async () => {
    if (!path) return;
    const number = (latest.current += 1);
    let next;
    try {
      next = { key, data: await load(path, parameters), problem: null, loading: false };
    } catch (problem) {
      next = { problem, loading: false };
    }
    if (number === latest.current) setState((before) => ({ ...(before.key === key ? before : { key, data: undefined }), ...next }));
  };
  const current = useRef(reload);
  current.current = reload;
  useEffect(() => {
    current.current();
    return () => (latest.current += 1);
  }, [key, version]);
  useEffect(() => (again ? onReread(() => current.current()) : undefined), [again]);
  const shown = state.key === key ? state : { data: undefined, problem: null, loading: Boolean(path) };
  return { ...shown, reload: () => current.current(), set: (data) => setState({ key, data, problem: null, loading: false }) };
}

/** Reads the lanes. A runner that sends a summary every few seconds keeps their figures up to date. */
export function useLanes() {
  const read = useRead('lanes');
  useLive({ topic: 'stats' }, ({ lanes }) => {
    if (!lanes || !read.data) return; // refused, or not read yet
    const figures = new Map(lanes.map((each) => [each.lane, each]));
    read.set({ ...read.data, items: read.data.items.map((lane) => ({ ...lane, ...figures.get(lane.lane) })) });
  });
  return read;
}

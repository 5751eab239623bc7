/** Answers of the API together with their JSON text, so that numbers are shown as they are stored. */
import { get } from '../api.js';
import { field, parse, sourceOf } from '../json.js';

/** Like `get`; `source` of the answer is its JSON as `json.js` reads it. */
export async function getWithSource(path, query) {
  const text = await get(path, query, { text: true });
  return Object.defineProperty(JSON.parse(text), 'source', { value: parse(text) });
}

/** Returns the stored JSON text of a field, such as `task.payload`; null if it is not there. */
export function sourceAt({ source }, path) {
  const node = path.split('.').reduce((found, name) => found && field(found, name), source);
  return node ? sourceOf(node) : null;
}

/** Where the API is, for commands that are copied: elsewhere if `duetime console` forwards the calls of this page. */
import { signal } from './vendor/preact.js';

const DEFAULT = 'http://127.0.0.1:8080'; // of the commands

export const address = signal(window.location.origin);
/** What a call needs: `token`, `signature` of AWS, or null; undefined where the API does not say. */
export const authorization = signal(undefined);

/** Returns a command of `duetime` for this API. @param {string} text */
export function command(text) {
  const named = !text.startsWith('duetime ') || text.includes(' --url ') || address.value === DEFAULT;
  return named ? text : `${text} --url ${address.value}`;
}

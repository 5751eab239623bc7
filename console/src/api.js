/** Requests to the HTTP API of the same origin. */
import { signal } from './vendor/preact.js';

/** A refusal of the API (RFC 9457), or a request that got no answer: then `status` is 0. */
export class Problem extends Error {
  constructor({ status = 0, title, detail = '', errors = [], ...more }) {
    super(detail || title);
    Object.assign(this, { name: 'Problem', status, title, detail, errors, more });
  }
}

/** When the server last answered, or null while it does not: `{ok, at}`. */
export const contact = signal({ ok: true, at: Date.now() });

/** Whether the server has asked for its token. */
export const signedOut = signal(false);

export const get = (path, query, options) => call('GET', path, { query, ...options });
export const post = (path, body = undefined, options = {}) => call('POST', path, { body, ...options });
export const put = (path, body, options = {}) => call('PUT', path, { body, ...options });
export const patch = (path, body, options = {}) => call('PATCH', path, { body, ...options });
export const remove = (path, options = {}) => call('DELETE', path, options);

/**
 * Returns the answer's JSON, or its text if `text` is set. Raises Problem.
 * @param {string} method
 * @param {string} path such as `tasks/ID`, below /v1
 * @param {{query?: object, body?: unknown, headers?: object, signal?: AbortSignal, text?: boolean}} options
 */
export async function call(method, path, { query = {}, body, headers = {}, signal: abort, text = false } = {}) {
  // Without `no-cache` an answer that may be kept for 2 s would hide what a click has changed.
  const request = { method, headers: { accept: 'application/json', ...headers }, signal: abort, cache: 'no-cache' };
  if (body !== undefined) {
    request.headers['content-type'] = 'application/json';
    request.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const response = await send(apiUrl(path, query), request);
  const answer = await response.text();
  if (response.status === 401) signedOut.value = true;
  if (!response.ok) throw new Problem({ title: response.statusText || 'Refused', ...problemOf(answer), status: response.status });
  return text || !answer ? answer : JSON.parse(answer);
}

async function send(url, request) {
  try {
    const response = await fetch(url, request);
    contact.value = { ok: true, at: Date.now() };
    return response;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    contact.value = { ok: false, at: contact.peek().at };
    throw new Problem({ title: 'No answer', detail: `${window.location.host} does not answer. Is Duetime running?` });
  }
}

function problemOf(answer) {
  try {
    const problem = JSON.parse(answer);
    return problem && typeof problem === 'object' ? problem : {};
  } catch {
    return {}; // not from the API: something between it and this page
  }
}

/** Returns the URL of a call. A list is a repeated parameter; null, undefined and '' are left out. */
export function apiUrl(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== null && each !== undefined && each !== '') parameters.append(name, each);
  }
  const text = parameters.toString();
  return `/v1/${path}${text ? `?${text}` : ''}`;
}

/** The URL is the only view state: path and query. */
import { computed, signal } from './vendor/preact.js';

/** Parameters that every link of the console carries on. */
const KEPT = ['ns', 'tz'];

const current = signal(new URL(window.location.href));

export const path = computed(() => current.value.pathname);
export const query = computed(() => current.value.searchParams);

window.addEventListener('popstate', () => (current.value = new URL(window.location.href)));

// Rows have many links, and a URL is slow to make: what `to` adds to a path, and the links of `withQuery` by their changes.
const kept = computed(() => link('/', {}).slice(1));
const links = computed(() => current.value && new Map());
const PLAIN = /^(\/|(\/[\w-]+)+)$/;

/** Returns the URL of a page with the namespace and the zone of the current one. Empty values are left out. */
export function to(pathname, parameters = {}) {
  return PLAIN.test(pathname) && !Object.keys(parameters).length ? pathname + kept.value : link(pathname, parameters);
}

function link(pathname, parameters) {
  const url = new URL(pathname, current.value.origin);
  for (const name of KEPT) {
    const value = query.value.get(name);
    if (value && !(name in parameters)) url.searchParams.set(name, value);
  }
  for (const [name, value] of Object.entries(parameters)) set(url.searchParams, name, value);
  return tidy(url);
}

/** Returns the current URL with some parameters changed; null, '' and [] remove one. */
export function withQuery(changes) {
  const key = JSON.stringify(Object.entries(changes));
  const known = links.value;
  if (!known.has(key)) known.set(key, changed(Object.entries(changes)));
  return known.get(key);
}

function changed(changes) {
  const url = new URL(current.value);
  for (const [name, value] of changes) set(url.searchParams, name, value);
  return tidy(url);
}

export function navigate(href, { replace = false } = {}) {
  const url = new URL(href, current.value);
  if (url.href === current.value.href) return;
  window.history[replace ? 'replaceState' : 'pushState'](null, '', url);
  const moved = url.pathname !== current.value.pathname;
  current.value = url;
  if (moved) {
    window.scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }
}

/** Changes parameters of the current URL. Typing replaces the history entry; Enter and clicks push one. */
export function setQuery(changes, options) {
  navigate(withQuery(changes), options);
}

function set(parameters, name, value) {
  parameters.delete(name);
  for (const each of [value].flat()) if (each !== null && each !== undefined && each !== '') parameters.append(name, each);
}

/** Leaves `:`, `,` and `/` readable in a query. */
function tidy(url) {
  return url.pathname + url.search.replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%2F/g, '/') + url.hash;
}

/** Follows the links of the console itself without loading a page. */
export function interceptLinks(root) {
  root.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (link.target || link.hasAttribute('download') || url.origin !== window.location.origin || isNative(url.pathname)) return;
    event.preventDefault();
    navigate(url.href);
  });
}

/** Whether the server has the page, not the console. */
function isNative(pathname) {
  return pathname === '/docs' || pathname.startsWith('/v1/') || pathname.startsWith('/static/');
}

/** Returns the parameters of a path such as `/tasks/:id`, or null. */
export function match(pattern, pathname) {
  const wanted = pattern.split('/');
  const given = pathname.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return null;
  const found = {};
  for (const [place, part] of wanted.entries()) {
    if (part.startsWith(':')) found[part.slice(1)] = decode(given[place]);
    else if (part !== given[place]) return null;
  }
  return found;
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Live updates: hints over a WebSocket. The API is the truth: after each (re)connection, on a reset and every 30 s
 * what is on screen is read again. Where there is no live API, it is read every 10 s.
 */
import { computed, effect, signal, useEffect, useMemo, useRef } from './vendor/preact.js';
import { address, authorization } from './address.js';
import { contact, get, post, signedOut } from './api.js';
import { now, serverNow, skew } from './clock.js';

const REREAD = 30_000;
const POLL = 10_000;
const PING = 240_000;
const BACKOFF = [500, 30_000];
const RENEW = 120_000; // before the server closes the connection

/** Who and what the server is: `{actor, rights, features, stage, version, time}`. */
export const me = signal(null);
export const paused = signal(false);
/** Reasons to hold the page still for a moment, such as a selection. */
const holds = signal(0);
const connected = signal(false);

export const still = computed(() => paused.value || holds.value > 0);
/** `live`, `polling`, `paused` or `lost`. */
export const state = computed(() => {
  if (paused.value) return 'paused';
  if (!contact.value.ok) return 'lost';
  return connected.value ? 'live' : 'polling';
});
export const may = (right) => !me.value?.rights || me.value.rights.includes(right);

const readers = new Set();
const subscriptions = new Map();
let socket = null;
let nextId = 1;
let failures = 0;
let lastRead = Date.now();
let started = false;

/** Calls `read` whenever what is on screen is to be read again. Returns how to stop. */
export function onReread(read) {
  readers.add(read);
  return () => readers.delete(read);
}

export function rereadAll() {
  if (still.peek()) return;
  lastRead = Date.now();
  for (const read of readers) read();
}

/**
 * Subscribes to changes. `receive` gets each message of the subscription (`changes`, `progress`, `stats`).
 * @param {{topic: 'tasks'|'task'|'stats', filter?: object, task_id?: string}} wanted
 */
export function subscribe(wanted, receive) {
  const id = `s${nextId++}`;
  subscriptions.set(id, { wanted, receive });
  send({ op: 'subscribe', id, ...wanted });
  return () => {
    subscriptions.delete(id);
    send({ op: 'unsubscribe', id });
  };
}

/** Subscribes while a component is shown. `wanted` may be null. */
export function useLive(wanted, receive) {
  const latest = useRef(receive);
  latest.current = receive;
  const key = JSON.stringify(wanted);
  useEffect(() => (wanted ? subscribe(wanted, (message) => still.peek() || latest.current(message)) : undefined), [key]);
}

/**
 * Calls `read` while changes arrive, at most once in `wait` milliseconds: at the end of that time, or with `atOnce` at
 * its beginning, too.
 */
export function useLiveReads(wanted, read, wait, { atOnce = false } = {}) {
  const latest = useRef(read);
  latest.current = read;
  const later = useMemo(() => soon(() => still.peek() || latest.current(), wait, atOnce), []);
  useEffect(() => later.cancel, []);
  useLive(wanted, later);
}

/** Holds the page still while `active`: nothing is fetched, nothing changes. */
export function useHold(active) {
  useEffect(() => {
    if (!active) return undefined;
    holds.value += 1;
    return () => (holds.value -= 1);
  }, [Boolean(active)]);
}

export async function start() {
  await readMe();
  connect();
  if (started) return;
  started = true;
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
  let wasStill = false;
  effect(() => {
    if (wasStill && !still.value) rereadAll();
    wasStill = still.value;
  });
}

async function readMe() {
  const asked = Date.now();
  try {
    me.value = await get('me');
    if (me.value.url) address.value = me.value.url;
    authorization.value = me.value.authorization;
  } catch (problem) {
    if (problem.status === 0 || problem.status === 401) return; // asked again later
    me.value = { actor: null, rights: null, features: [], stage: null, version: null }; // a server without /v1/me
  }
  if (me.value.time) {
    skew.value = Date.parse(me.value.time) - (asked + Date.now()) / 2;
    now.value = serverNow();
  }
}

function tick() {
  if (document.hidden || still.peek() || signedOut.peek()) return;
  const every = connected.peek() ? REREAD : POLL;
  if (Date.now() - lastRead >= every) {
    if (!me.peek()) readMe().then(connect);
    rereadAll();
  }
}

async function connect() {
  if (socket || !me.peek()?.features?.includes('live')) return;
  try {
    const { url } = await post('live/tickets', {});
    open(url);
  } catch {
    retry();
  }
}

function open(url) {
  const opened = new WebSocket(url.replace(/^http/, 'ws'));
  const before = socket;
  socket = opened;
  let pings = null;
  opened.onopen = () => opened.send(JSON.stringify({ op: 'hello', version: 1 }));
  opened.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === 'hello') {
      connected.value = true;
      contact.value = { ok: true, at: Date.now() };
      for (const [id, { wanted }] of subscriptions) send({ op: 'subscribe', id, ...wanted });
      if (failures && ![...subscriptions.values()].some(isOfTasks)) rereadAll(); // what has changed while there was no connection
      failures = 0;
      pings = setInterval(() => opened.send('{"op":"ping"}'), PING);
      renewBefore(message.closes_at, opened);
      before?.close();
    } else if (socket === opened) {
      handle(message);
    }
  };
  opened.onclose = () => {
    clearInterval(pings);
    if (socket !== opened) return; // a newer one has replaced it
    socket = null;
    connected.value = false;
    retry();
  };
}

function renewBefore(closesAt, opened) {
  const left = Date.parse(closesAt) - serverNow() - RENEW;
  if (!(left > 0)) return;
  setTimeout(async () => {
    if (socket !== opened) return;
    try {
      open((await post('live/tickets', {})).url); // the old one closes once the new one is up
    } catch {
      opened.close();
    }
  }, Math.min(left, 2 ** 31 - 1));
}

const reread = soon(rereadAll, 100);

/** Summaries begin with one of their own: nothing is read again for them. */
const isOfTasks = ({ wanted }) => wanted.topic !== 'stats';

function handle(message) {
  const subscription = subscriptions.get(message.id);
  if (message.type === 'subscribed' || message.type === 'reset') {
    if (subscription && isOfTasks(subscription)) reread();
  } else if (message.type === 'bye') {
    socket.close();
  } else if (subscription) {
    subscription.receive(message);
  }
}

/** Calls once for many calls within `wait` milliseconds; with `atOnce` the first call does not wait. */
function soon(action, wait, atOnce = false) {
  let timer = null;
  let calledAt = -Infinity;
  const later = () => {
    const left = atOnce ? Math.max(calledAt + wait - performance.now(), 0) : wait;
    timer ??= setTimeout(() => {
      timer = null;
      calledAt = performance.now();
      action();
    }, left);
  };
  later.cancel = () => {
    clearTimeout(timer);
    timer = null;
  };
  return later;
}

function retry() {
  const longest = Math.min(BACKOFF[0] * 2 ** failures, BACKOFF[1]);
  failures += 1;
  setTimeout(connect, Math.random() * longest);
}

function send(message) {
  if (connected.peek() && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

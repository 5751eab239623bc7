/** Keyboard shortcuts. Single keys act only outside fields, and one setting turns them off. */
import { signal, useLayoutEffect } from './vendor/preact.js';
import { singleKeys } from './settings.js';

const bound = new Map(); // key → the actions, the latest first
export const helpOpen = signal(false);
let pending = null;

/** Binds keys while a component is shown: `{'r': action, 'g t': action}`. */
export function useKeys(actions, active = true) {
  useLayoutEffect(() => { // a key may be pressed as soon as what it acts on is visible
    if (!active) return undefined;
    for (const [key, action] of Object.entries(actions)) bound.set(key, [action, ...(bound.get(key) ?? [])]);
    return () => {
      for (const [key, action] of Object.entries(actions)) bound.set(key, bound.get(key).filter((each) => each !== action));
    };
  });
}

export const KEYS = [
  ['?', 'this list'], ['/', 'filter'], ['g then o t s r d l', 'overview, tasks, schedules, runs, dead letters, lanes'],
  ['n', 'new task'], ['j k', 'next and previous row'], ['x', 'select the row'], ['X', 'select from the last selected row to this one'],
  ['Enter', 'open'], ['Esc', 'back, or close'], ['r', 'retry'], ['c', 'cancel'], ['e', 'change'], ['[ ]', 'previous and next attempt'],
  ['p', 'pause live updates'], ['z', 'next time zone'],
];

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest('input, textarea, select, [contenteditable]');
  if (typing && event.key === 'Escape') typing.blur();
  if (typing || singleKeys.peek() === 'off' || document.querySelector('dialog[open]')) return;
  const key = pending ? `${pending} ${event.key}` : event.key;
  pending = null;
  const action = bound.get(key)?.[0];
  if (action) {
    event.preventDefault();
    action(event);
  } else if ([...bound.keys()].some((each) => each.startsWith(`${key} `))) {
    pending = key;
  }
});

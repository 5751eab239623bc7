/** A status as icon, word and colour. */
import { html } from '../vendor/preact.js';
import { Icon } from './icon.js';

/** Icon and tone of each status, of tasks, schedules, runs and steps, and of each outcome of an attempt. */
const LOOKS = {
  PENDING: ['clock', 'grey'], ENQUEUED: ['queue', 'grey'], RUNNING: ['play', 'blue'], RETRYING: ['refresh', 'amber'],
  WAITING: ['hourglass', 'violet'], SUCCEEDED: ['check', 'green'], DEAD: ['cross', 'red'], FAILED: ['cross', 'red'],
  CANCELLED: ['slash', 'grey'], EXPIRED: ['timeout', 'grey'], SKIPPED: ['slash', 'grey'], BLOCKED: ['pause', 'amber'],
  active: ['check', 'green'], paused: ['pause', 'amber'], finished: ['check', 'grey'], ended: ['check', 'grey'], broken: ['alert', 'red'],
  succeeded: ['check', 'green'], failed: ['cross', 'red'], timed_out: ['timeout', 'red'], lease_expired: ['alert', 'red'],
  snoozed: ['clock', 'grey'], interrupted: ['pause', 'grey'], suspended: ['hourglass', 'violet'], cancelled: ['slash', 'grey'], running: ['play', 'blue'],
};

export const toneOf = (status) => (LOOKS[status] ?? ['dot', 'grey'])[1];

/** @param {{status: string, label?: string, tone?: string, icon?: string}} props */
export function Status({ status, label, tone, icon }) {
  const [known, colour] = LOOKS[status] ?? ['dot', 'grey'];
  return html`<span class="status tone-${tone ?? colour}"><${Icon} name=${icon ?? known} />${label ?? words(status)}</span>`;
}

const words = (status) => String(status).replaceAll('_', ' ').toLowerCase().replace(/^./, (first) => first.toUpperCase());

/** A small label: a tag, a lane, a type. */
export function Label({ children, tone = 'grey', title }) {
  return html`<span class="label tone-${tone}" title=${title}>${children}</span>`;
}

/** Short messages, and the live region that announces them. */
import { html, signal } from '../vendor/preact.js';
import { Icon } from './icon.js';

const SHOWN = 6_000;
const ANNOUNCED = 5_000;
const toasts = signal([]);
const announced = signal('');
let next = 1;
let lastAt = 0;

/** Shows a message. `tone` is `green`, `red` or `grey`. */
export function toast(text, tone = 'green') {
  const id = next++;
  toasts.value = [...toasts.value, { id, text, tone }];
  setTimeout(() => drop(id), tone === 'red' ? 2 * SHOWN : SHOWN);
}

/** Announces counts to screen readers, at most every 5 s. */
export function announce(text) {
  if (Date.now() - lastAt < ANNOUNCED) return;
  lastAt = Date.now();
  announced.value = text;
}

const drop = (id) => (toasts.value = toasts.value.filter((each) => each.id !== id));

export function Toasts() {
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.value.map(({ id, text, tone }) => html`
        <div key=${id} class="toast tone-${tone}">
          <${Icon} name=${tone === 'red' ? 'alert' : 'check'} /><span>${text}</span>
          <button class="plain" aria-label="Close" onClick=${() => drop(id)}><${Icon} name="cross" /></button>
        </div>`)}
    </div>
    <div class="unseen" aria-live="polite">${announced}</div>`;
}

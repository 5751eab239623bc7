import { html } from '../vendor/preact.js';

export function Tasks() {
  return html`<h1>Tasks</h1>`;
}

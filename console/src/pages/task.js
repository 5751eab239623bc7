import { html } from '../vendor/preact.js';

export function Task() {
  return html`<h1>Task</h1>`;
}

import { html } from '../vendor/preact.js';

export function Overview() {
  return html`<h1>Overview</h1>`;
}

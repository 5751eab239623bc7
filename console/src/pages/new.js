import { html } from '../vendor/preact.js';

export function New() {
  return html`<h1>New</h1>`;
}

import { html } from '../vendor/preact.js';

export function Dead() {
  return html`<h1>Dead</h1>`;
}

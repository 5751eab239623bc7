/** A call as curl and as Python, side by side. */
import { html, useState } from '../vendor/preact.js';
import { curl, python } from '../snippets.js';
import { CopyButton } from './copy.js';

/** @param {{call: {method: string, path: string, body?: unknown, call: string}}} props see snippets.js */
export function Snippets({ call }) {
  const [kind, setKind] = useState('curl');
  const text = (kind === 'curl' ? curl : python)(call);
  const tab = (name, label) => html`<button type="button" role="tab" aria-selected=${kind === name} onClick=${() => setKind(name)}>${label}</button>`;
  return html`
    <div class="snippets">
      <div class="tabs" role="tablist" aria-label="Language">${tab('curl', 'curl')}${tab('python', 'Python')}</div>
      <div class="code"><pre tabindex="0">${text}</pre><${CopyButton} text=${text} name=${kind === 'curl' ? 'curl command' : 'Python code'} /></div>
    </div>`;
}

/** The same, closed until asked for. */
export function Code({ call, label = 'The same as curl and Python' }) {
  return html`<details class="as-code"><summary>${label}</summary><${Snippets} call=${call} /></details>`;
}

/** A viewer of JSON: open to depth 2, 100 children at a time, numbers as they are stored. */
import { html, useMemo, useState } from '../vendor/preact.js';
import { parse, pretty, sourceOf } from '../json.js';
import { CopyButton } from './copy.js';

const STEP = 100;
const OPEN_DEPTH = 2;
const LONG_TEXT = 400;

/** @param {{text: string, name: string}} props JSON text, and what it is */
export function JsonView({ text, name }) {
  const [plain, setPlain] = useState(false);
  const node = useMemo(() => parsed(text), [text]);
  const nested = node && (node.entries?.length || node.items?.length);
  return html`
    <div class="json" role="group" aria-label=${name}>
      <div class="json-actions">
        ${nested ? html`<button class="plain" onClick=${() => setPlain(!plain)}>${plain ? 'Tree' : 'Text'}</button>` : null}
        <${CopyButton} text=${text} name=${name} />
      </div>
      ${plain || !node ? html`<pre tabindex="0">${node ? pretty(node) : text}</pre>` : html`<div class="tree"><${Node} node=${node} depth=${0} /></div>`}
    </div>`;
}

function parsed(text) {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

function Node({ node, name, depth }) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(STEP);
  const children = node.entries ?? node.items?.map((item, place) => [place, item]);
  if (!children?.length) return html`<div class="leaf"><${Name} name=${name} /><${Leaf} node=${node} /></div>`;
  const summary = node.entries ? `{ ${children.length} }` : `[ ${children.length} ]`;
  return html`
    <details open=${open} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary><${Name} name=${name} /><span class="quiet">${summary}</span></summary>
      ${open && html`<div class="branch">
        ${children.slice(0, shown).map(([key, each], place) => html`<${Node} key=${place} node=${each} name=${key} depth=${depth + 1} />`)}
        ${children.length > shown && html`<button class="small" onClick=${() => setShown(shown + STEP)}>
          ${Math.min(STEP, children.length - shown)} more of ${(children.length - shown)}</button>`}
      </div>`}
    </details>`;
}

const Name = ({ name }) => (name === undefined ? null : html`<span class=${typeof name === 'number' ? 'index' : 'key'}>${name}</span>`);

function Leaf({ node }) {
  const [whole, setWhole] = useState(false);
  if (node.type !== 'string') return html`<span class=${`value ${node.type}`}>${sourceOf(node)}</span>`;
  const long = node.text.length > LONG_TEXT && !whole;
  return html`<span class="value string">"${long ? node.text.slice(0, LONG_TEXT) : node.text}"</span>
    ${long && html`<button class="small" onClick=${() => setWhole(true)}>all ${node.text.length} characters</button>`}`;
}

/** A button that copies a text. */
import { html, useState } from '../vendor/preact.js';
import { Icon } from './icon.js';
import { toast } from './toast.js';

/** Copies a text; on plain HTTP, where there is no clipboard API, through a selection. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** @param {{text: string|(() => string), label?: string, name?: string}} props `name` says what is copied */
export function CopyButton({ text, label, name = 'text' }) {
  const [done, setDone] = useState(false);
  const onClick = async (event) => {
    event.stopPropagation();
    if (!(await copy(typeof text === 'function' ? text() : text))) {
      toast('The browser does not allow copying', 'red');
      return;
    }
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return html`<button type="button" class=${label ? 'small' : 'plain'} aria-label=${label ? undefined : `Copy ${name}`}
    title=${`Copy ${name}`} onClick=${onClick}><${Icon} name=${done ? 'check' : 'copy'} />${label && (done ? 'Copied' : label)}</button>`;
}

/** A command to paste, with its copy button. */
export function Command({ text }) {
  return html`<div class="command"><code>${text}</code><${CopyButton} text=${text} name="command" /></div>`;
}

/** Dialogs. `confirm` asks before an action; Esc and Cancel answer no; the focus returns. */
import { html, signal, useEffect, useRef, useState } from '../vendor/preact.js';
import { ProblemNote } from './notes.js';

/** A modal dialog. @param {{title: string, onClose: () => void, children: any, wide?: boolean}} props */
export function Dialog({ title, onClose, children, wide = false }) {
  const dialog = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    // Enter answers, but does nothing that cannot be undone.
    if (document.activeElement.matches('summary')) [...dialog.current.querySelectorAll('.dialog-actions button:not(.danger)')].at(-1)?.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  const onCancel = (event) => {
    event.preventDefault();
    onClose();
  };
  const onClick = (event) => event.target === dialog.current && onClose();
  return html`<dialog ref=${dialog} class=${wide ? 'wide' : ''} aria-label=${title} onCancel=${onCancel} onClick=${onClick}>
    <div class="dialog"><h2>${title}</h2>${children}</div></dialog>`;
}

const asked = signal(null);

/**
 * Asks before an action, and shows what it was refused for.
 * @param {{title: string, text?: any, action: string, danger?: boolean, run: () => Promise<any>}} question
 * @returns {Promise<any>} what `run` returned; undefined if the answer was no
 */
export function confirm(question) {
  return new Promise((resolve) => (asked.value = { ...question, resolve }));
}

export function Confirmation() {
  return asked.value && html`<${Question} key=${asked.value} ...${asked.value} />`;
}

function Question({ title, text, action, danger, run, resolve }) {
  const [state, setState] = useState({ busy: false, problem: null });
  const close = (answer) => {
    asked.value = null;
    resolve(answer);
  };
  const act = async () => {
    setState({ busy: true, problem: null });
    try {
      close(await run());
    } catch (problem) {
      setState({ busy: false, problem });
    }
  };
  return html`<${Dialog} title=${title} onClose=${() => close(undefined)}>
    ${text && html`<div class="dialog-text">${text}</div>`}
    <${ProblemNote} problem=${state.problem} />
    <div class="dialog-actions">
      <button onClick=${() => close(undefined)}>Back</button>
      <button class=${danger ? 'danger' : 'primary'} disabled=${state.busy} onClick=${act}>${action}</button>
    </div></${Dialog}>`;
}

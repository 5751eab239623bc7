/** Fields of forms, each with the error that the API has for it. */
import { html, useState } from '../vendor/preact.js';

let last = 0;
/** An id for the elements of one component. */
export const useId = () => useState(() => `in-${(last += 1)}`)[0];

/** Returns why the API refuses a field, in words; null if it does not. */
export function errorOf(problem, ...fields) {
  const found = (problem?.errors ?? []).filter(({ field }) => fields.some((each) => field === each || field.startsWith(`${each}.`)));
  return found.length ? found.map(({ message }) => message).join('; ') : null;
}

/**
 * A labelled field. `children` gets the attributes that tie an input to its label, hint and error.
 * @param {{label: string, error?: string|null, hint?: any, children: (attributes: object) => any}} props
 */
export function Field({ label, error, hint, children, class: name = '' }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return html`
    <div class=${`field ${name}`}>
      <label for=${id}>${label}</label>
      ${children({ id, 'aria-invalid': error ? 'true' : undefined, 'aria-describedby': described })}
      ${hint && html`<span class="hint" id=${`${id}-hint`}>${hint}</span>`}
      ${error && html`<span class="error" id=${`${id}-error`}>${error}</span>`}
    </div>`;
}

/** @param {{label: string, value: string, onChange: (value: string) => void}} props and those of Field and of an input */
export function TextField({ label, value, onChange, error, hint, class: name, ...input }) {
  return html`<${Field} label=${label} error=${error} hint=${hint} class=${name}>${(attributes) => html`
    <input ...${attributes} ...${input} value=${value} spellcheck=${false} autocapitalize="off" autocomplete="off" onInput=${({ currentTarget }) => onChange(currentTarget.value)} />`}</${Field}>`;
}

/** @param {{label: string, value: string, options: [string, string][], onChange: (value: string) => void}} props */
export function Choice({ label, value, options, onChange, error, hint, class: name }) {
  return html`<${Field} label=${label} error=${error} hint=${hint} class=${name}>${(attributes) => html`
    <select ...${attributes} value=${value} onChange=${({ currentTarget }) => onChange(currentTarget.value)}>
      ${options.map(([each, words]) => html`<option key=${each} value=${each} selected=${each === value}>${words}</option>`)}
    </select>`}</${Field}>`;
}

/** A few choices side by side. @param {{label: string, value: string, options: [string, string][], onChange: (value: string) => void}} props */
export function Choices({ label, value, options, onChange, unseen = false }) {
  const name = useId();
  return html`
    <fieldset class="choices"><legend class=${unseen ? 'unseen' : ''}>${label}</legend>
      <div class="segments">${options.map(([each, words]) => html`
        <label key=${each}><input class="unseen" type="radio" name=${name} value=${each} checked=${each === value} onChange=${() => onChange(each)} /><span>${words}</span></label>`)}
      </div>
    </fieldset>`;
}

/** Text of a number; what is no number stays as it is, so that the API says why it refuses it. */
export function numberOf(text) {
  const trimmed = text.trim();
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

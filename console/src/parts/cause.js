/** A cause of dead tasks: where it is shown, and what a bulk action on it takes. */
import { html } from '../vendor/preact.js';
import { to } from '../router.js';
import { namespace } from '../state.js';

export const causeHref = (group) => to('/dead', { group: group.fingerprint });
export const causeBody = (group) => ({ fingerprint: group.fingerprint, namespace: namespace.value === '*' ? undefined : namespace.value });
export const causeText = (group) => html`<p><strong>${group.error_type}</strong> of ${group.target}</p><p class="quiet">${group.message}</p><p>Each gets as many new attempts as it had at first.</p>`;

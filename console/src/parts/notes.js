/** What stands in for rows: nothing yet, nothing found, still loading, refused. */
import { authorization, command as ofThisApi } from '../address.js';
import { html } from '../vendor/preact.js';
import { Command } from './copy.js';
import { Icon } from './icon.js';

/** An empty state says what to type. `alone`: there is nothing else on the page. @param {{title: string, command?: string, alone?: boolean, children?: any}} props */
export function Empty({ title, command, alone = false, children }) {
  return html`<div class="empty">${alone ? html`<h1>${title}</h1>` : html`<p class="empty-title">${title}</p>`}${children && html`<div>${children}</div>`}
    ${command && html`<${Command} text=${ofThisApi(command)} />`}${command?.startsWith('duetime ') && authorization.value === 'token' && html`<p class="hint">The token is in <code>DUETIME_TOKEN</code>.</p>`}</div>`;
}

/** Why something could not be read, with the fields that the API names. */
export function ProblemNote({ problem, retry }) {
  if (!problem) return null;
  const { title = 'Something went wrong', detail = problem.message, errors = [] } = problem;
  return html`
    <div class="note tone-red" role="alert">
      <${Icon} name="alert" />
      <div>
        <strong>${title}</strong>
        ${errors.length ? html`<ul>${errors.map((e) => html`<li>${e.field !== 'body' && html`<code>${e.field}</code> `}${e.message}</li>`)}</ul>` : html`<p>${detail}</p>`}
      </div>
      ${retry && html`<button class="small" onClick=${retry}>Try again</button>`}
    </div>`;
}

/** A hint in the flow of a page. @param {{tone?: string, icon?: string, children: any}} props */
export function Note({ tone = 'grey', icon = 'help', children }) {
  return html`<div class="note tone-${tone}"><${Icon} name=${icon} /><div>${children}</div></div>`;
}

export function Loading({ rows = 3 }) {
  return html`<div class="loading" aria-label="Loading" role="status">${Array.from({ length: rows }, (_, place) => html`<div key=${place}></div>`)}</div>`;
}

/** Shows the data of `useRead`, or why there is none. @param {{read: object, children: (data: any) => any}} props */
export function Loaded({ read, children, rows }) {
  if (read.data !== undefined) return html`${read.problem && html`<${ProblemNote} problem=${read.problem} retry=${read.reload} />`}${children(read.data)}`;
  return read.problem ? html`<${ProblemNote} problem=${read.problem} retry=${read.reload} />` : html`<${Loading} rows=${rows} />`;
}

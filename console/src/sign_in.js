/** A runner or proxy with a token: its link carries the token in the fragment, and the page exchanges it for a cookie. */
import { html, useState } from './vendor/preact.js';
import { call, signedOut } from './api.js';
import { ProblemNote } from './parts/notes.js';

const exchange = (token) => call('POST', '../auth', { body: { token } });

/** Exchanges `#t=…` for a cookie and removes it from the URL, so that no history keeps it. */
export async function signIn() {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('t');
  if (!token) return;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  try {
    await exchange(token);
  } catch (problem) {
    if (problem.status !== 404 && problem.status !== 401) throw problem; // 404: the server needs no token
  }
}

/** The link may be opened in a tab that already shows the console: then only the fragment changes. */
window.addEventListener('hashchange', () => window.location.hash.startsWith('#t=') && window.location.reload());

/** Asks for the token. @param {{onDone: () => void}} props */
export function SignIn({ onDone }) {
  const [problem, setProblem] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const { token } = Object.fromEntries(new FormData(event.currentTarget));
    try {
      await exchange(token.trim());
      signedOut.value = false;
      onDone();
    } catch (refusal) {
      setProblem(refusal);
    }
  };
  return html`
    <div class="empty"><h1>Sign in</h1><p>Open the link that <code>duetime console</code> has printed, or enter the token of the server.</p>
      <form class="row" onSubmit=${submit}><label class="field"><span class="unseen">Token</span><input type="password" name="token" required autocomplete="current-password" /></label><button class="primary">Sign in</button></form>
      <${ProblemNote} problem=${problem} /></div>`;
}

/** The link that a runner or proxy prints carries its token in the fragment. The page exchanges it for a cookie. */
import { call } from './api.js';

/** Exchanges `#t=…` for a cookie and removes it from the URL, so that no history keeps it. */
export async function signIn() {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('t');
  if (!token) return;
  window.history.replaceState(null, '', window.location.pathname + window.location.search);
  await call('POST', '../auth', { body: { token } });
}

/** The server's time: relative times are right even if this machine's clock is not. */
import { computed, signal } from './vendor/preact.js';

/** Milliseconds that the server's clock is ahead of this one. */
export const skew = signal(0);
/** The server's time, every second while the page is visible. */
export const now = signal(Date.now());
/** The same every 15 seconds, for what need not move each second. */
export const quarter = computed(() => Math.floor(now.value / 15_000) * 15_000);

export const serverNow = () => Date.now() + skew.peek();

setInterval(() => {
  if (!document.hidden) now.value = serverNow();
}, 1_000);
document.addEventListener('visibilitychange', () => (now.value = serverNow()));

/** What this browser keeps between visits: theme, zone and whether single keys act. */
import { effect, signal } from './vendor/preact.js';

function stored(name, fallback) {
  const key = `duetime.${name}`;
  const setting = signal(read(key) ?? fallback);
  effect(() => write(key, setting.value === fallback ? null : setting.value));
  return setting;
}

function read(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is not allowed
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // storage is not allowed: the setting lasts until the page is closed
  }
}

/** `system`, `light` or `dark`. */
export const theme = stored('theme', 'system');
/** `local`, `UTC` or an IANA zone; `tz=` in the URL wins. */
export const storedZone = stored('zone', 'local');
/** `on` or `off`: whether single keys are shortcuts. */
export const singleKeys = stored('keys', 'on');
/** `comfortable` or `compact`: the height of rows. */
export const density = stored('density', 'comfortable');

effect(() => {
  document.documentElement.dataset.density = density.value;
});

const system = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(system.matches);
system.addEventListener('change', ({ matches }) => (systemDark.value = matches));

effect(() => {
  const dark = theme.value === 'system' ? systemDark.value : theme.value === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
});

/** Light and dark by turns; what the system has is not stored. */
export function switchTheme() {
  const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
  theme.value = (next === 'dark') === systemDark.value ? 'system' : next;
}

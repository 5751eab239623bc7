/** The frame around every page: header, navigation, dialogs and messages. Its beginning is in `index.html`, too: that is what is painted first. */
import { html, useEffect, useRef, useState } from './vendor/preact.js';
import { contact } from './api.js';
import { count } from './format.js';
import { helpOpen, KEYS, useKeys } from './keys.js';
import { me, may, paused, state } from './live.js';
import { NAVIGATION } from './pages.js';
import { Confirmation, Dialog } from './parts/confirm.js';
import { Icon } from './parts/icon.js';
import { Toasts } from './parts/toast.js';
import { navigate, path, query, setQuery, to } from './router.js';
import { storedZone, switchTheme } from './settings.js';
import { deadCount, seenNamespaces } from './state.js';
import { skew } from './clock.js';
import { allZones, isZone, localZone, Time, zone, zoneLabel } from './zone.js';

export function Frame({ children }) {
  const go = Object.fromEntries(NAVIGATION.filter(([, , key]) => key).map(([where, , key]) => [`g ${key}`, () => navigate(to(where))]));
  useKeys({
    ...go,
    n: () => may('operate') && navigate(to('/new')),
    p: () => (paused.value = !paused.value),
    z: nextZone,
    '?': () => (helpOpen.value = true),
    Escape: () => path.value !== '/' && window.history.back(),
  });
  return html`
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById('main').focus(); }}>Skip to content</a>
    <${Header} />
    ${Math.abs(skew.value) > 2_000 && html`<p class="banner">This computer's clock differs from the server's by ${Math.round(Math.abs(skew.value) / 1_000)} s. Times are the server's.</p>`}
    <main id="main" tabindex="-1">${children}</main>
    <${Confirmation} />
    ${helpOpen.value && html`<${Help} />`}
    <${Toasts} />`;
}

function Header() {
  const menu = useRef(null);
  const close = () => menu.current.removeAttribute('data-open');
  return html`
    <header ref=${menu}>
      <a class="brand" href=${to('/')}><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8" /><path d="M10 5.500V10l3 2" /></svg>Duetime${me.value?.stage && html`<span class="stage">${me.value.stage}</span>`}</a>
      <button class="plain menu" aria-label="Menu" onClick=${() => menu.current.toggleAttribute('data-open')}><${Icon} name="menu" /></button>
      <nav aria-label="Pages" onClick=${close}>
        ${NAVIGATION.map(([where, name]) => html`<a key=${where} href=${to(where)} aria-current=${isCurrent(where) ? 'page' : undefined}>${name}${where === '/dead' && deadCount.value > 0 && html`<span class="count">${count(deadCount.value)}</span>`}</a>`)}
      </nav>
      <div class="controls">
        ${may('operate') && html`<a class="button primary" href=${to('/new')}><${Icon} name="plus" />New task</a>`}
        <${Namespace} />
        <${Zone} />
        <button class="plain" aria-label="Light or dark" title="Light or dark" onClick=${switchTheme}><${Icon} name="moon" /></button>
        <a class="plain" href=${to('/settings')} aria-label="Settings" title="Settings"><${Icon} name="settings" /></a>
        <${Live} />
      </div>
    </header>`;
}

const isCurrent = (where) => (where === '/' ? path.value === '/' : path.value === where || path.value.startsWith(`${where}/`));

function Namespace() {
  const onChange = ({ currentTarget }) => setQuery({ ns: currentTarget.value.trim() });
  return html`
    <label class="field-in"><span class="unseen">Namespace</span>
      <input class="namespace" list="namespaces" value=${query.value.get('ns') ?? ''} placeholder="All namespaces" spellcheck=${false} autocapitalize="off" autocomplete="off" onChange=${onChange} />
    </label>
    <datalist id="namespaces">${[...seenNamespaces.value].sort().map((name) => html`<option key=${name} value=${name} />`)}</datalist>`;
}

/** The zones that `z` goes through. */
const zoneChoices = () => [...new Set(['local', 'UTC', storedZone.value, zone.value])];

function nextZone() {
  const choices = zoneChoices();
  chooseZone(choices[(choices.indexOf(zone.value) + 1) % choices.length]);
}

function chooseZone(name) {
  if (!isZone(name)) return;
  storedZone.value = name;
  setQuery({ tz: name === 'local' ? '' : name }, { replace: true });
}

/** One zone for everything on the page; it is part of the URL. */
function Zone() {
  const [zones, setZones] = useState([]); // hundreds, which the first paint does not wait for
  useEffect(() => setZones(allZones()), []);
  const names = [...new Set([...zones, zone.value])].filter((name) => name !== 'local');
  return html`
    <label class="zone" title=${`Times are in ${zoneLabel.value}`}><span class="unseen">Time zone</span><${Icon} name="globe" />
      <select value=${zone.value} onChange=${({ currentTarget }) => chooseZone(currentTarget.value)}>
        <option value="local">Local (${localZone})</option>
        ${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select><span class="zone-name" aria-hidden="true">${zoneLabel}</span>
    </label>`;
}

const STATES = {
  live: ['Live', 'Changes are shown as they happen. Click to pause.'],
  polling: ['Polling', 'Read again every 10 seconds. Click to pause.'],
  paused: ['Paused', 'Nothing is fetched. Click to go on.'],
  lost: ['No connection', 'The server does not answer. It is asked again every 10 seconds.'],
};

function Live() {
  const [word, title] = STATES[state.value];
  return html`
    <button class=${`live is-${state.value}`} title=${title} aria-pressed=${paused.value} onClick=${() => (paused.value = !paused.value)}>
      <span class="live-dot"></span>${word}${state.value === 'lost' && html`<span class="quiet"> as of <${Time} at=${contact.value.at} as="clock" /></span>`}
    </button>`;
}

function Help() {
  return html`<${Dialog} title="Keyboard" onClose=${() => (helpOpen.value = false)}>
    <dl class="keys">${KEYS.map(([keys, what]) => html`<dt>${keys.split(' ').map((key) => (key === 'then' ? ' then ' : html`<kbd>${key}</kbd>`))}</dt><dd>${what}</dd>`)}</dl>
    <p class="quiet">Single keys can be turned off in the settings.</p>
    <div class="dialog-actions"><button class="primary" onClick=${() => (helpOpen.value = false)}>Close</button></div></${Dialog}>`;
}

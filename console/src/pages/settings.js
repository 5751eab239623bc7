/** Settings of this browser, and who and what the server is. */
import { html } from '../vendor/preact.js';
import { address } from '../address.js';
import { me } from '../live.js';
import { Choice, Choices } from '../parts/form.js';
import { Label } from '../parts/status.js';
import { setQuery } from '../router.js';
import { density, singleKeys, storedZone, theme } from '../settings.js';
import { skew } from '../clock.js';
import { allZones, duration, localZone, Time, zone } from '../zone.js';

const THEMES = [['system', 'as the system'], ['light', 'light'], ['dark', 'dark']];
const DENSITIES = [['comfortable', 'comfortable'], ['compact', 'compact']];
const KEYS = [['on', 'on'], ['off', 'off']];

export function Settings() {
  const zones = [['local', `local (${localZone})`], ['UTC', 'UTC'], ...allZones().filter((name) => name !== 'UTC').map((name) => [name, name])];
  const chooseZone = (name) => {
    storedZone.value = name;
    setQuery({ tz: '' }, { replace: true });
  };
  return html`
    <div class="page-head"><h1>Settings</h1></div>
    <div class="grid">
      <section class="panel"><div class="head"><h2>This browser</h2></div><div class="body form">
        <${Choices} label="Theme" value=${theme.value} options=${THEMES} onChange=${(name) => (theme.value = name)} />
        <${Choices} label="Density of lists" value=${density.value} options=${DENSITIES} onChange=${(name) => (density.value = name)} />
        <${Choice} label="Time zone" value=${zone.value} options=${zones} onChange=${chooseZone} hint="Every time of the console is in this zone. z goes through local, UTC and this one." />
        <${Choices} label="Single keys as shortcuts" value=${singleKeys.value} options=${KEYS} onChange=${(name) => (singleKeys.value = name)} />
        <p class="quiet">They are kept in this browser only.</p>
      </div></section>
      <section class="panel"><div class="head"><h2>This Duetime</h2></div><div class="body"><${Server} /></div></section>
    </div>`;
}

function Server() {
  const known = me.value ?? {};
  const list = (names) => (names?.length ? html`<span class="chips">${names.map((name) => html`<${Label} key=${name}>${name}</${Label}>`)}</span>` : '–');
  const facts = [
    ['Address', address.value.replace(/^https?:\/\//, '')],
    ['You are', known.actor ?? 'not named'],
    ['You may', known.rights ? list(known.rights) : 'everything'],
    ['Stage', known.stage ?? '–'],
    ['Version', known.version ?? '–'],
    ['Features', list(known.features)],
    ['Its time', html`<${Time} at=${known.time ?? null} as="full" />${Math.abs(skew.value) >= 2_000 && html` <span class="quiet">${duration(Math.abs(skew.value))} ${skew.value > 0 ? 'ahead of' : 'behind'} this computer</span>`}`],
    ['API', html`<a href="/docs">reference</a>, <a href="/v1/openapi.json">OpenAPI document</a>`],
  ];
  return html`<dl class="facts">${facts.map(([name, value]) => html`<dt key=${name}>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

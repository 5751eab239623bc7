/** Small charts in SVG, with a title and the same figures as a table. */
import { html } from '../vendor/preact.js';

const WIDTH = 240;
const HEIGHT = 40;

/**
 * Bars of one series; the last one is dashed while its minute is not over.
 * @param {{values: (number|null)[], title: string, tone?: string, unfinished?: boolean, max?: number, wide?: boolean}} props
 */
export function Spark({ values, title, tone = 'blue', unfinished = false, max, height = HEIGHT }) {
  const top = max ?? Math.max(1, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(values.length, 1);
  return html`
    <svg class=${`spark tone-${tone}`} viewBox=${`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" role="img" aria-label=${title}>
      <title>${title}</title>
      <line class="base" x1="0" x2=${WIDTH} y1=${height - 0.5} y2=${height - 0.5} />
      ${values.map((value, place) => {
        if (!value) return null;
        const size = Math.max(1.5, (value / top) * (height - 3));
        const last = unfinished && place === values.length - 1;
        return html`<rect key=${place} class=${last ? 'unfinished' : ''} x=${place * step + step * 0.12} width=${step * 0.76} y=${height - size} height=${size} rx="0.8" />`;
      })}
    </svg>`;
}

/** Figures of a chart, hidden until asked for. @param {{head: string[], rows: any[][]}} props */
export function AsTable({ head, rows }) {
  return html`
    <details class="as-table"><summary>Show as table</summary>
      <div class="scroll"><table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>
    </details>`;
}

/** A share from 0 to 1 as a bar. */
export function Meter({ share, tone = 'blue', title }) {
  const width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
  return html`<span class=${`meter tone-${tone}`} role="img" aria-label=${title}><span style=${{ width }}></span></span>`;
}

/**
 * The attempts of a task on one axis, to scale: drift, attempt, backoff. The wait before the first attempt and long
 * backoffs are cut, with a mark, so that milliseconds stay visible beside hours.
 */
import { html } from '../vendor/preact.js';
import { clockTimeMs, duration, millis } from '../zone.js';
import { toneOf } from './status.js';

const WIDTH = 1_000;
const NARROW_WIDTH = 560; // on a phone the box scrolls: text keeps its size
const HEIGHT = 64;
const MIDDLE = 26;
const BAR = 16;
const LEAD = 110; // the width of what is before the first attempt
const LEAST = 4; // the width of the shortest attempt
const LONGEST_GAP = 0.35; // of the sum of the attempts: a longer backoff is cut

/**
 * Returns spans in milliseconds of the axis: `{kind, from, to, ...}`. A time that is not known is a state of its own.
 * @param {object} task
 * @param {object[]} attempts oldest first
 * @param {number} now
 */
export function spansOf(task, attempts, now) {
  const spans = [];
  let end = millis(task.created_at);
  for (const attempt of attempts) {
    const start = millis(attempt.started_at);
    const due = start - Math.max(attempt.drift_ms ?? 0, 0);
    if (due > end) spans.push({ kind: 'wait', from: end, to: due });
    if (start > due) spans.push({ kind: 'drift', from: Math.max(due, end), to: start, ms: attempt.drift_ms });
    end = attempt.finished_at ? millis(attempt.finished_at) : Math.max(now, start);
    spans.push({ kind: 'attempt', from: start, to: end, attempt });
  }
  const due = millis(task.due_at);
  if (['PENDING', 'ENQUEUED', 'RETRYING', 'WAITING'].includes(task.status)) {
    if (due > end) spans.push({ kind: 'wait', from: end, to: due });
    spans.push({ kind: 'due', from: Math.max(due, end), to: Math.max(due, end) });
  }
  return spans;
}

/** Gives each span its place from 0 to `width`. */
export function layOut(spans, width = WIDTH) {
  const busy = spans.filter(({ kind }) => kind !== 'wait').reduce((sum, { from, to }) => sum + Math.max(to - from, 0), 0);
  const longest = Math.max(busy * LONGEST_GAP, 1);
  const sized = spans.map((span, place) => {
    const ms = Math.max(span.to - span.from, 0);
    if (span.kind === 'due') return { ...span, ms: 0, fixed: 10 };
    if (place === 0 && span.kind === 'wait') return { ...span, ms, fixed: LEAD, cut: ms > longest };
    const cut = span.kind === 'wait' && ms > longest;
    return { ...span, ms, scaled: cut ? longest : ms, cut };
  });
  const fixed = sized.reduce((sum, span) => sum + (span.fixed ?? (span.kind === 'attempt' ? LEAST : 0)), 0);
  const scaled = sized.reduce((sum, span) => sum + (span.scaled ?? 0), 0) || 1;
  const perMs = Math.max(width - fixed - 2, 0) / scaled;
  let x = 1;
  return sized.map((span) => {
    const wide = span.fixed ?? span.scaled * perMs + (span.kind === 'attempt' ? LEAST : 0);
    const placed = { ...span, x, width: wide };
    x += wide;
    return placed;
  });
}

/** @param {{task: object, attempts: object[], now: number, chosen?: number, onChoose: (number: number) => void}} props */
export function Timeline({ task, attempts, now, chosen, onChoose }) {
  const width = matchMedia('(max-width: 640px)').matches ? NARROW_WIDTH : WIDTH;
  const spans = layOut(spansOf(task, attempts, now), width);
  const title = attempts.length ? `${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'} of this task` : 'No attempt yet';
  return html`
    <div class="timeline-box"><svg class="timeline" viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${title}>
      <title>${title}</title>
      <circle class="start" cx="5" cy=${MIDDLE + BAR / 2} r="4"><title>submitted ${clockTimeMs(task.created_at)}</title></circle>
      ${spans.map((span, place) => html`<${Span} key=${place} ...${{ span, chosen, onChoose }} />`)}
    </svg></div>`;
}

function Span({ span, chosen, onChoose }) {
  const { kind, x, width, ms, cut } = span;
  const y = MIDDLE + BAR / 2;
  if (kind === 'attempt') return html`<${AttemptBar} ...${{ span, chosen, onChoose }} />`;
  if (kind === 'due') return html`<g class="due"><line x1=${x} x2=${x} y1=${MIDDLE - 8} y2=${MIDDLE + BAR + 8} /><text x=${x - 6} y=${MIDDLE - 10} text-anchor="end">due ${clockTimeMs(span.from)}</text></g>`;
  if (kind === 'drift') return html`<g class="drift"><title>drift ${duration(ms)}</title><line x1=${x} x2=${x} y1=${MIDDLE - 4} y2=${MIDDLE + BAR + 4} /><line x1=${x} x2=${x + width} y1=${y} y2=${y} /></g>`;
  return html`
    <g class="wait"><title>${duration(ms)} until due</title><line x1=${x + (x < 2 ? 9 : 0)} x2=${x + width} y1=${y} y2=${y} />
      ${cut && html`<path d=${`M${x + width / 2 - 5} ${y + 6} l4 -12 m3 0 l-4 12`} />`}
      ${width > 64 && html`<text x=${x + width / 2} y=${y - 10} text-anchor="middle">${duration(ms)}</text>`}</g>`;
}

function AttemptBar({ span, chosen, onChoose }) {
  const { attempt, x, width, ms } = span;
  const { number, outcome } = attempt;
  const words = `Attempt ${number}: ${(outcome ?? 'running').replaceAll('_', ' ')}, ${duration(ms)}`;
  const choose = () => onChoose(number);
  return html`
    <g class=${`attempt tone-${toneOf(outcome ?? 'running')} ${chosen === number ? 'chosen' : ''}`} onClick=${choose}>
      <title>${words}</title>
      <rect class="hit" x=${x - 4} width=${width + 8} y=${MIDDLE - 8} height=${BAR + 16} />
      <rect class=${outcome ? 'bar' : 'bar open'} x=${x} width=${width} y=${MIDDLE} height=${BAR} rx="3" />
      ${width > 14 && html`<text class="in" x=${x + width / 2} y=${MIDDLE + BAR / 2 + 4} text-anchor="middle">${number}</text>`}
      ${width > 46 && html`<text x=${x + width / 2} y=${MIDDLE + BAR + 15} text-anchor="middle">${duration(ms)}</text>`}
    </g>`;
}

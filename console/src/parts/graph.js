/** Steps as a graph: dagre finds the places in a chunk of its own; lines are SVG, steps are links. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { waitsFor } from '../models/run_steps.js';
import { withQuery } from '../router.js';
import { Icon } from './icon.js';
import { Loading } from './notes.js';
import { Status, toneOf } from './status.js';

const SIZE = { width: 188, height: 56 };

/**
 * @param {{steps: object[], chosen: string|null, label: string}} props steps with `name`, `needs`, `finally`, and a `status` in a run
 */
export function StepGraph({ steps, chosen, label }) {
  const places = usePlaces(steps);
  if (!places) return html`<${Loading} />`;
  const { plan, pathOf } = places;
  const known = new Map(steps.map((step) => [step.name, step]));
  const past = ({ from }) => known.get(from)?.status === 'SUCCEEDED';
  return html`
    <div class="graph scroll" role="group" aria-label=${label} tabindex="0"><div class="canvas" style=${{ width: `${plan.width}px`, height: `${plan.height}px` }}>
      <svg viewBox=${`0 0 ${plan.width} ${plan.height}`} width=${plan.width} height=${plan.height} role="img" aria-label=${`${label}: what needs what`}>
        <title>${`${label}: what needs what`}</title>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 7 4 0 7.500z" /></marker></defs>
        ${plan.edges.map((edge) => html`<path key=${`${edge.from} ${edge.to}`} class=${past(edge) ? 'past' : ''} d=${pathOf(edge.points)} marker-end="url(#arrow)"><title>${`${edge.to} needs ${edge.from}`}</title></path>`)}
      </svg>
      <ul>${plan.nodes.map(({ name, x, y }) => known.has(name) && html`
        <li key=${name} style=${{ left: `${x}px`, top: `${y}px`, width: `${SIZE.width}px`, height: `${SIZE.height}px` }}><${Node} step=${known.get(name)} steps=${steps} chosen=${name === chosen} /></li>`)}</ul>
    </div></div>`;
}

function Node({ step, steps, chosen }) {
  const waits = waitsFor(steps, step);
  return html`
    <a href=${withQuery({ step: chosen ? '' : step.name })} class=${`node tone-${toneOf(step.status)}`} aria-current=${chosen ? 'true' : undefined} title=${step.name}>
      <span class="node-name">${step.name}</span>
      <span class="node-state">${step.status ? html`<${Status} status=${step.status} />` : kindOf(step)}${note(step, waits)}</span>
    </a>`;
}

function note(step, waits) {
  if (waits.length) return html`<span class="quiet">for ${waits.join(', ')}</span>`;
  if (step.attempt > 1) return html`<span class="quiet">attempt ${step.attempt}</span>`;
  return step.run_id && html`<span class="quiet"><${Icon} name="queue" /><span class="unseen">has a run of its own</span></span>`;
}

/** What a step of a definition does. */
export function kindOf(step) {
  const kind = step.target ? step.target.handler ?? step.target.type : step.wait ? 'wait' : typeof step.workflow === 'string' ? step.workflow : 'workflow';
  return html`<span class="quiet">${kind}${step.map ? ', for each item' : ''}</span>`;
}

/** Finds the places again when the steps are others, not when their status changes. */
function usePlaces(steps) {
  const key = JSON.stringify(steps.map(({ name, needs, finally: last }) => [name, needs, last]));
  const [found, setFound] = useState(null);
  useEffect(() => {
    let wanted = true;
    import('../models/graph.js').then(({ pathOf, placed }) => wanted && setFound({ plan: placed(steps, SIZE), pathOf }));
    return () => (wanted = false);
  }, [key]);
  return found;
}

/** The places of the steps of a workflow, from left to right. The only module that loads dagre. */
import { Graph, layout } from '../vendor/dagre.js';

const MARGIN = 8;

/**
 * Returns `{width, height, nodes, edges}`: a node is `{name, x, y}` with its top left corner, an edge
 * `{from, to, points}`.
 * @param {{name: string, needs: string[], finally: boolean}[]} steps
 */
export function placed(steps, { width = 176, height = 52 } = {}) {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 44, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of steps) graph.setNode(name, { width, height });
  for (const { from, to } of edgesOf(steps)) graph.setEdge(from, to);
  layout(graph);
  const size = graph.graph();
  return {
    width: size.width,
    height: size.height,
    nodes: steps.map(({ name }) => {
      const { x, y } = graph.node(name);
      return { name, x: x - width / 2, y: y - height / 2 };
    }),
    edges: graph.edges().map(({ v, w }) => ({ from: v, to: w, points: graph.edge(v, w).points })),
  };
}

/** The needs; a `finally` step comes after every step that no other one needs. */
export function edgesOf(steps) {
  const ordinary = steps.filter((step) => !step.finally);
  const needed = new Set(ordinary.flatMap((step) => step.needs));
  const ends = ordinary.filter(({ name }) => !needed.has(name)).map(({ name }) => name);
  return steps.flatMap((step) => (step.finally ? ends : step.needs).map((from) => ({ from, to: step.name })));
}

/** Returns the path of an edge: through the middle of each two of its points. */
export function pathOf(points) {
  const at = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const middle = (one, other) => at({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });
  const turns = points.slice(1, -1).map((point, place) => `Q${at(point)} ${middle(point, points[place + 2])}`);
  return `M${at(points[0])} ${turns.join(' ')} L${at(points.at(-1))}`;
}

/** The steps of a run: what holds up what, and what a retry runs again. */

export const FAILED = ['DEAD', 'CANCELLED', 'EXPIRED'];
const OVER = ['SUCCEEDED', 'SKIPPED', ...FAILED];

export const isOver = (step) => OVER.includes(step.status);

/** Returns the names of the steps that come after this one, in the order of the definition. */
export function after(steps, name) {
  const found = new Set([name]);
  let before;
  do {
    before = found.size;
    for (const step of steps) if (step.needs.some((need) => found.has(need))) found.add(step.name);
  } while (found.size > before);
  return steps.filter((step) => step.name !== name && found.has(step.name)).map((step) => step.name);
}

/** Returns the needs of a blocked step that have not ended. */
export function waitsFor(steps, step) {
  if (step.status !== 'BLOCKED') return [];
  return steps.filter((each) => step.needs.includes(each.name) && !isOver(each)).map((each) => each.name);
}

/**
 * Returns the steps that hold up the rest, the worst first: those that have begun and have not ended; in a run that
 * failed, those that failed. Each is `{step, holds}`, with the names of the steps that wait for it or were skipped.
 */
export function holdups(steps) {
  const open = steps.filter((step) => !isOver(step) && step.status !== 'BLOCKED');
  const causes = open.length ? open : steps.filter((step) => FAILED.includes(step.status));
  const held = new Set(steps.filter(({ status }) => ['BLOCKED', 'SKIPPED'].includes(status)).map(({ name }) => name));
  return causes
    .map((step) => ({ step, holds: after(steps, step.name).filter((name) => held.has(name)) }))
    .sort((one, other) => other.holds.length - one.holds.length);
}

/** Returns the steps in an order in which each comes after its needs, with how deep it is: for an indented list. */
export function indented(steps) {
  const depths = new Map();
  const known = new Map(steps.map((step) => [step.name, step]));
  const depthOf = (step) => {
    if (!depths.has(step.name)) {
      depths.set(step.name, 0); // a cycle cannot be stored
      const needs = step.needs.map((need) => known.get(need)).filter(Boolean);
      depths.set(step.name, needs.length ? 1 + Math.max(...needs.map(depthOf)) : 0);
    }
    return depths.get(step.name);
  };
  const last = Math.max(0, ...steps.map(depthOf)) + 1;
  return steps
    .map((step) => ({ step, depth: step.finally ? last : depthOf(step) }))
    .sort((one, other) => one.depth - other.depth);
}

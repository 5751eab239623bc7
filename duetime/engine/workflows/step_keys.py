"""The keys under which the tasks of steps wait, filled in when the tasks are created."""

from collections.abc import Sequence

from duetime.core.ports import Ports
from duetime.core.step_ref import StepRef
from duetime.core.workflows.definition import Definition, WorkflowStep
from duetime.core.workflows.keys import StepKeys, fill_keys, key_templates
from duetime.core.workflows.references import BadReference, TooLarge
from duetime.core.workflows.run import Run
from duetime.engine.workflows.definitions import run_store
from duetime.engine.workflows.inputs import NO_CALLBACK, StepSource, names_for


def keys_of_steps(
    ports: Ports, definition: Definition, run: Run, positions: Sequence[int]
) -> dict[int, StepKeys]:
    """Returns the keys of the steps, or of the items of a map, at these positions. Most steps have
    no references in their keys, and nothing is read for them."""
    window = run.spec.map
    if window is None:
        steps = {p: definition.steps[p] for p in positions}
        return {p: _keys(ports, definition, run, step) for p, step in steps.items()}
    step = definition.step(window.step)
    if not key_templates(step):
        return dict.fromkeys(positions, _given(step))
    above = run_store(ports).get([window.run_id]).get(window.run_id)
    if above is None:
        return {}
    return {p: _keys(ports, definition, above, step, run, p) for p in positions}


def _keys(
    ports: Ports,
    definition: Definition,
    run: Run,
    step: WorkflowStep,
    map_run: Run | None = None,
    index: int | None = None,
) -> StepKeys:
    """A task whose keys cannot be filled in is created without them: its first attempt finds that
    out again, and fails with the reason."""
    templates = [*key_templates(step).values()]
    if not templates:
        return _given(step)
    ref = StepRef(run_id=(map_run or run).id, step=step.name, index=index)
    source = StepSource(ref=ref, run=run, definition=definition, step=step, map_run=map_run)
    try:
        return fill_keys(step, names_for(ports, source, templates, NO_CALLBACK))
    except (BadReference, TooLarge):
        return StepKeys()


def _given(step: WorkflowStep) -> StepKeys:
    return StepKeys(ordering_key=step.ordering_key, limits=step.limits)

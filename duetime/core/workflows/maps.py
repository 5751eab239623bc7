"""Maps: runs whose steps are the items of one step, with a window instead of needs.

A map has up to 10,000 items, so its states are counted and replaced as text.
"""

from collections.abc import Iterable, Mapping, Sequence

from duetime.core.lifecycle import Status
from duetime.core.value import replace
from duetime.core.workflows.advance import End, failure_of, new_run, positions
from duetime.core.workflows.decide import CANCELS
from duetime.core.workflows.definition import MAX_WINDOW
from duetime.core.workflows.retry import (
    STOPPED,
    RetryPlan,
    RetryRefused,
    refusal,
    refused_late,
    resumed,
    take_back,
)
from duetime.core.workflows.run import (
    MapWindow,
    Run,
    RunSpec,
    RunStatus,
    StepState,
    step_task_id,
)
from duetime.core.workflows.watches import Moment, ended, written


def window_of(run: Run) -> MapWindow:
    if run.spec.map is None:
        raise ValueError(f"run {run.id} is no map")
    return run.spec.map


def start_map(run_id: str, spec: RunSpec, *, moment: Moment) -> Run:
    """Returns the run of a map, its first items under way. One without items has succeeded."""
    count = spec.input if isinstance(spec.input, int) else len(spec.input)
    return filled(new_run(run_id, spec, count, moment), moment)


def advance_map(run: Run, ends: Sequence[End], *, moment: Moment) -> Run | None:
    """Returns the map after these ends, or None if there was nothing to record."""
    if run.status.final:
        return None
    after = _recorded(run, ends)
    for end in sorted(ends, key=lambda end: end.position):
        if run.states[end.position] == "d" and end.state is StepState.SUCCEEDED and _is(run, end):
            after = _late(after, end, moment)
    if after is run:
        return None
    return written(after if after.status.over else filled(after, moment), moment)


def map_result(run: Run) -> dict[str, int]:
    count = run.states.count
    return {"count": len(run.states), "succeeded": count("s"), "failed": count("d") + count("c")}


def items_to_retry(run: Run) -> RetryPlan | RetryRefused:
    """Returns what a retry takes back: every item that failed. As many dead ones as the window
    has room for are revived; the others start as new tasks, when their turn comes."""
    if refused := refusal(run):
        return refused
    first = positions(run.states, "d")[: window_of(run).max_concurrency]
    return RetryPlan(steps=frozenset(positions(run.states, "dc")), revive=tuple(first))


def retry_map(run: Run, revived: Mapping[int, Status], *, moment: Moment) -> Run | RetryRefused:
    """Returns the map in its next attempt; see duetime.core.workflows.retry."""
    plan = items_to_retry(run)
    if isinstance(plan, RetryRefused):
        return plan
    return written(filled(take_back(run, plan, revived, moment, names=[]), moment), moment)


def filled(run: Run, moment: Moment) -> Run:
    """Returns the map with as many items under way as its window has room for; over, if none is
    under way and none may start."""
    if run.status is RunStatus.RUNNING and not _failed(run):
        room = min(window_of(run).max_concurrency - run.states.count("p"), MAX_WINDOW)
        run = replace(run, states=run.states.replace("w", "p", max(room, 0)))
    return run if "p" in run.states else _over(run, moment)


def item_task_id(run: Run, index: int) -> str:
    return step_task_id(run, window_of(run).step, index, index)


def _failed(run: Run) -> bool:
    return map_result(run)["failed"] > window_of(run).tolerated_failures


def _over(run: Run, moment: Moment) -> Run:
    if run.status is RunStatus.CANCELLING:
        status = RunStatus.CANCELLED if run.stop in CANCELS else RunStatus.FAILED
    else:
        status = RunStatus.FAILED if _failed(run) else RunStatus.SUCCEEDED
    error = None if status is RunStatus.SUCCEEDED else run.error
    return ended(replace(run, error=error), status, moment)


def _recorded(run: Run, ends: Iterable[End]) -> Run:
    states, error, changed = list(run.states), run.error, False
    for end in sorted(ends, key=lambda end: end.position):
        if states[end.position] == "p" and _is(run, end):
            states[end.position] = end.state
            changed = True
            if end.state is not StepState.SUCCEEDED and run.status is RunStatus.RUNNING:
                error = error or failure_of(window_of(run).step, end)
    return replace(run, states="".join(states), error=error) if changed else run


def _late(run: Run, end: End, moment: Moment) -> Run:
    """Returns the map after a dead item has succeeded. A stopped map is not resumed. Its error may
    be that of another item, so it is cleared only with the task that it names."""
    if run.stop:
        return refused_late(run, STOPPED) or run
    own = run.error is not None and run.error.task_id == end.task_id
    name = window_of(run).step if own else None
    return resumed(run, end.position, (), moment, name) or run


def _is(run: Run, end: End) -> bool:
    return end.task_id == item_task_id(run, end.position)

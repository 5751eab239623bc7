"""Workflow runs after a restart of the local runner: each goes on at once, wherever it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from duetime.core.times import SECOND
from duetime.core.workflows.definition import MapOver, WorkflowStep
from duetime.core.workflows.ports import RunListing
from duetime.core.workflows.run import Run, RunStatus
from duetime.engine.workflows.callbacks import complete
from tests.factories import SteppedClock
from tests.workflows import HANDLER, scripted, settle, start, step, stored, task_of
from tests.world import WAKE_POLICY, World, sqlite_world

WITHIN = 2 * SECOND
INNER = {"steps": [{"name": "x", "target": HANDLER, "payload": {"step": "x"}}]}
NESTED = {"type": "workflow", "definition": INNER}

Die = Callable[[World], None]


class Killed(BaseException):
    """The runner was killed."""


def killed() -> None:
    raise Killed


def before_its_first_step(world: World) -> None:
    """The run is stored, and none of its tasks."""
    world.store.before["put"] = killed


def after_the_outcome(world: World) -> None:
    """The end of the first step is recorded in its task, and not in its run."""
    world.runs.before["put"] = lambda: world.runs.before.update(put=killed)


def after_the_suspension(world: World) -> None:
    """The task waits for a run that does not exist yet."""
    world.store.before["apply"] = lambda: world.store.before.update(
        apply=lambda: world.runs.before.update(put=killed)
    )


def before_the_report(world: World) -> None:
    """The inner run is over, and the task that waits for it does not know."""
    script = world.script

    def last(task: Any, ctx: Any) -> Any:
        if task.spec.payload["step"] in ("x", "m"):
            world.runs.before["put"] = lambda: world.store.before.update(apply=killed)
        return script(task, ctx)

    world.script = last


@contextmanager
def restarted(path: Path, clock: SteppedClock) -> Iterator[World]:
    with sqlite_world(path, clock) as world:
        world.store.port.recover(WAKE_POLICY, clock.now())
        yield world


def runs(world: World, *steps: WorkflowStep) -> None:
    start(world, *steps)
    settle(world)


def the_run(world: World) -> Run:
    [found] = [run for run in world.runs.page(RunListing()).runs if not run.spec.parent_task_id]
    return found  # type: ignore[no-any-return]


def goes_on(world: World) -> None:
    """A runner ticks when it starts, and every second or so."""
    for _ in range(WITHIN // SECOND):
        world.tick()
        settle(world, step=0)
        world.advance(SECOND)


@pytest.mark.parametrize(
    ("die", "first"),
    [
        (before_its_first_step, step("a")),
        (after_the_outcome, step("a")),
        (after_the_suspension, step("a", target=NESTED)),
        (before_the_report, step("a", target=NESTED)),
        (after_the_suspension, step("a", map=MapOver(items=3))),
        (before_the_report, step("m", map=MapOver(items=1))),
    ],
    ids=lambda given: given.__name__ if callable(given) else _kind(given),
)
def test_a_run_goes_on_within_two_seconds_of_a_restart(
    tmp_path: Path, die: Die, first: WorkflowStep
):
    path, clock = tmp_path / "duetime.db", SteppedClock()
    with sqlite_world(path, clock) as world:
        scripted(world)
        die(world)
        with pytest.raises(Killed):
            runs(world, first, step("next", first.name))
        assert the_run(world).status is RunStatus.RUNNING

    clock.advance(SECOND)  # no watch has come
    with restarted(path, clock) as world:
        script = scripted(world)
        goes_on(world)
        assert the_run(world).status is RunStatus.SUCCEEDED
        assert script.names.count("next") == 1
        assert world.awake() == []


def test_a_callback_is_still_waited_for_after_a_restart(tmp_path: Path):
    path, clock = tmp_path / "duetime.db", SteppedClock()
    with sqlite_world(path, clock) as world:
        scripted(world)
        run = start(world, step("ask", callback=600.0), step("next", "ask"))
        settle(world)

    clock.advance(SECOND)
    with restarted(path, clock) as world:
        script = scripted(world)
        goes_on(world)
        task = task_of(world, run, "ask")
        assert (script.names, task and task.status.value) == ([], "WAITING")
        assert task is not None
        complete(world.ports, task, result="yes")
        settle(world)
        assert script.names == ["next"]
        assert stored(world, run).status is RunStatus.SUCCEEDED


def _kind(first: WorkflowStep) -> str:
    return "map" if first.map else str(first.target["type"])

"""Schedules of workflows: the task of a fire time is not over before its run is."""

from typing import Any

import pytest

from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import Rule
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.steps.revive import revive
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.core.workflows.codec import definition_json
from duetime.core.workflows.definition import Definition, WorkflowStep
from duetime.core.workflows.run import Run, RunStatus, waited_run_id
from duetime.engine.enqueue import enqueue
from tests.flow.scheduling import Scheduled, after_each, every, live
from tests.flow.test_workflow_runs import BROKEN
from tests.workflows import scripted, step
from tests.world import World

STEP: Millis = 5 * SECOND
SLOW = (step("a"), step("b", "a", delay=100))


def scheduled_run(world: World, rule: Rule, *steps: WorkflowStep, **plan: Any) -> Scheduled:
    definition = definition_json(Definition(steps=steps))
    target = {"type": "workflow", "definition": definition, "input": {"at": "{{scheduled_for}}"}}
    return Scheduled(world, rule, task={"target": target}, **plan)


def run_of(world: World, task: Task) -> Run | None:
    run_id = waited_run_id(task.id, task.created_at)
    found: Run | None = world.ports.runs.get([run_id]).get(run_id)  # type: ignore[union-attr]
    return found


def ends(scheduled: Scheduled, number: int) -> list[tuple[str, str | None]]:
    """Returns the status of each task, and of its run if it has one."""
    tasks = scheduled.runs()[:number]
    runs = [run_of(scheduled.world, task) for task in tasks]
    return [(t.status, run and run.status) for t, run in zip(tasks, runs, strict=True)]


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        (OverlapPolicy.SKIP, [("SUCCEEDED", "SUCCEEDED"), ("CANCELLED", None)] * 2),
        (OverlapPolicy.QUEUE, [*[("SUCCEEDED", "SUCCEEDED")] * 3, ("CANCELLED", None)]),
        (OverlapPolicy.CANCEL, [("CANCELLED", "CANCELLED")] * 4),
        (OverlapPolicy.ALLOW, [("SUCCEEDED", "SUCCEEDED")] * 4),
    ],
)
def test_overlap_policy_of_a_schedule_sees_the_run_of_its_workflow(
    world: World, overlap: OverlapPolicy, expected: list[tuple[str, str | None]]
):
    script = scripted(world)
    scheduled = scheduled_run(world, every(MINUTE, world), *SLOW, overlap=overlap)
    live(scheduled, 7 * MINUTE, STEP)

    assert ends(scheduled, len(expected)) == expected
    assert ("b" in script.names) == (overlap is not OverlapPolicy.CANCEL)


def test_delay_of_a_schedule_counts_from_the_end_of_the_run(world: World):
    scripted(world)
    scheduled = scheduled_run(world, after_each(MINUTE), *SLOW)
    live(scheduled, 6 * MINUTE, STEP)

    first, second = scheduled.runs()[:2]
    run = run_of(world, first)
    assert run is not None
    assert run.finished_at is not None
    assert MINUTE <= second.due_at - run.finished_at <= MINUTE + STEP


def test_backfill_of_a_schedule_runs_the_workflow_for_each_fire_time(world: World):
    script = scripted(world)
    payload = {"step": "a", "at": "{{input.at}}"}
    scheduled = scheduled_run(world, every(HOUR, world), step("a", payload=payload))
    world.advance(30 * MINUTE)
    now = world.clock.now()
    scheduled.backfill(now - 3 * HOUR, now)
    live(scheduled, 4 * MINUTE, STEP)

    rows = scheduled.rows()
    assert [outcome for _, outcome, _ in rows] == [LedgerOutcome.FIRED] * 3
    assert ends(scheduled, 3) == [("SUCCEEDED", "SUCCEEDED")] * 3
    assert len({payload["at"] for _, payload in script.calls}) == 3


def test_failed_run_of_a_fire_time_resumes_with_its_task(world: World):
    script = scripted(world, b=[BROKEN, "mended"])
    steps = step("a"), step("b", "a"), step("c", "b")
    scheduled = scheduled_run(world, every(MINUTE, world), *steps, max_runs=1)
    live(scheduled, 2 * MINUTE, STEP)
    assert ends(scheduled, 1) == [("DEAD", "FAILED")]

    [dead] = scheduled.runs()
    now, draw = world.clock.now(), world.chance.draw()
    [answer] = world.store.apply([revive(world.wake_policy, dead, now=now, draw=draw)])
    enqueue(world.ports, [answer.stored])
    live(scheduled, MINUTE, STEP)

    assert ends(scheduled, 1) == [("SUCCEEDED", "SUCCEEDED")]
    assert script.names == ["a", "b", "b", "c"]
    [task] = scheduled.runs()
    run = run_of(world, task)
    assert run is not None
    assert (run.attempt, run.status) == (2, RunStatus.SUCCEEDED)

"""Retention of workflow runs: the task of a step is kept at least as long as its run."""

from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.aws import schema
from duetime.core.errors import PermanentError
from duetime.core.lifecycle import Status
from duetime.core.retention import RETENTION
from duetime.core.times import DAY, HOUR, SECOND
from duetime.core.workflows.retry import RetryRefused
from duetime.core.workflows.run import Run, RunStatus
from duetime.engine.removal import remove_tasks
from duetime.engine.workflows.requests import retry_stored
from duetime.local.retention import PAUSE, SWEEP_EVERY, RetentionSweep
from tests.backends import a_table
from tests.workflows import scripted, settle, start, step, stored, task_of
from tests.world import World, moto_world

APART = 6 * DAY
STEPS = step("a"), step("b", "a", delay=APART / SECOND)


def ends_late(world: World) -> Run:
    """Its first step ends six days before the run, which may take seven."""
    scripted(world)
    run = start(world, *STEPS, timeout=7 * DAY)
    settle(world)
    world.advance(APART - world.wake_policy.horizon)
    world.tick()
    world.advance(world.wake_policy.horizon)
    settle(world)
    assert stored(world, run).status is RunStatus.SUCCEEDED
    return run


def removed_after(dynamodb: Any, table: str, pk: str, sk: str) -> int:
    key = {schema.PK: {"S": pk}, schema.SK: {"S": sk}}
    item = dynamodb.get_item(TableName=table, Key=key)["Item"]
    return int(item[schema.REMOVE_AFTER]["N"])


def test_sweep_removes_no_step_before_its_run(world: World, request: pytest.FixtureRequest):
    if "moto" in request.node.name:
        pytest.skip("DynamoDB removes rows by itself: see the next test")
    run = ends_late(world)
    sweep = RetentionSweep(world.ports, RETENTION)
    ended_at, removed_at = world.clock.now(), None
    for _ in range(40):
        while sweep() != SWEEP_EVERY:
            world.advance(PAUSE)
        if run.id in world.runs.get([run.id]):
            assert all(task_of(world, run, name) for name in "ab")
        elif removed_at is None:
            removed_at = world.clock.now()
        world.advance(DAY)
    assert removed_at is not None
    assert RETENTION <= removed_at - ended_at <= RETENTION + DAY
    assert world.store.get(world.starts) == {}, "the tasks leave by themselves"


@pytest.mark.long
def test_ttl_of_a_step_is_not_before_that_of_its_run(moto: tuple[Any, Any]):
    dynamodb, sqs = moto
    with a_table(dynamodb) as table, moto_world(dynamodb, sqs, table) as world:
        run, ended_at = ends_late(world), world.clock.now()
        tasks = [task_of(world, run, name) for name in "ab"]
        keys = [(schema.run_pk(run.id), schema.RUN)]
        keys += [(schema.task_pk(task.id), schema.TASK) for task in tasks if task]
        first, *others = [removed_after(dynamodb, table, *key) for key in keys]
    assert 0 <= first - (ended_at + RETENTION) // SECOND <= 60
    assert len(others) == 2
    assert min(others) >= first


def test_purge_leaves_the_steps_of_a_run_that_has_just_ended(world: World):
    run = ends_late(world)
    body = b'{"older_than": 0}'
    api = Api(world.ports, handlers=set, version="0")
    headers = {"content-type": "application/json"}
    answer = api.call(Request(method="POST", path="/v1/purge", headers=headers, body=body))
    assert (answer.status, answer.body["removed"]) == (200, 0)
    assert all(task_of(world, run, name) for name in "ab")


def remove_task(world: World, run: Run, name: str) -> None:
    """Removes the task of a step, as the end of its retention does."""
    task = task_of(world, run, name)
    assert task is not None
    remove_tasks(world.ports, [task])


def test_failed_run_of_which_a_result_is_no_longer_kept_is_not_retried(world: World):
    scripted(world, b=PermanentError("broken"))
    run = start(world, step("a"), step("b", "a"))
    settle(world)
    remove_task(world, run, "a")

    refused = retry_stored(world.ports, stored(world, run))

    assert refused == RetryRefused(reason="the result of step a is no longer kept")
    assert stored(world, run).status is RunStatus.FAILED
    b = task_of(world, run, "b")
    assert b is not None
    assert b.status is Status.DEAD


def test_step_whose_reference_leads_to_a_removed_task_fails_instead_of_getting_null(world: World):
    scripted(world)
    run = start(
        world,
        step("a"),
        step("b", "a", delay=3_600, payload={"step": "b", "rows": "{{steps.a.result}}"}),
    )
    settle(world)
    remove_task(world, run, "a")
    world.live(2 * HOUR)

    error = stored(world, run).error
    assert error is not None
    assert (error.step, error.type) == ("b", "StepLost")
    assert "the result of step a is no longer kept" in error.message

"""Tasks that are changed or run now on their way."""

from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.codec import to_json
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.world import World

LONG = "x" * 4_000


def ask(world: World, method: str, path: str, body: Any = None) -> Any:
    api = Api(world.ports, handlers=set, version="0")
    headers = {"content-type": "application/json"}
    data = b"" if body is None else to_json(body).encode()
    answer = api.call(Request(method=method, path=path, headers=headers, body=data))
    assert answer.status == 200, answer.body
    return answer.body


def change(world: World, task_id: str, **fields: Any) -> Any:
    return ask(world, "PATCH", f"/v1/tasks/{task_id}", fields)


def run_now(world: World, task_id: str) -> Any:
    return ask(world, "POST", f"/v1/tasks/{task_id}/run")


def test_task_moved_from_24_to_48_hours_starts_in_48(world: World):
    task_id = world.submit(due_in=DAY)
    due_at = world.clock.now() + 2 * DAY
    change(world, task_id, delay=2 * DAY // SECOND)

    world.live(DAY + HOUR, step=10 * MINUTE)
    assert world.starts == []
    world.advance_to(due_at - 2 * MINUTE)
    world.tick()
    world.advance_to(due_at - 1)
    assert world.deliver() == []
    world.advance(1)
    world.deliver()

    assert (world.status(task_id), world.starts) == (Status.SUCCEEDED, [task_id])
    assert world.task(task_id).current.drift_ms == 0


def test_message_of_the_old_version_starts_nothing_and_is_deleted(world: World):
    task_id = world.submit(due_in=MINUTE, payload="old")
    change(world, task_id, delay=1_800, payload="new")

    world.advance(2 * MINUTE)
    assert world.deliver() == []
    assert (world.status(task_id), world.receive()) == (Status.PENDING, [])


@pytest.mark.parametrize("new", ["new", LONG])
@pytest.mark.parametrize("old", ["old", LONG + "old"])
def test_run_sees_the_changed_task(world: World, old: str, new: str):
    seen = []
    world.script = lambda task, ctx: seen.append((task.spec.payload, task.lane, task.spec.timeout))
    task_id = world.submit(due_in=MINUTE, payload=old)
    change(world, task_id, payload=new, priority="high", timeout=7)

    world.advance(MINUTE)
    world.deliver()

    assert (seen, world.starts) == ([(new, Lane.HIGH, 7)], [task_id])
    assert [d.lane for d in world.lanes.sent] == [Lane.MEDIUM, Lane.HIGH]


def test_task_that_is_run_now_needs_no_tick(world: World):
    task_id = world.submit(due_in=DAY)
    run_now(world, task_id)

    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    assert world.task(task_id).current.drift_ms == 0
    world.advance(DAY)
    assert (world.tick().claimed, world.awake()) == (0, [])


def test_retry_that_is_run_now_keeps_its_attempts(world: World):
    outcomes = iter([ConnectionError("no"), None])

    def script(task: Any, ctx: Any) -> int:
        if error := next(outcomes):
            raise error
        return ctx.attempt

    world.script = script
    task_id = world.submit(retry=RetryPolicy(base_delay=3_600))
    world.deliver()
    assert world.status(task_id) is Status.RETRYING

    run_now(world, task_id)
    world.deliver()

    assert world.status(task_id) is Status.SUCCEEDED
    ended = [attempt.outcome for attempt in world.attempts(task_id)]
    assert ended == [Outcome.FAILED, Outcome.SUCCEEDED]


def test_change_whose_message_is_lost_is_sent_again_by_its_watch(world: World):
    task_id = world.submit(due_in=HOUR)
    world.lanes.fate = "lost"
    run_now(world, task_id)
    world.lanes.fate = "sent"

    world.live(5 * MINUTE)

    assert (world.status(task_id), world.starts) == (Status.SUCCEEDED, [task_id])


def test_claim_from_an_index_that_lags_does_not_bring_the_old_time_back(world: World):
    task_id = world.submit(due_in=3 * MINUTE + HOUR)
    world.advance(HOUR)
    stale = list(world.store.few_wakes(10))
    change(world, task_id, delay=7_200)
    world.store.port.few_wakes = lambda limit: stale

    assert world.tick().claimed == 0
    assert world.status(task_id) is Status.PENDING

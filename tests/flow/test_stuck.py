"""GET /v1/stuck: what is past its time, and why."""

from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.field_values import moment
from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.steps.lease import LENGTH
from duetime.core.times import HOUR, MINUTE, SECOND, rfc3339
from duetime.engine import stuck
from tests.world import World


def answer(world: World, **query: str) -> Any:
    api = Api(world.ports, handlers=lambda: (), version="9", cursors=world.cursors)
    found = api.call(Request(method="GET", path="/v1/stuck", query=query))
    assert found.status == 200, found.body
    return found.body


def reasons(world: World, **query: str) -> dict[str, str]:
    return {item["id"]: item["why"] for item in answer(world, **query)["items"]}


@pytest.fixture(params=["whole index", "minutes"], autouse=True)
def _index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index with more wakes than are read at once is read by its minutes."""
    if request.param == "minutes":
        monkeypatch.setattr(stuck, "FEW_WAKES", 0)
        monkeypatch.setattr(stuck, "MAX_QUERIES", 500)


def test_nothing_is_stuck_in_a_system_that_works(world: World):
    world.submit(HOUR)
    world.submit()
    world.live(5 * MINUTE)

    found = answer(world)

    assert (found["items"], found["complete"]) == ([], True)


def test_task_that_the_scanner_did_not_reach_is_not_claimed(world: World):
    due = world.clock.now() + 10 * MINUTE
    task_id = world.submit(10 * MINUTE, name="late")
    world.tick()
    world.advance(10 * MINUTE + 59 * SECOND)
    assert reasons(world) == {}
    world.advance(SECOND)

    [item] = answer(world)["items"]

    assert item == {
        "id": task_id,
        "namespace": "default",
        "name": "late",
        "target": "reports.daily",
        "lane": "medium",
        "status": "PENDING",
        "due_at": rfc3339(due),
        "since": rfc3339(due),
        "why": "not_claimed",
    }


def test_task_whose_message_is_lost_is_not_taken_until_it_is_sent_again(world: World):
    task_id = world.submit()
    world.purge()
    world.advance(90 * SECOND)

    assert reasons(world) == {task_id: "not_taken"}
    world.live(5 * MINUTE)
    assert reasons(world) == {}


def test_task_in_a_lane_that_nothing_takes_from_has_no_worker(world: World):
    ids = [world.submit(), world.submit()]
    world.advance(90 * SECOND)

    assert reasons(world) == dict.fromkeys(ids, "no_worker")


def test_attempt_of_a_dead_executor_is_found_before_its_watch(world: World):
    task_id = world.submit()
    world.lease()
    world.advance(LENGTH + MINUTE)

    assert reasons(world) == {task_id: "lease_run_out"}
    world.live(10 * MINUTE)
    assert reasons(world) == {}


def test_retry_is_not_stuck_during_its_backoff(world: World):
    world.script = lambda task, ctx: 1 / 0
    world.submit()
    world.deliver()
    world.advance(SECOND)

    assert reasons(world) == {}


def test_task_that_waits_for_a_limit_says_which(world: World):
    world.limits.put(Limit(namespace="default", name="stripe", concurrency=1))
    for _ in range(2):
        world.submit(limits=(LimitUse(name="stripe", key="acct"),))
    world.lease()
    world.advance(30 * SECOND)
    world.lease()
    world.advance(45 * SECOND)

    [item] = [item for item in answer(world)["items"] if item["why"] == "limit"]

    assert item["waiting_for"] == {"limit": "stripe", "key": "acct"}


def test_task_that_cannot_be_read_is_set_aside(world: World):
    task_id = world.submit(10 * MINUTE)
    world.corrupt(task_id)
    world.advance(12 * MINUTE)

    [item] = answer(world)["items"]

    assert (item["id"], item["why"], item["status"]) == (task_id, "set_aside", None)
    assert reasons(world, namespace="default") == {}


def test_stuck_tasks_of_one_namespace_the_longest_first(world: World):
    later = world.submit(11 * MINUTE, namespace="shop")
    first = world.submit(10 * MINUTE, namespace="shop")
    world.submit(10 * MINUTE)
    world.advance(13 * MINUTE)

    assert list(reasons(world, namespace="shop")) == [first, later]
    found = answer(world, limit="2")
    assert (len(found["items"]), found["complete"]) == (2, False)


def test_bounded_reads_say_how_far_they_looked(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stuck, "FEW_WAKES", 0)
    monkeypatch.setattr(stuck, "MAX_QUERIES", 8)
    world.live(MINUTE)
    world.submit(10 * MINUTE)
    world.advance(12 * MINUTE)

    found = answer(world)

    assert not found["complete"]
    assert moment(found["looked_until"]) < world.clock.now()


def test_bounded_keys_end_the_reading(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stuck, "FEW_WAKES", 0)
    monkeypatch.setattr(stuck, "MAX_KEYS", 2)
    for _ in range(3):
        world.submit(10 * MINUTE)
    world.advance(12 * MINUTE)

    found = answer(world)

    assert (len(found["items"]), found["complete"]) == (2, False)

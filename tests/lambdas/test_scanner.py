import pytest

from duetime.aws.cursor_store import DynamoCursorStore
from duetime.aws.lane_queue import SqsLaneQueue
from duetime.core.ports import Depth
from duetime.core.times import HOUR, MINUTE
from duetime.core.wakes import shard_of
from lambdas.scanner import slice_of
from tests.lambdas.conftest import Deployment, LambdaContext, recorded

SHARDS = 2


@pytest.fixture
def invoked(monkeypatch: pytest.MonkeyPatch) -> list:
    calls: list = []
    monkeypatch.setattr(
        "duetime.aws.backend.invoke_later", lambda arn, event: calls.append((arn, event))
    )
    return calls


def test_a_slice_is_scanned_alone(deployment: Deployment, invoked: list):
    of_shard: dict[int, list[str]] = {0: [], 1: []}
    while not all(of_shard.values()):
        _, task = deployment.ask(recorded("http_api_post"))
        of_shard[shard_of(task["id"], SHARDS)].append(task["id"])
    deployment.clock.advance(5 * MINUTE)

    report = deployment.scan(recorded("eventbridge_slice"))
    assert report["claimed"] == len(of_shard[1])
    assert {deployment.read(i)["status"] for i in of_shard[1]} == {"ENQUEUED"}
    assert {deployment.read(i)["status"] for i in of_shard[0]} == {"PENDING"}

    report = deployment.scan({"slice": 0, "slices": 2})
    assert report["claimed"] == len(of_shard[0])
    assert invoked == []


def test_an_event_that_names_no_slice_means_all_shards(deployment: Deployment):
    for _ in range(8):
        deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(5 * MINUTE)

    assert deployment.scan(recorded("eventbridge_scheduled"))["claimed"] == 8


@pytest.mark.parametrize(
    ("event", "named"),
    [
        ({"slice": 4, "slices": 4}, "4 of 4"),
        ({"slice": 1}, "1 of 1"),
        ({"slice": -1, "slices": 2}, "-1 of 2"),
        ({"slice": 0, "slices": 0}, "0 of 0"),
        ({"slice": 0, "slices": -2}, "0 of -2"),
        ({"slice": 0.5, "slices": 2}, "0.5 of 2"),
        ({"slice": "0", "slices": "2"}, "'0' of '2'"),
        ({"slice": None, "slices": 2}, "None of 2"),
        ({"slice": True, "slices": 2}, "True of 2"),
    ],
)
def test_invalid_slice_is_refused(event: dict, named: str):
    with pytest.raises(ValueError, match=f"no such slice: {named}"):
        slice_of(event)


def test_a_tick_that_cannot_finish_starts_the_next_one(deployment: Deployment, invoked: list):
    _, task = deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(5 * MINUTE)

    report = deployment.scan(recorded("eventbridge_slice"), remaining=0)

    assert report["unfinished"]
    assert deployment.read(task["id"])["status"] == "PENDING"
    again = {"slice": 1, "slices": 2, "continues": report["chain"]}
    assert invoked == [(LambdaContext.invoked_function_arn, again)]


def test_a_tick_that_was_started_again_goes_on_and_one_of_the_rule_yields(
    deployment: Deployment, invoked: list
):
    rule = recorded("eventbridge_scheduled")
    _, task = deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(5 * MINUTE)
    deployment.scan(rule, remaining=0)

    assert deployment.scan(rule)["yielded"]
    assert deployment.read(task["id"])["status"] == "PENDING"

    [(_, again)] = invoked
    report = deployment.scan(again)
    assert (report["claimed"], report["yielded"]) == (1, False)
    assert len(invoked) == 1
    assert not deployment.scan(rule)["yielded"]


def test_a_lane_is_backed_up_by_more_than_its_executors_take_in_a_minute(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    """With two executors in the settings, a lane is backed up beyond 1,200 messages."""
    monkeypatch.setenv("DUETIME_AT_ONCE_MEDIUM", "2")
    ready = [1_200]
    monkeypatch.setattr(
        SqsLaneQueue, "depth", lambda *_: Depth(ready=ready[0], delayed=0, in_flight=0)
    )
    deployment.scan(recorded("eventbridge_slice"))
    for _ in range(8):
        deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(HOUR)

    ready[0] += 1
    assert deployment.scan({"slice": 0, "slices": 1})["claimed"] == 0
    ready[0] -= 1
    assert deployment.scan({"slice": 0, "slices": 1})["claimed"] == 8


def test_a_tick_that_was_overtaken_leaves_the_rest_to_the_other(
    deployment: Deployment, invoked: list, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(DynamoCursorStore, "save", lambda *_: False)
    deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(5 * MINUTE)

    assert deployment.scan(recorded("eventbridge_slice"), remaining=0)["unfinished"]
    assert invoked == []


def test_scanner_with_little_time_still_makes_progress(deployment: Deployment):
    deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(5 * MINUTE)

    slices = [{"slice": number, "slices": 2} for number in (0, 1)]
    reports = [deployment.scan(event, remaining=9_000) for event in slices]
    assert sum(report["claimed"] for report in reports) == 1
    assert not any(report["unfinished"] for report in reports)


def test_overdue_tasks_go_out_at_the_pace_that_was_set(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DUETIME_CATCH_UP", "1")
    one_of_sixty = {"slice": 0, "slices": 60}  # one task a minute
    of_slice: list[str] = []
    while len(of_slice) < 3:
        _, task = deployment.ask(recorded("http_api_post"))
        if shard_of(task["id"], SHARDS) == 0:
            of_slice.append(task["id"])
    deployment.clock.advance(HOUR)

    claimed_and_held = []
    for _ in range(3):
        report = deployment.scan(one_of_sixty)
        claimed_and_held.append((report["claimed"], report["held_back"]))
        deployment.clock.advance(MINUTE)
    assert claimed_and_held == [(1, 2), (1, 1), (1, 0)]

"""The metrics of the relay, in CloudWatch's embedded metric format (EMF)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from duetime.aws.task_items import encode_task
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.steps.cancel import expire
from duetime.core.steps.record import Failure, fail, started, succeed
from duetime.core.steps.revive import revive
from duetime.core.task import Task, TaskError
from duetime.core.times import HOUR, SECOND
from lambdas import relay as handler
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task
from tests.lambdas.conftest import LambdaContext

Printed = pytest.CaptureFixture[str]
Figures = dict[tuple[str, str, str], list[float]]  # lane, name, unit → values

_numbers = count(1)


def a_record(before: Task | None, after: Task) -> dict[str, Any]:
    images = {"NewImage": image(after)} | ({"OldImage": image(before)} if before else {})
    return {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": str(next(_numbers)), **images}}


def image(task: Task) -> dict[str, Any]:
    return encode_task(task, "default#20261116#00")[0]


def relayed(*records: Any) -> list[str]:
    answer = handler.handle({"Records": list(records)}, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def objects(printed: Printed) -> Iterator[Any]:
    """Yields every EMF object that was printed."""
    for line in printed.readouterr().out.splitlines():
        body = json.loads(line)
        if "_aws" in body:
            yield body


def figures(printed: Printed) -> Figures:
    found: Figures = {}
    for body in objects(printed):
        [directive] = body["_aws"]["CloudWatchMetrics"]
        assert (directive["Namespace"], body["service"]) == ("Duetime", "relay")
        assert [set(names) for names in directive["Dimensions"]] == [{"service", "lane"}]
        for metric in directive["Metrics"]:
            key = body["lane"], metric["Name"], metric["Unit"]
            found.setdefault(key, []).extend(body[metric["Name"]])
    return found


def running(lane: Lane, drift_ms: int = 0) -> Task:
    task = a_running_task(spec=a_spec(run_at=NOW + 10 * SECOND, priority=lane))
    return replace(task, current=replace(task.current, drift_ms=drift_ms))


def failed(task: Task, outcome: Outcome = Outcome.FAILED, *, permanent: bool = False) -> Task:
    error = TaskError(type="ValueError", message="no")
    failure = Failure(outcome=outcome, error=error, permanent=permanent)
    return fail(WAKE_POLICY, task, failure, now=task.due_at, draw=a_draw()).applied_to(task)


def attempted(lane: Lane, drift_ms: int) -> dict[str, Any]:
    """Returns an attempt that ended with a snooze, which has a drift and no other metric."""
    task = running(lane, drift_ms)
    return a_record(task, failed(task, Outcome.SNOOZED))


def test_each_lane_has_its_own_figures(capsys: Printed):
    records = [
        attempted(Lane.HIGH, 7),
        attempted(Lane.LOW, 900),
        attempted(Lane.HIGH, 8),
        a_record(None, a_sent_task(spec=a_spec(run_at=NOW, priority=Lane.LOW))),
        a_record(None, a_task(spec=a_spec(run_at=NOW + HOUR, priority=Lane.LOW))),
    ]

    assert relayed(*records) == []

    assert figures(capsys) == {
        ("high", "Drift", "Milliseconds"): [7, 8],
        ("low", "Drift", "Milliseconds"): [900],
        ("low", "FastPath", "Count"): [1, 0],
    }


def test_role_and_lane_are_the_only_dimensions(capsys: Printed, monkeypatch: pytest.MonkeyPatch):
    """An alarm names every dimension, so the environment must add none."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "other")
    monkeypatch.delitem(handler.METRICS, Lane.LOW, raising=False)

    relayed(attempted(Lane.LOW, 1))

    assert figures(capsys) == {("low", "Drift", "Milliseconds"): [1]}


def test_every_end_is_counted_under_its_name(capsys: Printed):
    task, sent = running(Lane.MEDIUM), a_sent_task()
    records = [
        a_record(task, succeed(task, result=None, now=NOW).applied_to(task)),
        a_record(task, failed(task, permanent=True)),
        a_record(task, replace(task, status=Status.CANCELLED)),
        a_record(sent, expire(sent, now=NOW).applied_to(sent)),
    ]

    relayed(*records)

    ends = ("Succeeded", "Dead", "Cancelled", "Expired")
    ran = {("medium", "Drift", "Milliseconds"): [0, 0, 0]}
    assert figures(capsys) == {("medium", end, "Count"): [1] for end in ends} | ran


def test_a_retry_is_an_attempt_that_failed_no_snooze_and_no_revival(capsys: Printed):
    task = running(Lane.HIGH)
    dead = failed(task, permanent=True)
    retrying, snoozed = failed(task), failed(task, Outcome.SNOOZED)
    revived = revive(WAKE_POLICY, dead, now=NOW, draw=a_draw()).applied_to(dead)
    assert {t.status for t in (retrying, snoozed, revived)} == {Status.RETRYING}

    relayed(a_record(task, retrying), a_record(task, snoozed), a_record(dead, revived))

    assert figures(capsys) == {
        ("high", "Retries", "Count"): [1],
        ("high", "Drift", "Milliseconds"): [0, 0],
    }


def test_drift_is_measured_when_an_attempt_ends_not_when_it_is_leased(capsys: Printed):
    """Only the outcome has the time of the call."""
    leased = running(Lane.HIGH, drift_ms=3)
    called = replace(leased, current=started(leased, after=40, now=NOW + SECOND))

    relayed(a_record(replace(leased, status=Status.ENQUEUED), leased))
    relayed(a_record(leased, failed(called, Outcome.SNOOZED)))

    assert figures(capsys) == {("high", "Drift", "Milliseconds"): [43]}


@pytest.mark.filterwarnings("error")
def test_change_without_a_new_status_publishes_nothing(capsys: Printed):
    relayed(a_record(running(Lane.HIGH), running(Lane.HIGH)))

    assert list(objects(capsys)) == []


@pytest.mark.parametrize("starts", [99, 100, 101, 250])
def test_relay_publishes_every_value_of_a_large_batch(capsys: Printed, starts: int):
    relayed(*(attempted(Lane.HIGH, drift_ms) for drift_ms in range(starts)), attempted(Lane.LOW, 1))

    bodies = list(objects(capsys))
    drifts = [drift for body in bodies if body["lane"] == "high" for drift in body["Drift"]]
    assert drifts == list(range(starts))
    assert max(len(body["Drift"]) for body in bodies) <= 100, "CloudWatch takes no more"


def test_an_unreadable_record_leaves_the_figures_of_those_before_it(capsys: Printed):
    broken = attempted(Lane.HIGH, 2)
    broken["dynamodb"]["NewImage"]["sc"] = {"S": "{"}

    named = relayed(attempted(Lane.HIGH, 1), broken, attempted(Lane.HIGH, 3))

    assert named == [broken["dynamodb"]["SequenceNumber"]]
    assert figures(capsys) == {("high", "Drift", "Milliseconds"): [1]}


def test_an_invocation_that_fails_publishes_what_it_has_measured(capsys: Printed):
    with pytest.raises(KeyError):
        relayed(attempted(Lane.HIGH, 1), {"eventName": "MODIFY"})

    assert figures(capsys) == {("high", "Drift", "Milliseconds"): [1]}


def test_an_invocation_publishes_nothing_of_the_one_before(capsys: Printed):
    relayed(attempted(Lane.HIGH, 1))
    capsys.readouterr()

    relayed(attempted(Lane.HIGH, 2))

    assert figures(capsys) == {("high", "Drift", "Milliseconds"): [2]}

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest

from duetime.aws.task_items import encode_task
from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.core.step_ref import StepRef
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.steps.record import succeed
from duetime.core.task import Task
from duetime.core.times import DAY
from duetime.relay import Relay
from lambdas import relay as handler
from tests.core.live.changes import a_change
from tests.factories import NOW, a_running_task, a_spec, an_id
from tests.lambdas.conftest import LambdaContext, recorded


class Notified:
    def __init__(self) -> None:
        self.changes: list[StatusChange] = []
        self.ends: list[list[str]] = []  # ids of the tasks whose follow-ups ran together

    def notify(self, change: StatusChange) -> None:
        self.changes.append(change)

    def run_follow_ups(self, ends: Sequence[StatusChange]) -> None:
        self.ends.append([end.task_id for end in ends if end.has_follow_up])


class Batched:
    """A sink that takes together what comes together."""

    def __init__(self, error: Exception | None = None) -> None:
        self.batches: list[list[StatusChange]] = []
        self._error = error

    def notify(self, change: StatusChange) -> None:
        self.batches.append([change])

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        if self._error:
            raise self._error
        self.batches.append(list(changes))


class Broken:
    def notify(self, change: StatusChange) -> None:
        raise ConnectionError("connection refused")


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> Notified:
    notified = Notified()
    monkeypatch.setattr(handler, "relay", Relay([Broken(), notified], notified.run_follow_ups))
    return notified


def relayed(event: dict) -> list[str]:
    answer = handler.handle(event, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_relay_notifies_of_status_changes_and_ignores_other_rows(notified: Notified):
    assert relayed(recorded("dynamodb_stream")) == []

    assert [(c.before, c.after) for c in notified.changes] == [
        (None, Status.PENDING),
        (Status.PENDING, Status.ENQUEUED),
        (Status.ENQUEUED, Status.RUNNING),
        (Status.RUNNING, Status.SUCCEEDED),
    ]
    assert {c.name for c in notified.changes} == {"report"}
    assert notified.changes[-1].drift_ms == 42


def test_relay_names_an_unreadable_record_and_finishes_those_before_it(notified: Notified):
    event = deepcopy(recorded("dynamodb_stream"))
    broken = event["Records"][5]["dynamodb"]
    broken["NewImage"]["sc"] = {"S": "{"}

    assert relayed(event) == [broken["SequenceNumber"]]
    assert [c.after for c in notified.changes] == [Status.PENDING, Status.ENQUEUED]


def test_relay_gives_changes_together_to_a_sink_that_takes_them_so(
    caplog: pytest.LogCaptureFixture,
):
    sink, single, after = Batched(), Notified(), Batched()
    relay = Relay([sink, Batched(ValueError("bad")), single, after], single.run_follow_ups)
    changes = [a_change(task_id="t1"), a_change(task_id="t2")]
    relay.relay(changes)
    relay.relay(changes[:1])

    assert sink.batches == after.batches == [changes, changes[:1]]
    assert single.changes == [*changes, changes[0]]
    [failed] = [record for record in caplog.records if record.message == "sink not notified"]
    assert failed.task_ids == ["t1", "t2"]


def test_sink_that_fails_is_logged_with_task_and_attempt(
    notified: Notified, caplog: pytest.LogCaptureFixture
):
    relayed(recorded("dynamodb_stream"))

    failed = [record for record in caplog.records if record.message == "sink not notified"]
    ids = [(change.task_id, change.attempt) for change in notified.changes]
    assert [(record.task_id, record.attempt) for record in failed] == ids


def test_relay_answers_an_empty_batch(notified: Notified):
    assert relayed({"Records": []}) == []
    assert notified.changes == []


def a_step(run_id: str) -> Task:
    """A running step of a workflow run."""
    ref = StepRef(run_id=run_id, step="a", index=None, run_timeout=DAY)
    return a_running_task(spec=a_spec(target={"type": "step"}, step=ref))


def a_write(before: Task, after: Task) -> dict[str, Any]:
    images = {"OldImage": image(before), "NewImage": image(after)}
    return {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": "1", **images}}


def image(task: Task) -> dict[str, Any]:
    return encode_task(task, None)[0]


def test_follow_ups_of_a_batch_run_together(notified: Notified):
    run_id = an_id()
    steps = [a_step(run_id), a_step(run_id)]
    ended = [succeed(step, result=None, now=NOW).applied_to(step) for step in steps]

    relayed({"Records": [a_write(*pair) for pair in zip(steps, ended, strict=True)]})

    assert notified.ends == [[step.id for step in steps]]
    assert len(notified.changes) == 2


def test_follow_up_that_the_executor_has_run_meanwhile_is_left_out(notified: Notified):
    running, left = a_step(an_id()), a_step(an_id())
    ended = succeed(running, result=None, now=NOW).applied_to(running)
    done = follow_up_done(ended).applied_to(ended)
    left_ended = succeed(left, result=None, now=NOW).applied_to(left)

    records = [a_write(running, ended), a_write(left, left_ended), a_write(ended, done)]
    relayed({"Records": records})
    relayed({"Records": [a_write(running, ended), a_write(ended, done)]})

    assert notified.ends == [[left.id]]
    assert len(notified.changes) == 3

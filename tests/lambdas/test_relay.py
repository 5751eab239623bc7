from copy import deepcopy

import pytest

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.relay import Relay
from lambdas import relay as handler
from tests.lambdas.conftest import LambdaContext, recorded


class Notified:
    def __init__(self) -> None:
        self.changes: list[StatusChange] = []
        self.ends: list[StatusChange] = []

    def notify(self, change: StatusChange) -> None:
        self.changes.append(change)


class Broken:
    def notify(self, change: StatusChange) -> None:
        raise ConnectionError("connection refused")


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> Notified:
    notified = Notified()
    monkeypatch.setattr(handler, "relay", Relay([Broken(), notified], notified.ends.extend))
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

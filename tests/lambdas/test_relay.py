from copy import deepcopy

import pytest

from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.relay import handler
from lambdas.relay.relay import Relay
from tests.handlers.conftest import LambdaContext, recorded


class Heard:
    def __init__(self) -> None:
        self.changes: list[StatusChange] = []
        self.ends: list[StatusChange] = []

    def notify(self, change: StatusChange) -> None:
        self.changes.append(change)


class Broken:
    def notify(self, change: StatusChange) -> None:
        raise ConnectionError("nobody is there")


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    heard = Heard()
    monkeypatch.setattr(handler, "relay", Relay([Broken(), heard], heard.ends.extend))
    return heard


def relayed(event: dict) -> list[str]:
    answer = handler.handle(event, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_changes_of_status_are_told_and_other_rows_are_passed_over(heard: Heard):
    assert relayed(recorded("dynamodb_stream")) == []

    assert [(c.before, c.after) for c in heard.changes] == [
        (None, Status.PENDING),
        (Status.PENDING, Status.ENQUEUED),
        (Status.ENQUEUED, Status.RUNNING),
        (Status.RUNNING, Status.SUCCEEDED),
    ]
    assert {c.name for c in heard.changes} == {"report"}
    assert heard.changes[-1].drift_ms == 42


def test_an_unreadable_record_is_named_and_what_came_before_it_is_done(heard: Heard):
    event = deepcopy(recorded("dynamodb_stream"))
    broken = event["Records"][5]["dynamodb"]
    broken["NewImage"]["sc"] = {"S": "{"}

    assert relayed(event) == [broken["SequenceNumber"]]
    assert [c.after for c in heard.changes] == [Status.PENDING, Status.ENQUEUED]


def test_sink_that_fails_is_logged_with_task_and_attempt(
    heard: Heard, caplog: pytest.LogCaptureFixture
):
    relayed(recorded("dynamodb_stream"))

    failed = [record for record in caplog.records if record.message == "notify failed"]
    ids = [(change.task_id, change.attempt) for change in heard.changes]
    assert [(record.task_id, record.attempt) for record in failed] == ids


def test_nothing_at_all(heard: Heard):
    assert relayed({"Records": []}) == []
    assert heard.changes == []

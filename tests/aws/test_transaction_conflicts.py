"""A transaction on an item refuses every other write of it, which must be a try again."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from duetime.aws import table as table_module
from duetime.aws.schedule_store import DynamoScheduleStore
from duetime.core.change import Applied, Unknown
from duetime.core.errors import Unavailable
from duetime.core.schedules.apps import Apps, take_generation
from tests.contract.test_declared_schedules import current, declared
from tests.factories import SteppedClock, a_schedule


def conflict(operation: str) -> ClientError:
    answer: Any = {
        "Error": {"Code": "TransactionConflictException", "Message": "ongoing transaction"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    return ClientError(answer, operation)


def cancelled(*codes: str) -> ClientError:
    answer: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": "cancelled"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
        "CancellationReasons": [{"Code": code} for code in codes],
    }
    return ClientError(answer, "TransactWriteItems")


class Failing:
    """A client whose calls of one name fail, one after the other."""

    def __init__(self, client: Any, name: str, *errors: ClientError) -> None:
        self._client = client
        self._name = name
        self.errors = list(errors)

    def __getattr__(self, name: str) -> Any:
        if name == self._name and self.errors:
            raise self.errors.pop(0)
        return getattr(self._client, name)


@pytest.fixture
def schedules(dynamodb: Any, table: str) -> DynamoScheduleStore:
    return DynamoScheduleStore(dynamodb, table, clock=SteppedClock())


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(table_module.time, "sleep", slept.append)
    return slept


def fail(schedules: DynamoScheduleStore, name: str, *errors: ClientError) -> Failing:
    client = Failing(schedules._table.client, name, *errors)
    schedules._table.client = client  # type: ignore[assignment]
    return client


def test_write_that_meets_a_transaction_is_unanswered(schedules: DynamoScheduleStore):
    schedule = a_schedule()
    schedules.put([schedule])
    fail(schedules, "update_item", conflict("UpdateItem"))

    [answer] = schedules.put([replace(schedule, revision=2)])

    assert isinstance(answer, Unknown)


def test_apps_that_meet_a_transaction_are_unavailable(schedules: DynamoScheduleStore):
    fail(schedules, "transact_write_items", conflict("TransactWriteItems"))

    with pytest.raises(Unavailable):
        schedules.put_apps(take_generation(Apps(), "shop"))


@pytest.mark.parametrize(
    "codes", [("None", "TransactionConflict"), ("TransactionConflict", "None")]
)
def test_transaction_that_meets_a_writer_is_repeated(
    schedules: DynamoScheduleStore, sleeps: list[float], codes: tuple[str, str]
):
    current(schedules, 3)
    schedule = declared(3)
    client = fail(schedules, "transact_write_items", cancelled(*codes))

    assert schedules.put_declared(schedule) == Applied(schedule)
    assert client.errors == []
    assert len(sleeps) == 1


def test_transaction_that_always_meets_a_writer_is_unanswered(
    schedules: DynamoScheduleStore, sleeps: list[float]
):
    current(schedules, 3)
    errors = [cancelled("TransactionConflict", "None")] * 20
    client = fail(schedules, "transact_write_items", *errors)

    assert isinstance(schedules.put_declared(declared(3)), Unknown)
    assert client.errors

"""The dependent rows of a task that DynamoDB has expired."""

import json
import subprocess
import sys
from typing import Any

import pytest

from duetime.aws import backend, schema
from duetime.core.errors import Unavailable
from duetime.core.times import DAY, MINUTE, SECOND
from lambdas import relay as handler
from tests.lambdas.conftest import Deployment, LambdaContext, recorded

# Of the recorded removals. The others: a small task, a key, a task deleted by hand, a text.
LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS = 2, 3, 4


class DeletedRows:
    def __init__(self) -> None:
        self.task_ids: list[str] = []
        self.failing: set[str] = set()

    def delete(self, task_id: str) -> None:
        if task_id in self.failing:
            raise Unavailable("throttled")
        self.task_ids.append(task_id)


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch) -> DeletedRows:
    deleted = DeletedRows()
    monkeypatch.setattr(backend, "dependent_rows", lambda: deleted)
    return deleted


def relayed(records: list[Any]) -> list[str]:
    answer = handler.handle({"Records": records}, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def id_of(record: Any) -> str:
    return schema.task_id_of(record["dynamodb"]["Keys"][schema.PK]["S"])


def test_relay_deletes_the_rows_of_an_expired_task_only(
    deleted: DeletedRows, capsys: pytest.CaptureFixture[str]
):
    records = recorded("dynamodb_removals")["Records"]

    assert relayed(records) == []

    assert deleted.task_ids == [
        id_of(records[n]) for n in (LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS)
    ]
    assert capsys.readouterr().out == "", "a removal publishes nothing"


def test_relay_names_a_record_whose_rows_cannot_be_deleted(deleted: DeletedRows):
    records = recorded("dynamodb_removals")["Records"]
    failing = records[TWO_ATTEMPTS]
    deleted.failing = {id_of(failing)}

    assert relayed(records) == [failing["dynamodb"]["SequenceNumber"]]
    assert deleted.task_ids == [id_of(records[LONG_SPEC])]

    deleted.failing = set()
    assert relayed(records[TWO_ATTEMPTS:]) == []
    assert len(deleted.task_ids) == 3


@pytest.mark.parametrize("days", [None, 7])
def test_rows_of_a_task_with_a_long_payload_are_deleted_when_it_expires(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, days: int | None
):
    if days is not None:
        monkeypatch.setenv("DUETIME_RETENTION_DAYS", str(days))
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | {"payload": "p" * 5_000}
    _, task = deployment.ask(event | {"body": json.dumps(body)})
    deployment.clock.advance(5 * MINUTE)
    deployment.scan(recorded("eventbridge_scheduled"))
    deployment.execute(deployment.sqs_records())
    rows = deployment.rows(task["id"])
    assert sorted(sk.partition("#")[0] for sk in rows) == ["result", "spec", "task"]
    kept_until = deployment.clock.now() + (days or 30) * DAY
    assert rows["task"][schema.REMOVE_AFTER] == {"N": str(kept_until // SECOND + 1)}

    assert deployment.relay([deployment.expire(task["id"])]) == []

    assert deployment.rows(task["id"]) == {}


@pytest.mark.parametrize("size", [1, 5_000], ids=["short", "long"])
@pytest.mark.parametrize("by_user", [False, True], ids=["expired", "deleted"])
def test_unique_key_of_a_removed_task_is_deleted(deployment: Deployment, size: int, by_user: bool):
    task = submit_unique(deployment, payload="p" * size)
    record = deployment.expire(task["id"])
    if by_user:
        del record["userIdentity"]
    assert deployment.unique_key("k") == task["id"]

    assert deployment.relay([record]) == []
    assert deployment.relay([record]) == [], "a repeated record"

    assert deployment.unique_key("k") is None


def test_unique_key_that_a_newer_task_has_taken_over_is_kept(deployment: Deployment):
    first = submit_unique(deployment)
    second = submit_unique(deployment, on_conflict="replace")

    assert deployment.relay([deployment.expire(first["id"])]) == []

    assert deployment.unique_key("k") == second["id"] != first["id"]


def submit_unique(deployment: Deployment, payload: str = "", **unique: str) -> Any:
    event = recorded("http_api_post")
    body = {**json.loads(event["body"]), "payload": payload, "unique": {"key": "k", **unique}}
    _, task = deployment.ask(event | {"body": json.dumps(body)})
    return task


def test_relay_starts_without_boto3():
    code = "import sys, lambdas.relay; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

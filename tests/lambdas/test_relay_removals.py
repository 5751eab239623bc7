"""What a task leaves behind when DynamoDB has removed it."""

import json
import subprocess
import sys
from typing import Any

import pytest

from lambdas import wiring
from lambdas.aws import schema
from lambdas.core.errors import Unavailable
from lambdas.core.times import DAY, MINUTE, SECOND
from lambdas.relay import handler
from tests.handlers.conftest import Deployment, LambdaContext, recorded

# Of the recorded removals. The others: a small task, a key, a task deleted by hand, a text.
LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS = 2, 3, 4


class Forgotten:
    def __init__(self) -> None:
        self.task_ids: list[str] = []
        self.failing: set[str] = set()

    def forget(self, task_id: str) -> None:
        if task_id in self.failing:
            raise Unavailable("throttled")
        self.task_ids.append(task_id)


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Forgotten:
    forgotten = Forgotten()
    monkeypatch.setattr(wiring, "rows_beside", lambda: forgotten)
    return forgotten


def relayed(records: list[Any]) -> list[str]:
    answer = handler.handle({"Records": records}, LambdaContext())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def id_of(record: Any) -> str:
    return schema.task_id_of(record["dynamodb"]["Keys"][schema.PK]["S"])


def test_only_an_expired_task_with_rows_beside_it_is_forgotten(
    forgotten: Forgotten, capsys: pytest.CaptureFixture[str]
):
    records = recorded("dynamodb_removals")["Records"]

    assert relayed(records) == []

    assert forgotten.task_ids == [
        id_of(records[n]) for n in (LONG_SPEC, TWO_ATTEMPTS, THREE_ATTEMPTS)
    ]
    assert capsys.readouterr().out == "", "a removal is no news"


def test_what_cannot_be_forgotten_is_named_and_tried_again(forgotten: Forgotten):
    records = recorded("dynamodb_removals")["Records"]
    failing = records[TWO_ATTEMPTS]
    forgotten.failing = {id_of(failing)}

    assert relayed(records) == [failing["dynamodb"]["SequenceNumber"]]
    assert forgotten.task_ids == [id_of(records[LONG_SPEC])]

    forgotten.failing = set()
    assert relayed(records[TWO_ATTEMPTS:]) == []
    assert len(forgotten.task_ids) == 3


@pytest.mark.parametrize("days", [None, 7])
def test_the_end_of_a_task_with_a_long_payload(
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


def test_a_relay_that_forgets_nothing_starts_without_boto3():
    code = "import sys, lambdas.relay.handler; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

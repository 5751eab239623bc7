"""Statistics of a deployment: only a stage that asks for them pays for rows."""

import json
from typing import Any

import pytest

from duetime.aws.stats_store import DynamoStatsStore
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.times import HOUR, MINUTE
from tests.lambdas.conftest import Aws, Deployment, recorded
from tests.lambdas.test_relay_metrics import attempted


@pytest.fixture
def counting(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setenv("DUETIME_STATS", "table")
    return deployment


def live(deployment: Deployment, count: int = 3) -> None:
    """Tasks from their submission to their end; the relay gets every record, in one batch."""
    for _ in range(count):
        event = recorded("http_api_post")
        target = {"type": "python", "handler": "handlers.echo"}
        deployment.ask(event | {"body": json.dumps({"target": target})})
    assert deployment.execute(deployment.sqs_records()) == []
    records = [
        record
        for record in deployment.stream_records()
        if record["dynamodb"]["Keys"]["sk"]["S"] == "task"
    ]
    assert deployment.relay(records) == []


def stats(deployment: Deployment, query: str = "") -> Any:
    event = recorded("http_api_get") | {"rawPath": "/v1/stats", "rawQueryString": query}
    status, body = deployment.ask(event)
    assert status == 200, body
    return body


def rows(aws: Aws, deployment: Deployment) -> list[str]:
    items = aws.dynamodb.scan(TableName=deployment.table)["Items"]
    return sorted(i["pk"]["S"] for i in items if i["pk"]["S"].startswith(("stats#", "hours#")))


def test_batch_of_the_relay_adds_one_row_for_a_lane(aws: Aws, counting: Deployment):
    live(counting)

    assert len(rows(aws, counting)) == 1
    body = stats(counting)
    assert (body["source"], body["complete"]) == ("table", True)
    [point] = body["series"]
    assert (point["lane"], point["attempts"]["succeeded"]) == ("medium", 3)
    assert point["ends"]["SUCCEEDED"] == 3
    assert point["drift_ms"]["max"] >= 0


def test_batch_without_an_end_writes_nothing(aws: Aws, counting: Deployment):
    counting.ask(recorded("http_api_post"))
    counting.relay(counting.stream_records())

    assert rows(aws, counting) == []


def test_failing_write_does_not_fail_the_batch(
    counting: Deployment, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def fail(*_: Any) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(DynamoStatsStore, "add", fail)
    assert counting.relay([attempted(Lane.HIGH, 3)]) == []

    assert "statistics not written" in caplog.messages


def test_records_after_a_failed_one_are_not_counted(counting: Deployment):
    broken = attempted(Lane.HIGH, 2)
    broken["dynamodb"]["NewImage"]["sc"] = {"S": "{"}
    for record in (first := attempted(Lane.HIGH, 1)), broken:
        record["dynamodb"]["NewImage"]["up"] = {"N": str(counting.clock.now())}
    counting.relay([first, broken, first])

    assert stats(counting)["total"]["attempts"]["snoozed"] == 1


def test_first_ticks_after_an_hour_write_its_sum(aws: Aws, counting: Deployment):
    live(counting)
    counting.scan(recorded("eventbridge_scheduled"))
    counting.clock.advance(HOUR)
    for _ in range(6):
        counting.clock.advance(MINUTE)
        counting.scan(recorded("eventbridge_scheduled"))

    assert [pk.partition("#")[0] for pk in rows(aws, counting)] == ["hours", "stats"]
    body = stats(counting, "window=1d&step=3600")
    assert body["total"]["attempts"]["succeeded"] == 3


def test_default_deployment_writes_no_row_and_names_the_dashboard(
    aws: Aws, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DUETIME_STAGE", "prod")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    live(deployment)
    deployment.scan(recorded("eventbridge_scheduled"))

    assert rows(aws, deployment) == []
    body = stats(deployment)
    assert (body["source"], body["series"], body["total"]) == ("emf", [], None)
    assert body["url"] == (
        "https://eu-central-1.console.aws.amazon.com/cloudwatch/home?region=eu-central-1"
        "#dashboards/dashboard/duetime-prod"
    )

"""The metrics of a tick, in CloudWatch's embedded metric format."""

import json
from typing import Any

import pytest

from duetime.aws import schema
from duetime.aws.task_store import DynamoTaskStore
from duetime.core.times import HOUR, MINUTE, SECOND
from lambdas import scanner as handler
from tests.lambdas.conftest import Aws, Deployment, recorded

TICK = recorded("eventbridge_scheduled")
UNITS = {"Lag": "Seconds", "TickAge": "Seconds"}  # the rest are counted


def measured(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, float]]:
    """Returns the metrics that were sent since the last call, by lane, or "" without one."""
    found: dict[str, dict[str, float]] = {}
    for line in capsys.readouterr().out.splitlines():
        if "_aws" in (blob := json.loads(line)):
            [metrics] = blob["_aws"]["CloudWatchMetrics"]
            lane = blob.get("lane", "")
            assert metrics["Namespace"] == "Duetime"
            assert metrics["Dimensions"] == [["lane", "service"] if lane else ["service"]]
            assert blob["service"] == "scanner"
            units = {metric["Name"]: metric["Unit"] for metric in metrics["Metrics"]}
            assert units == {name: UNITS.get(name, "Count") for name in units}
            found[lane] = {name: sum(blob[name]) for name in units}
    return found


def submit(deployment: Deployment, **fields: Any) -> str:
    event = recorded("http_api_post")
    event["body"] = json.dumps(json.loads(event["body"]) | fields)
    status, task = deployment.ask(event)
    assert status == 201
    return task["id"]


def test_an_idle_tick_sends_three_metrics(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
):
    deployment.scan(TICK)
    assert measured(capsys) == {"": {"Ticks": 1, "Lag": 0}}, "there was no tick before"

    deployment.clock.advance(61_500)
    deployment.scan(TICK)
    assert measured(capsys) == {"": {"Ticks": 1, "Lag": 0, "TickAge": 61.5}}


def test_a_tick_that_yields_sends_its_age_and_counts_for_no_tick(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Otherwise the alarm for missing ticks would not fire while a dead chain blocks the slice."""
    monkeypatch.setattr("duetime.aws.backend.invoke_later", lambda arn, event: None)
    submit(deployment)
    deployment.clock.advance(5 * MINUTE)
    deployment.scan(TICK, remaining=0)
    assert measured(capsys)[""]["Ticks"] == 1

    deployment.clock.advance(10 * SECOND)
    deployment.scan(TICK)
    assert measured(capsys) == {"": {"TickAge": 10}}

    deployment.clock.advance(10 * SECOND)
    deployment.scan(TICK)
    assert measured(capsys)[""]["Ticks"] == 1, "the chain is dead, and the rule has taken over"


def test_the_age_is_that_of_the_same_slice(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
):
    first, second = ({"slice": number, "slices": 2} for number in (0, 1))
    for event, wait in ((first, 10), (second, 20), (first, 0), (second, 0)):
        deployment.scan(event)
        deployment.clock.advance(wait * SECOND)
        last = measured(capsys)
        if wait == 0:
            assert last[""]["TickAge"] == (30 if event is first else 20)


def test_claims_are_counted_by_lane(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    for priority in ("high", "low", "low"):
        submit(deployment, priority=priority)
    deployment.clock.advance(5 * MINUTE)
    measured(capsys)

    answer = deployment.scan(TICK)

    assert measured(capsys) == {
        "": {"Ticks": 1, "Lag": 0},
        "high": {"Claims": 1},
        "low": {"Claims": 2},
    }
    assert json.loads(json.dumps(answer))["claims"] == {"high": 1, "low": 2}


def test_lost_claims_are_counted_by_lane(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for priority in ("medium", "low"):
        submit(deployment, priority=priority)
    deployment.clock.advance(5 * MINUTE)
    read = DynamoTaskStore.few_wakes

    def overtaken(store: DynamoTaskStore, limit: int) -> Any:
        found = read(store, limit)
        monkeypatch.setattr(DynamoTaskStore, "few_wakes", read)
        assert handler.scanner().tick().claimed == 2
        return found

    monkeypatch.setattr(DynamoTaskStore, "few_wakes", overtaken)
    deployment.scan(TICK)

    assert measured(capsys) == {
        "": {"Ticks": 1, "Lag": 0},
        "medium": {"LostClaims": 1},
        "low": {"LostClaims": 1},
    }


def test_rows_that_were_set_aside_are_counted(
    deployment: Deployment, aws: Aws, capsys: pytest.CaptureFixture[str]
):
    deployment.scan(TICK)
    broken, *_ = [submit(deployment) for _ in range(4)]
    _break(deployment, aws, broken)
    deployment.clock.advance(HOUR)
    measured(capsys)

    deployment.scan(TICK)
    assert measured(capsys) == {
        "": {"Ticks": 1, "TickAge": 3600, "Lag": 50 * 60, "SetAside": 1},
        "medium": {"Claims": 3},
    }
    deployment.scan(TICK)
    assert measured(capsys) == {"": {"Ticks": 1, "TickAge": 0, "Lag": 0}}


def test_wakes_that_were_held_back_are_counted(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("DUETIME_CATCH_UP", "1")
    for _ in range(62):
        submit(deployment)
    deployment.clock.advance(HOUR)
    measured(capsys)

    deployment.scan(TICK)

    metrics = measured(capsys)
    assert metrics["medium"] == {"Claims": 60}
    assert metrics[""]["HeldBack"] == 2


def _break(deployment: Deployment, aws: Aws, task_id: str) -> None:
    aws.dynamodb.update_item(
        TableName=deployment.table,
        Key={schema.PK: {"S": schema.task_pk(task_id)}, schema.SK: {"S": schema.TASK}},
        UpdateExpression=f"SET {schema.SPEC} = :broken",
        ExpressionAttributeValues={":broken": {"S": "{"}},
    )

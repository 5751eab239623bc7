"""Quotas of a deployment: the API refuses, the relay counts."""

import json
import sys
from typing import Any

import pytest

from duetime.aws import backend, schema
from duetime.aws.table import Table
from duetime.core.times import SECOND
from lambdas import api
from tests.lambdas.conftest import Aws, Deployment, LambdaContext, recorded


def limit(monkeypatch: pytest.MonkeyPatch, **quota: Any) -> None:
    monkeypatch.setenv("DUETIME_QUOTAS", json.dumps({"shop": quota}))


def submitted(namespace: str = "shop", **fields: Any) -> dict[str, Any]:
    event = recorded("http_api_post")
    target = {"type": "python", "handler": "handlers.echo"}
    body = {"target": target, "namespace": namespace, **fields}
    return api.handle(event | {"body": json.dumps(body)}, LambdaContext())


def count_of(aws: Aws, deployment: Deployment, namespace: str = "shop") -> int | None:
    key = {schema.PK: {"S": schema.quota_pk(namespace)}, schema.SK: {"S": schema.STORED}}
    row = aws.dynamodb.get_item(TableName=deployment.table, Key=key).get("Item")
    return int(row[schema.COUNT]["N"]) if row else None


def inserts(deployment: Deployment) -> list[Any]:
    """Returns the stream records of new tasks; the event source passes no other rows."""
    return [
        record
        for record in deployment.stream_records()
        if record["eventName"] == "INSERT"
        and record["dynamodb"]["Keys"][schema.SK]["S"] == schema.TASK
    ]


def test_two_sandboxes_share_a_rate(deployment: Deployment, monkeypatch: pytest.MonkeyPatch):
    limit(monkeypatch, submissions_per_second=0.1, burst=2)
    assert submitted()["statusCode"] == 201
    api.api.cache_clear()
    backend.quota_store.cache_clear()

    answers = [submitted(), submitted(), submitted(namespace="blog")]

    assert [answer["statusCode"] for answer in answers] == [201, 429, 201]
    assert answers[1]["headers"]["retry-after"] == "10"
    assert json.loads(answers[1]["body"])["type"] == "urn:duetime:problem:quota"


def test_relay_counts_tasks_that_come_and_go(
    aws: Aws, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    limit(monkeypatch, stored_tasks=3)
    ids = [json.loads(submitted(delay=600)["body"])["id"] for _ in range(3)]
    submitted(namespace="blog")
    assert submitted()["statusCode"] == 429

    assert deployment.relay(inserts(deployment)[:1]) == []
    assert count_of(aws, deployment) == 3, "the first change counts everything"
    deployment.relay(inserts(deployment)[3:])
    deployment.expire(ids[0])
    deployment.relay(deployment.removals())

    assert count_of(aws, deployment) == 2
    assert count_of(aws, deployment, "blog") is None
    deployment.clock.advance(6 * SECOND)
    assert [submitted()["statusCode"] for _ in range(2)] == [201, 429]


def test_relay_counts_no_record_that_it_must_repeat(
    aws: Aws, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    limit(monkeypatch, stored_tasks=100)
    submitted(delay=600)
    deployment.relay(deployment.stream_records())
    for _ in range(3):
        submitted(delay=600)
    records = inserts(deployment)[-3:]
    del records[1]["dynamodb"]["NewImage"][schema.STATUS]

    assert deployment.relay(records) == [records[1]["dynamodb"]["SequenceNumber"]]

    assert count_of(aws, deployment) == 2


def test_count_that_fails_does_not_repeat_the_batch(
    aws: Aws,
    deployment: Deployment,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    limit(monkeypatch, stored_tasks=100)
    submitted(delay=600)
    records = deployment.stream_records()
    monkeypatch.setattr(backend.stored_counts(), "_table", Table(aws.dynamodb, "no-such-table"))

    assert deployment.relay(records) == []

    assert "stored tasks not counted" in caplog.text


def test_deployment_without_quotas_loads_nothing_for_them(deployment: Deployment):
    names = ("duetime.engine.quotas", "duetime.aws.quota_store", "duetime.aws.stored_counts")
    before = {name: sys.modules.pop(name, None) for name in names}
    try:
        assert submitted()["statusCode"] == 201
        deployment.relay(deployment.stream_records())
        assert not set(names) & set(sys.modules)
    finally:
        sys.modules.update({name: module for name, module in before.items() if module})

"""A large payload and a large result on moto, through the entry points of the functions."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from duetime.aws import clients
from duetime.aws.archive_bucket import read_bucket
from duetime.aws.provision import ensure_bucket
from duetime.core.archive import ArchiveQuery, ArchiveSearch
from duetime.handlers import registry
from duetime.handlers.context import Context
from duetime.local.moto_backend import fair_moto
from lambdas import api
from tests.factories import a_handler
from tests.lambdas.conftest import Deployment, LambdaContext, recorded

PAYLOAD = {"rows": [{"n": n, "text": f'row {n} "ä"'} for n in range(20_000)]}


class Buckets:
    def __init__(self, s3: Any) -> None:
        self._s3 = s3
        self.objects, self.archive = (f"{uuid4().hex[:12]}-{name}" for name in ("o", "a"))
        ensure_bucket(s3, self.objects)
        ensure_bucket(s3, self.archive)

    def stored(self) -> list[str]:
        found = self._s3.list_objects_v2(Bucket=self.objects)
        return [one["Key"] for one in found.get("Contents", ())]

    def archived(self) -> list[dict[str, Any]]:
        search = ArchiveSearch(ArchiveQuery())
        return list(search.records(read_bucket(self.archive, "", None, self._s3)))


@pytest.fixture
def buckets(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Buckets]:
    with fair_moto():
        made = Buckets(clients.s3())
        monkeypatch.setenv("DUETIME_OBJECTS_BUCKET", made.objects)
        monkeypatch.setenv("DUETIME_ARCHIVE_BUCKET", made.archive)
        yield made


def double(payload: Any, ctx: Context) -> Any:
    return payload["rows"] * 2


def text_of(deployment: Deployment, task_id: str, part: str) -> Any:
    event = recorded("http_api_get")
    event |= {"rawPath": f"/v1/tasks/{task_id}/{part}", "rawQueryString": ""}
    event["headers"] = {**event["headers"], "accept-encoding": "identity"}
    answer = api.handle(event, LambdaContext())
    assert len(json.dumps(answer)) < 6_000_000, "Lambda returns no more"
    return answer["statusCode"], json.loads(answer["body"])


def submitted(deployment: Deployment, payload: Any) -> Any:
    event = recorded("http_api_post")
    body = {"target": {"type": "python", "handler": "handlers.double"}, "payload": payload}
    status, task = deployment.ask(event | {"body": json.dumps(body), "isBase64Encoded": False})
    assert status == 201, task
    return task


def test_large_payload_and_result_live_and_leave_with_their_task(
    buckets: Buckets, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(registry._handlers, "handlers.double", a_handler(double))
    task = submitted(deployment, PAYLOAD)
    small = submitted(deployment, {"rows": []})
    assert text_of(deployment, task["id"], "payload") == (200, PAYLOAD)
    assert len(buckets.stored()) == 1

    assert deployment.execute(deployment.sqs_records()) == []

    shown = deployment.read(task["id"])
    assert (shown["status"], shown["payload"], shown["result"]) == ("SUCCEEDED", None, None)
    assert set(shown["not_shown"]) == {"payload", "result"}
    assert text_of(deployment, task["id"], "result") == (200, PAYLOAD["rows"] * 2)
    assert [key.partition("/")[0] for key in buckets.stored()] == [task["id"]] * 2
    assert max(map(len, map(json.dumps, deployment.rows(task["id"]).values()))) < 2_000

    assert deployment.relay([deployment.expire(small["id"])]) == []
    assert len(buckets.stored()) == 2
    record = deployment.expire(task["id"])
    assert deployment.relay([record]) == []
    assert buckets.stored() == []
    [archived] = [one for one in buckets.archived() if one["id"] == task["id"]]
    assert (archived["payload"], archived["result"]) == (PAYLOAD, PAYLOAD["rows"] * 2)

    assert deployment.relay([record]) == [], "the relay repeats a batch"
    assert [one for one in buckets.archived() if one["id"] == task["id"]] == [archived]


def test_objects_of_a_replaced_payload_leave_with_their_task(
    buckets: Buckets, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(registry._handlers, "handlers.double", a_handler(double))
    task = submitted(deployment, PAYLOAD)
    event = recorded("http_api_post")
    event["requestContext"]["http"]["method"] = "PATCH"
    event |= {"rawPath": f"/v1/tasks/{task['id']}", "body": '{"payload": {"rows": []}}'}
    status, changed = deployment.ask(event | {"isBase64Encoded": False})
    assert (status, changed["payload"]) == (200, {"rows": []})
    deployment.execute(deployment.sqs_records())
    assert deployment.read(task["id"])["status"] == "SUCCEEDED"
    assert len(buckets.stored()) == 1

    deployment.relay([deployment.expire(task["id"])])

    assert buckets.stored() == []


def test_objects_of_a_task_that_exists_again_stay(
    buckets: Buckets, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(registry._handlers, "handlers.double", a_handler(double))
    task = submitted(deployment, PAYLOAD)
    deployment.execute(deployment.sqs_records())
    [item] = [row for sk, row in deployment.rows(task["id"]).items() if sk == "task"]
    record = deployment.expire(task["id"])
    deployment._dynamodb.put_item(TableName=deployment.table, Item=item)

    deployment.relay([record])

    assert len(buckets.stored()) == 2


def test_stage_without_a_bucket_refuses_a_large_payload(deployment: Deployment):
    """As before there was one."""
    event = recorded("http_api_post")
    body = {"target": {"type": "python", "handler": "handlers.echo"}, "payload": PAYLOAD}
    status, problem = deployment.ask(event | {"body": json.dumps(body), "isBase64Encoded": False})

    assert (status, problem["errors"][0]["field"]) == (413, "payload")

import gzip
import json
import os
import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from duetime.api.http import BODY_LIMIT
from duetime.aws import backend
from duetime.aws.cursor_store import DynamoCursorStore
from duetime.aws.task_store import DynamoTaskStore
from duetime.core.lanes import Lane
from duetime.core.times import MINUTE
from duetime.core.workers import WorkerRecord
from duetime.handlers.discovery import handlers_in
from duetime.handlers.manifest import manifest_of
from lambdas import api
from tests.factories import a_task
from tests.lambdas.conftest import Aws, Deployment, LambdaContext, recorded


def test_a_body_may_come_in_base64(deployment: Deployment):
    status, task = deployment.ask(recorded("http_api_post_base64"))
    assert (status, task["payload"], task["idempotency_key"]) == (201, "Zoë", "order-17")

    status, again = deployment.ask(recorded("http_api_post_base64"))
    assert (status, again["id"]) == (200, task["id"])


@pytest.mark.parametrize(("given", "longest"), [(None, 840), ("300", 300)])
def test_a_deployed_api_takes_what_its_executors_can_run(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, given: str | None, longest: int
):
    if given:
        monkeypatch.setenv("DUETIME_LONGEST_TIMEOUT", given)
    event = recorded("http_api_post")

    def submitted(timeout: int) -> tuple[int, Any]:
        body = json.loads(event["body"]) | {"timeout": timeout}
        return deployment.ask(event | {"body": json.dumps(body)})

    assert submitted(longest)[0] == 201
    status, problem = submitted(longest + 1)
    assert (status, problem["detail"]) == (422, f"timeout: must be at most {longest} seconds here")


def test_deployed_api_refuses_a_target_that_its_stage_does_not_name(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    arn = "arn:aws:sqs:eu-west-1:123456789012:{}"
    monkeypatch.setenv("DUETIME_TARGETS", json.dumps({"sqs": [arn.format("orders")]}))
    event = recorded("http_api_post")

    def submitted(target: dict[str, Any]) -> tuple[int, Any]:
        return deployment.ask(event | {"body": json.dumps({"target": target})})

    assert submitted({"type": "sqs", "queue": arn.format("orders")})[0] == 201
    status, problem = submitted({"type": "sqs", "queue": arn.format("pay")})
    assert (status, problem["errors"][0]["field"]) == (422, "target.queue")


def test_a_body_that_is_not_unicode_is_a_problem(deployment: Deployment):
    status, problem = deployment.ask(recorded("http_api_post") | {"body": '{"name": "\ud800"}'})

    assert (status, problem["type"]) == (400, "urn:duetime:problem:malformed")


def test_api_reads_the_query_string(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    deployment.ask(recorded("http_api_post_base64"))

    status, page = deployment.ask(recorded("http_api_get"))

    assert status == 200
    assert [item["id"] for item in page["items"]] == [task["id"]]


def test_delete_cancels(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    event = recorded("http_api_delete") | {"rawPath": f"/v1/tasks/{task['id']}"}

    status, cancelled = deployment.ask(event)

    assert (status, cancelled["status"]) == (200, "CANCELLED")
    assert deployment.read(task["id"])["status"] == "CANCELLED"


def test_a_body_that_is_not_json_is_a_problem(deployment: Deployment):
    status, problem = deployment.ask(recorded("http_api_post") | {"body": "{"})
    assert (status, problem["status"]) == (400, 400)

    status, problem = deployment.ask(recorded("http_api_delete"))
    assert status == 405


def test_api_reads_the_names_of_handlers_from_a_file(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    names = tmp_path / "handlers.json"
    names.write_text('["reports.daily"]')
    monkeypatch.setenv("DUETIME_HANDLERS", str(names))
    event = recorded("http_api_post")

    def submit(handler: str) -> tuple[int, Any]:
        body = {"target": {"type": "python", "handler": handler}}
        return deployment.ask(event | {"body": json.dumps(body)})

    assert submit("reports.daily")[0] == 201
    status, problem = submit("handlers.echo")
    assert status == 422
    assert "reports.daily" in json.dumps(problem)


def test_api_fills_in_the_defaults_of_a_handler_from_the_manifest(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "shop.py").write_text(
        "import no_such_library\nfrom duetime import task\n"
        "@task('shop.restock', priority='low', timeout='2m')\ndef f(payload, ctx): ..."
    )
    manifest = tmp_path / "handlers.json"
    manifest.write_text(json.dumps(manifest_of(handlers_in(tmp_path), tmp_path, app="shop").json()))
    monkeypatch.setenv("DUETIME_HANDLERS", str(manifest))
    body = {"target": {"type": "python", "handler": "shop.restock"}, "timeout": 9}

    status, task = deployment.ask(recorded("http_api_post") | {"body": json.dumps(body)})

    assert (status, task["priority"], task["timeout"]) == (201, "low", 9.0)


def test_handlers_of_a_folder_are_imported(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "of_the_api.py").write_text(
        "from duetime import task\n@task('imported')\ndef f(p, c): ..."
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("DUETIME_HANDLERS", str(tmp_path))
    body = {"target": {"type": "python", "handler": "imported"}}

    status, _ = deployment.ask(recorded("http_api_post") | {"body": json.dumps(body)})

    assert status == 201


def test_a_warm_function_lists_what_a_newer_one_puts_into_more_shards(
    deployment: Deployment, aws: Aws
):
    deployment.ask(recorded("http_api_post"))
    cursors = DynamoCursorStore(aws.dynamodb, deployment.table, shards=32)
    known = cursors.shards(deployment.clock.now())
    newer = DynamoTaskStore(
        aws.dynamodb, deployment.table, shards=lambda: known, clock=deployment.clock
    )
    newer.put([a_task(now=deployment.clock.now()) for _ in range(30)])
    newer.close()

    deployment.clock.advance(MINUTE)
    event = recorded("http_api_get") | {"rawPath": "/v1/tasks", "rawQueryString": "limit=100"}
    status, page = deployment.ask(event)

    assert (status, len(page["items"])) == (200, 31)


def test_health_of_a_deployment_is_that_of_its_table_and_its_scanner(deployment: Deployment):
    event = recorded("http_api_get") | {"rawPath": "/v1/health", "rawQueryString": ""}
    deployment.scan(recorded("eventbridge_scheduled"))
    deployment.clock.advance(MINUTE)
    status, health = deployment.ask(event)
    assert (status, health["status"], health["last_tick_age"]) == (200, "ok", 60.0)

    deployment.clock.advance(3 * MINUTE)
    status, problem = deployment.ask(event)
    assert (status, problem["detail"]) == (503, "scanner: no tick for 240 s")
    assert problem["checks"] == {"store": "ok", "scanner": "no tick for 240 s"}


LAMBDA_LIMIT = 6 * 1024 * 1024  # bytes of an event, and of an answer


def size(document: Any) -> int:
    """Returns the size as Lambda's runtime for Python 3.13 encodes it."""
    return len(json.dumps(document, ensure_ascii=False).encode())


def handled(path: str, body: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns an event with such a body, and the answer to it."""
    event = recorded("http_api_post") | {"rawPath": path, "body": body}
    return event, api.handle(event, LambdaContext())


def test_api_refuses_a_body_of_quotes_before_lambda_does(deployment: Deployment):
    task = {"target": {"type": "python", "handler": "handlers.echo"}, "delay": 600}
    batch = {"tasks": [{**task, "payload": '"' * 100_000}] * 14}
    event, answer = handled("/v1/tasks/batch", json.dumps(batch))
    assert (answer["statusCode"], size(event) < LAMBDA_LIMIT) == (200, True)

    batch["tasks"] += batch["tasks"][:2]
    event, answer = handled("/v1/tasks/batch", json.dumps(batch))
    assert (answer["statusCode"], size(event) > LAMBDA_LIMIT) == (413, True)
    assert len(event["body"]) < BODY_LIMIT
    assert json.loads(answer["body"])["type"] == "urn:duetime:problem:too-large"


def test_answer_to_a_batch_leaves_payloads_out_when_it_would_be_too_large(deployment: Deployment):
    """Each number of these payloads is four times as long in an answer as in the request."""
    payload = "[" + ",".join(["1e15"] * 13_000) + "]"
    target = '{"type": "python", "handler": "handlers.echo"}'
    task = f'{{"target": {target}, "delay": 600, "payload": {payload}}}'
    count = BODY_LIMIT // (len(task) + 3)

    event, answer = handled("/v1/tasks/batch", f'{{"tasks": [{", ".join([task] * count)}]}}')

    assert size(event) < LAMBDA_LIMIT < count * 18 * 13_000
    assert size(answer) < LAMBDA_LIMIT
    results = json.loads(answer["body"])["results"]
    assert [result["status"] for result in results] == [201] * count
    assert {str(result["task"]["payload"]) for result in results} == {"None"}
    note = "left out: the answer would be too large; read it by its id"
    assert results[0]["task"]["not_shown"] == {"payload": note}
    read = deployment.read(results[0]["task"]["id"])
    assert (read["payload"], read["not_shown"]) == ([1e15] * 13_000, None)


def test_list_of_tasks_full_of_quotes_fits_into_an_answer(deployment: Deployment):
    target = {"type": "python", "handler": "handlers.echo"}
    task = {"target": target, "delay": 600, "payload": '"' * 130_000}  # twice that, as it is stored
    for _ in range(3):
        _, answer = handled("/v1/tasks/batch", json.dumps({"tasks": [task] * 10}))
        assert answer["statusCode"] == 200, answer["body"]

    event = recorded("http_api_get") | {"rawPath": "/v1/tasks", "rawQueryString": "limit=100"}
    answer = api.handle(event, LambdaContext())

    assert size(answer) < LAMBDA_LIMIT
    assert len(json.loads(answer["body"])["items"]) == 8


def test_repeated_parameter_of_a_query_reaches_the_api(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    query = f"status={task['status']}&status=DEAD&status=EXPIRED&namespace={task['namespace']}"

    status, page = deployment.ask(recorded("http_api_get") | {"rawQueryString": query})

    assert status == 200
    assert [item["id"] for item in page["items"]] == [task["id"]]


def test_compressed_bodies_go_through_the_gateway_in_base64(deployment: Deployment):
    posted = recorded("http_api_post")
    body = json.dumps(json.loads(posted["body"]) | {"payload": "x" * 3_000}).encode()
    headers = posted["headers"] | {"content-encoding": "gzip", "accept-encoding": "gzip, br"}
    packed = b64encode(gzip.compress(body)).decode()
    event = posted | {"body": packed, "isBase64Encoded": True, "headers": headers}

    answer = api.handle(event, LambdaContext())

    assert (answer["statusCode"], answer["isBase64Encoded"]) == (201, True)
    assert answer["headers"]["content-encoding"] == "gzip"
    task = json.loads(gzip.decompress(b64decode(answer["body"])))
    assert task["payload"] == "x" * 3_000


def from_token(scope: str, event: Any) -> Any:
    """The event as a JWT authorizer sends it on."""
    claims = {"sub": "client-7", "scope": scope}
    context = event["requestContext"] | {"authorizer": {"jwt": {"claims": claims, "scopes": None}}}
    return event | {"requestContext": context}


def reading(path: str) -> Any:
    return recorded("http_api_get") | {"rawPath": path, "rawQueryString": ""}


def test_token_may_do_what_its_scopes_say(deployment: Deployment, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DUETIME_SCOPES", "duetime/read duetime/operate")
    submission = recorded("http_api_post")

    assert deployment.ask(from_token("duetime/operate", submission))[0] == 201
    status, problem = deployment.ask(from_token("duetime/read", submission))
    assert (status, problem["type"]) == (403, "urn:duetime:problem:forbidden")
    assert deployment.ask(from_token("openid", reading("/v1/tasks")))[0] == 403
    status, me = deployment.ask(from_token("duetime/read", reading("/v1/me")))
    assert (status, me["actor"], me["rights"]) == (200, "client-7", ["read"])
    assert me["authorization"] == "token"


def test_identity_has_the_rights_that_the_gateway_gives_it(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DUETIME_STAGE", "prod")
    arn = "arn:aws:iam::123456789012:user/ada"
    event = reading("/v1/me")
    context = event["requestContext"] | {"authorizer": {"iam": {"userArn": arn}}}

    _, me = deployment.ask(event | {"requestContext": context})

    assert (me["actor"], me["rights"], me["stage"]) == (arn, ["read", "operate"], "prod")
    assert me["authorization"] == "signature"


def test_deployed_api_describes_the_handlers_of_its_manifest(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    source = tmp_path / "shop.py"
    source.write_text(
        "from duetime import task\n\n@task('shop.a', priority='low')\n"
        "def a(items: list[str], *, at: int = 0):\n    '''Orders.'''\n"
    )
    manifest = tmp_path / "handlers.json"
    manifest.write_text(json.dumps(manifest_of(handlers_in(tmp_path), tmp_path, app="shop").json()))
    monkeypatch.setenv("DUETIME_HANDLERS", str(manifest))

    _, page = deployment.ask(reading("/v1/handlers"))

    [item] = page["items"]
    assert (item["name"], item["module"], item["line"]) == ("shop.a", "shop", 3)
    assert (item["doc"], item["defaults"]) == ("Orders.", {"priority": "low"})
    assert item["payload_schema"]["required"] == ["items"]


def test_deployed_api_says_what_is_stuck(deployment: Deployment):
    _, task = deployment.ask(recorded("http_api_post"))
    deployment.clock.advance(10 * MINUTE)

    status, found = deployment.ask(reading("/v1/stuck"))

    assert (status, found["complete"]) == (200, True)
    assert [item["id"] for item in found["items"]] == [task["id"]]


def test_deployed_api_lists_the_workers_of_its_pools(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    queues = json.loads(os.environ["DUETIME_QUEUES"])
    monkeypatch.setenv("DUETIME_POOLS", '{"batch": 3600}')
    monkeypatch.setenv(
        "DUETIME_QUEUES", json.dumps(queues | {f"batch/{lane}": queues[lane] for lane in Lane})
    )
    now = backend.clock().now()
    lanes, handlers = tuple(Lane), ("shop.restock",)
    worker = WorkerRecord(
        name="gpu-1",
        since=now,
        seen=now,
        backend="aws",
        pool="batch",
        lanes=lanes,
        handlers=handlers,
    )
    backend.worker_store().put(worker)
    status, page = deployment.ask(reading("/v1/workers"))

    assert (status, [item["name"] for item in page["items"]]) == (200, ["gpu-1"])

"""Secrets in a deployment on moto: SSM, the API, an executor, and everything that is stored."""

import json
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from duetime.aws import clients
from duetime.webhooks import verify
from lambdas import executor
from tests.lambdas.conftest import Deployment, recorded
from tests.sink import Answer, a_sink

VALUE = "Bearer sk_live_hunter2"


@pytest.fixture
def stage(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stage that lists four secrets, of which SSM has two; the client is the stage's own."""
    monkeypatch.setenv("DUETIME_STAGE", "prod")
    monkeypatch.setenv("DUETIME_SECRETS", "stripe,hook,later,slack")
    monkeypatch.setenv("DUETIME_ALLOW_HOSTS", "127.0.0.1")
    ssm = clients.ssm()
    for name, value in (("stripe", VALUE), ("hook", "whsec_aHVudGVyMg==")):
        put_secret(ssm, name, value)
    return ssm


def put_secret(ssm: Any, name: str, value: str, hosts: Sequence[str] = ("127.0.0.1",)) -> None:
    ssm.put_parameter(
        Name=f"/duetime/prod/{name}",
        Type="SecureString",
        Value=json.dumps({"value": value, "hosts": hosts}),
        Overwrite=True,
    )


def submit(deployment: Deployment, url: Any, secret: str = "stripe", **fields: Any) -> Any:
    headers = fields.pop("headers", {"Authorization": {"$secret": secret}})
    sign = fields.pop("sign", {"$secret": "hook"})
    target = {"type": "http", "url": url, "headers": headers, "sign": sign}
    event = recorded("http_api_post")
    event |= {"body": json.dumps({"target": target, **fields}), "isBase64Encoded": False}
    return deployment.ask(event)


def everything_stored(deployment: Deployment) -> str:
    answer = deployment._dynamodb.scan(TableName=deployment.table)
    assert answer["Items"]
    return json.dumps(answer["Items"], default=str) + json.dumps(
        deployment.stream_records(), default=str
    )


@pytest.mark.usefixtures("stage")
@pytest.mark.parametrize(
    ("status", "body", "ended"),
    [
        (200, b"fine", "SUCCEEDED"),
        (200, json.dumps({"echo": VALUE}).encode(), "SUCCEEDED"),
        (400, VALUE.encode(), "DEAD"),
        (500, VALUE.encode(), "RETRYING"),
    ],
)
def test_secret_reaches_its_host_and_is_stored_and_logged_nowhere(
    deployment: Deployment,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    status: int,
    body: bytes,
    ended: str,
):
    caplog.set_level(logging.DEBUG)
    with a_sink() as sink:
        sink.answer = Answer(status=status, body=body)
        code, task = submit(deployment, sink.url, retry={"base_delay": 3600})
        deployment.execute(deployment.sqs_records())
    [asked] = sink.asked
    shown = deployment.read(task["id"])

    assert (code, shown["status"]) == (201, ended)
    assert asked.headers["Authorization"] == VALUE
    now = deployment.clock.now() / 1_000
    assert verify(dict(asked.headers), asked.body, b"hunter2", clock=lambda: now) == task["id"]
    assert shown["target"]["headers"] == {"Authorization": {"$secret": "stripe"}}
    logged = caplog.text + "".join(capsys.readouterr())
    for kept in (json.dumps(shown), everything_stored(deployment), logged):
        assert "hunter2" not in kept
        assert "aHVudGVyMg" not in kept


@pytest.mark.parametrize(("status", "ended"), [(200, "SUCCEEDED"), (400, "DEAD")])
def test_secret_url_is_called_and_stored_and_logged_nowhere(
    deployment: Deployment,
    stage: Any,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    status: int,
    ended: str,
):
    with a_sink() as sink:
        put_secret(stage, "slack", f"http://127.0.0.1:{sink.port}/services/B00/hunter2")
        caplog.set_level(logging.DEBUG)
        sink.answer = Answer(status=status, body=b"no hook /services/B00/hunter2")
        code, task = submit(deployment, {"$secret": "slack"})
        deployment.execute(deployment.sqs_records())
    [asked] = sink.asked
    shown = deployment.read(task["id"])

    assert (code, asked.path, shown["status"]) == (201, "/services/B00/hunter2", ended)
    assert shown["target"]["url"] == {"$secret": "slack"}
    logged = caplog.text + "".join(capsys.readouterr())
    for kept in (json.dumps(shown), everything_stored(deployment), logged):
        assert "hunter2" not in kept


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("https://evil.example/hunter2", "SecretRefused"),
        ("Bearer hunter2", "SecretRefused"),
        ("http://169.254.169.254/hunter2", "AddressRefused"),
    ],
)
def test_secret_url_is_checked_by_the_executor(
    deployment: Deployment, stage: Any, value: str, error: str
):
    put_secret(stage, "slack", value, hosts=["127.0.0.1", "http://169.254.169.254"])
    _, task = submit(deployment, {"$secret": "slack"}, headers={}, sign=None)
    deployment.execute(deployment.sqs_records())

    shown = deployment.read(task["id"])
    assert (shown["status"], shown["error"]["type"]) == ("DEAD", error)
    assert "hunter2" not in everything_stored(deployment)


@pytest.mark.usefixtures("stage")
def test_secret_that_the_stage_does_not_list_is_refused(deployment: Deployment):
    status, problem = submit(deployment, "https://example.com", "github")

    assert status == 422
    assert problem["errors"] == [
        {
            "field": "target.headers.Authorization",
            "message": "there is no secret 'github'; known: hook, later, slack, stripe",
        }
    ]


@pytest.mark.usefixtures("stage")
def test_listed_secret_that_ssm_does_not_have_fails_the_attempt_for_good(deployment: Deployment):
    _, task = submit(deployment, "https://127.0.0.1:9", "later")
    deployment.execute(deployment.sqs_records())

    shown = deployment.read(task["id"])
    assert (shown["status"], shown["error"]["type"]) == ("DEAD", "SecretNotFound")


def test_ssm_is_asked_once_for_a_batch(deployment: Deployment, stage: Any):
    asked = []
    stage.meta.events.register("before-call.ssm.GetParameter", lambda **call: asked.append(call))
    executor.targets.cache_clear()
    with a_sink() as sink, pytest.MonkeyPatch.context() as patched:
        patched.setattr(clients, "ssm", lambda endpoint_url: stage)
        for _ in range(5):
            submit(deployment, sink.url)
        deployment.execute(deployment.sqs_records())

    assert len(sink.asked) == 5
    assert len(asked) == 2, "one for each secret"

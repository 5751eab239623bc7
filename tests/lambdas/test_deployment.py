"""CloudFormation calls the `api` function after a deployment, which syncs the schedules."""

import json
from pathlib import Path
from typing import Any

import pytest

from duetime.api import deployment as custom_resource
from duetime.api.http import Problem, Request, Response
from duetime.handlers.manifest import Manifest
from lambdas import api
from tests.lambdas.conftest import Deployment, LambdaContext, recorded

EVENT = {
    "RequestType": "Create",
    "ResponseURL": "https://cloudformation.example/answer",
    "StackId": "stack",
    "RequestId": "request",
    "LogicalResourceId": "Schedules",
}
HANDLERS = """
import no_such_library
from duetime import every, task

@task("reports.daily", schedule=every("10m"))
def f(payload, ctx): ...
"""


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    sent: list[Any] = []

    def send(url: str, answer: bytes) -> None:
        sent.append((url, json.loads(answer)))

    monkeypatch.setattr(custom_resource, "_send", send)
    return sent


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from duetime.handlers import manifest

    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/a.py").write_text(HANDLERS)
    file = tmp_path / "handlers.json"
    file.write_text(json.dumps(manifest.read(tmp_path / "shop", app="shop").json()))
    monkeypatch.setenv("DUETIME_HANDLERS", str(file))
    return file


def schedules(deployment: Deployment) -> list[Any]:
    event = recorded("http_api_get") | {"rawPath": "/v1/schedules", "rawQueryString": ""}
    status, page = deployment.ask(event)
    assert status == 200
    return list(page["items"])


def test_deployment_syncs_the_schedules_of_its_manifest(
    deployment: Deployment, manifest: Path, answers: list[Any]
):
    assert api.handle(EVENT, LambdaContext()) == {}
    api.handle(EVENT | {"RequestType": "Update"}, LambdaContext())
    api.handle(EVENT | {"RequestType": "Delete"}, LambdaContext())

    [schedule] = schedules(deployment)
    assert (schedule["app"], schedule["source"]) == ("shop", "a.py:5")
    assert [url for url, _ in answers] == [EVENT["ResponseURL"]] * 3
    assert {answer["Status"] for _, answer in answers} == {"SUCCESS"}
    assert answers[0][1] == {
        "Status": "SUCCESS",
        "Reason": "",
        "PhysicalResourceId": "schedules",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Schedules",
    }


def test_deployment_fails_if_the_sync_is_refused(
    deployment: Deployment, manifest: Path, answers: list[Any]
):
    content = json.loads(manifest.read_text())
    content["schedules"][0]["rule"]["every"] = -1
    manifest.write_text(json.dumps(content))

    api.handle(EVENT, LambdaContext())

    [(_, answer)] = answers
    assert answer["Status"] == "FAILED"
    assert "a.py:5: must be at least 1" in answer["Reason"]
    assert schedules(deployment) == []


def test_sync_that_is_not_answered_is_repeated(
    deployment: Deployment,
    manifest: Path,
    answers: list[Any],
    monkeypatch: pytest.MonkeyPatch,
):
    call, failures = api.api().call, iter([True, False, True])

    def unreliable(request: Request) -> Response:
        if next(failures, False):
            return Problem(503, "unavailable", "Try again", "throttled").response()
        return call(request)

    monkeypatch.setattr(api.api(), "call", unreliable)
    api.handle(EVENT, LambdaContext())

    assert [answer["Status"] for _, answer in answers] == ["SUCCESS"]
    monkeypatch.undo()
    assert len(schedules(deployment)) == 1


@pytest.mark.parametrize(("status", "calls"), [(503, custom_resource.ATTEMPTS), (409, 1)])
def test_deployment_fails_if_the_sync_fails_to_the_end(answers: list[Any], status: int, calls: int):
    paths: list[str] = []

    def failing(request: Request) -> Response:
        paths.append(request.path)
        return Problem(status, "state-conflict", "Not synced", "not now").response()

    nothing = Manifest(app="shop", handlers={}, schedules=[])
    custom_resource.sync_after_deployment(EVENT, lambda: (nothing, failing))

    [(_, answer)] = answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", "schedules: not now")
    assert len(paths) == calls


def test_deployment_that_cannot_sync_is_answered(answers: list[Any]):
    def read() -> Any:
        raise OSError("no manifest")

    custom_resource.sync_after_deployment(EVENT, read)

    [(_, answer)] = answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", "no manifest")


def test_answer_goes_to_no_other_scheme():
    with pytest.raises(ValueError, match="not one of CloudFormation"):
        custom_resource._send("http://127.0.0.1:1/", b"{}")

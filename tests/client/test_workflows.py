"""Workflows, runs and callbacks, with scripted answers."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from duetime.api.openapi import workflow_answers
from duetime.client import BadArgument, Client, Conflict, SubmittedRun, Unreachable, WaitTimeout
from duetime.client import workflow_types as client_types
from tests.client.scripted_server import Script, ok
from tests.client.test_client import Clock

STEPS: Any = [{"name": "a", "target": {"type": "python", "handler": "shop.a"}}]
STEPS_JSON = {"steps": STEPS}


def asked(script: Script) -> str:
    request = script.asked[-1]
    return f"{request.method} {request.url.raw_path.decode()}"


def sent(script: Script) -> Any:
    return json.loads(script.asked[-1].content or "null")


Call = Callable[[Client], Any]


@pytest.mark.parametrize(
    ("call", "request_line", "body"),
    [
        (
            lambda c: c.workflows.put("etl", steps=STEPS, fail_fast=True, namespace="shop"),
            "PUT /v1/workflows/etl?namespace=shop",
            {**STEPS_JSON, "fail_fast": True},
        ),
        (
            lambda c: c.workflows.check("etl", steps=STEPS),
            "PUT /v1/workflows/etl?dry_run=true",
            STEPS_JSON,
        ),
        (lambda c: c.workflows.get("etl"), "GET /v1/workflows/etl", None),
        (lambda c: c.workflows.get("a/b", version=3), "GET /v1/workflows/a%2Fb?version=3", None),
        (lambda c: c.workflows.delete("etl"), "DELETE /v1/workflows/etl", None),
        (
            lambda c: c.runs.submit(workflow="etl@3", input={"day": 1}),
            "POST /v1/runs",
            {"workflow": "etl@3", "input": {"day": 1}},
        ),
        (lambda c: c.runs.submit(steps=STEPS), "POST /v1/runs", STEPS_JSON),
        (lambda c: c.runs.check(steps=STEPS), "POST /v1/runs?dry_run=true", STEPS_JSON),
        (lambda c: c.runs.get("r1"), "GET /v1/runs/r1", None),
        (lambda c: c.runs.cancel("r1"), "DELETE /v1/runs/r1", None),
        (lambda c: c.runs.retry("r1"), "POST /v1/runs/r1/retry", None),
        (
            lambda c: c.runs.retry("r1", ["load"]),
            "POST /v1/runs/r1/retry",
            {"steps": ["load"]},
        ),
        (
            lambda c: c.callbacks.complete("tok", result={"n": 1}),
            "POST /v1/callbacks/tok",
            {"result": {"n": 1}},
        ),
        (
            lambda c: c.callbacks.complete("tok", error="refused"),
            "POST /v1/callbacks/tok",
            {"error": {"type": "Failed", "message": "refused"}},
        ),
        (lambda c: c.complete("t1"), "POST /v1/tasks/t1/complete", {"result": None}),
        (
            lambda c: c.complete("t1", error={"type": "Rejected", "message": "no"}),
            "POST /v1/tasks/t1/complete",
            {"error": {"type": "Rejected", "message": "no"}},
        ),
    ],
)
def test_workflow_call_sends_its_request(call: Call, request_line: str, body: Any) -> None:
    script = Script(ok({"id": "x"}))

    call(script.client())

    assert (asked(script), sent(script)) == (request_line, body)


def test_lists_of_workflows_runs_and_items_read_every_page() -> None:
    first, last = {"items": [1], "next_cursor": "c"}, {"items": [2], "next_cursor": None}
    calls: list[tuple[Call, str]] = [
        (lambda c: c.workflows.list(), "/v1/workflows"),
        (lambda c: c.runs.list(status="FAILED", workflow="etl", tag="team"), "/v1/runs"),
        (lambda c: c.runs.items("r1", "resize"), "/v1/runs/r1/steps/resize/items"),
    ]
    for call, path in calls:
        script = Script(ok(first), ok(last))
        assert [*call(script.client())] == [1, 2]
        assert {request.url.path for request in script.asked} == {path}
    script = Script(ok(last))
    [*script.client().runs.list(status="FAILED", workflow="etl", tag="team")]
    assert dict(script.asked[0].url.params) == {
        "status": "FAILED",
        "workflow": "etl",
        "tag": "team",
        "limit": "100",
    }


def test_times_of_a_run_may_be_pythons_own() -> None:
    script = Script(ok({"id": "r1"}, 201))
    at = datetime(2030, 1, 1, tzinfo=UTC)

    script.client().runs.submit(workflow="etl", run_at=at, timeout=timedelta(hours=1))

    assert sent(script) == {
        "workflow": "etl",
        "run_at": "2030-01-01T00:00:00+00:00",
        "timeout": 3600.0,
    }


@pytest.mark.parametrize(("status", "replayed"), [(201, False), (200, True)])
def test_replay_of_a_run_is_reported(status: int, replayed: bool) -> None:
    script = Script(ok({"id": "r1"}, status))

    found = script.client().runs.submit_once(workflow="etl", idempotency_key="k")

    assert found == SubmittedRun({"id": "r1"}, replayed=replayed)  # type: ignore[typeddict-item]
    assert sent(script)["idempotency_key"] == "k"


def test_run_is_submitted_again_only_with_a_key() -> None:
    silent = httpx.ConnectError("no answer")
    clock = Clock()
    script = Script(silent, ok({"id": "r1"}))
    client = script.client(retries=1, sleep=clock.sleep)
    assert client.runs.submit(workflow="etl", idempotency_key="k")["id"] == "r1"
    assert len(script.asked) == 2

    script = Script(silent, ok({"id": "r1"}))
    with pytest.raises(Unreachable):
        script.client(retries=1, sleep=clock.sleep).runs.submit(workflow="etl")
    assert len(script.asked) == 1


@pytest.mark.parametrize("end", ["SUCCEEDED", "FAILED", "CANCELLED"])
def test_wait_returns_a_run_that_is_over_whatever_its_status(end: str) -> None:
    clock = Clock()
    answers = [ok({"id": "r1", "status": s}) for s in ("RUNNING", "CANCELLING", end)]
    script = Script(*answers)

    run = script.client(sleep=clock.sleep, clock=clock).runs.wait("r1")

    assert run["status"] == end
    assert asked(script) == "GET /v1/runs/r1"
    assert clock.slept == pytest.approx([0.2, 0.3])


def test_wait_for_a_run_ends_at_its_timeout() -> None:
    clock = Clock()
    script = Script(ok({"id": "r1", "status": "RUNNING"}))

    with pytest.raises(WaitTimeout, match="r1 is still RUNNING after 3 s"):
        script.client(sleep=clock.sleep, clock=clock).runs.wait("r1", timeout=3, poll=1)


def test_result_and_error_of_a_completion_exclude_each_other() -> None:
    script = Script(ok({}))

    with pytest.raises(BadArgument, match="a result or an error"):
        script.client().callbacks.complete("tok", result=1, error="no")
    assert script.asked == []


def test_second_completion_raises_conflict() -> None:
    script = Script(ok({"title": "Conflict", "status": 409}, 409))

    with pytest.raises(Conflict):
        script.client().callbacks.complete("tok", result=1)


def test_async_client_submits_and_waits_for_a_run() -> None:
    script = Script(ok({"id": "r1"}, 201), ok({"id": "r1", "status": "FAILED"}))

    async def main() -> Any:
        async with script.async_client() as client:
            run = await client.runs.submit(workflow="etl")
            return await client.runs.wait(run["id"])

    assert asyncio.run(main())["status"] == "FAILED"


@pytest.mark.parametrize(
    ("typed", "documented"),
    [
        (client_types.Run, workflow_answers.Run),
        (client_types.RunStep, workflow_answers.RunStep),
        (client_types.RunError, workflow_answers.RunError),
        (client_types.MapItem, workflow_answers.RunItem),
        (client_types.RunOfMap, workflow_answers.RunOfMap),
        (client_types.Workflow, workflow_answers.Workflow),
        (client_types.Checked, workflow_answers.StepOrder),
    ],
)
def test_type_of_the_client_has_the_fields_of_the_openapi_document(
    typed: type, documented: type[BaseModel]
) -> None:
    assert set(typed.__annotations__) == set(documented.model_json_schema()["properties"])

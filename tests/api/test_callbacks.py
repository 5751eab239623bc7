"""Callbacks of steps, and the completion of a waiting task by an operator."""

from typing import Any

import pytest

from duetime.client.calls import Request as CallRequest
from duetime.client.run_calls import complete_callback
from duetime.core.errors import Unavailable
from duetime.engine.workflows.callbacks import token_hash
from duetime.executor.runs import Run
from tests.api.flows import Flows, a_step, errors
from tests.world import sqlite_world

CALLBACK = {"timeout": 600}


def wait_for(flows: Flows, **fields: Any) -> tuple[str, str]:
    """Runs a step until it waits. Returns the id of its run, and the token."""
    run_id = flows.run(a_step("ask", callback=CALLBACK, payload="{{callback.token}}", **fields))
    flows.settle()
    assert flows.step(run_id, "ask")["status"] == "WAITING"
    return run_id, str(flows.started[-1])


def lease(flows: Flows, **fields: Any) -> tuple[str, Run]:
    """Leases a step, and does not run its target yet. Returns the id of the workflow run, too."""
    run_id = flows.run(a_step("ask", callback=CALLBACK, **fields))
    [leased] = flows.world.lease()
    return run_id, leased


def fail_for_now(*_: Any) -> Any:
    raise ConnectionError("no route")


def send(flows: Flows, token: str, body: Any = None) -> Any:
    return flows.call("POST", f"/v1/callbacks/{token}", body or {"result": {"ok": True}})


def test_callback_ends_the_step_with_its_result_once(flows: Flows):
    run_id, token = wait_for(flows)
    task = flows.call("GET", f"/v1/tasks/{flows.step(run_id, 'ask')['task_id']}").body
    assert task["waiting_for"] == {"callback": True}

    assert [send(flows, token).status for _ in range(2)] == [200, 409]
    assert flows.read(run_id)["result"] == {"ok": True}
    assert flows.read(run_id)["status"] == "SUCCEEDED"


def test_callback_with_an_error_ends_the_step_dead(flows: Flows):
    run_id, token = wait_for(flows)
    failure = {"error": {"type": "Rejected", "message": "too expensive"}}

    assert [send(flows, token, failure).status for _ in range(2)] == [200, 409]
    flows.settle()

    assert send(flows, token).status == 409, "after the task is dead, too"
    step = flows.step(run_id, "ask")
    assert (step["status"], step["error"]["type"]) == ("DEAD", "Rejected")
    assert flows.read(run_id)["status"] == "FAILED"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("too expensive", ("Failed", "too expensive")),
        ({"type": "Rejected", "message": "too expensive"}, ("Rejected", "too expensive")),
    ],
)
def test_error_of_the_client_is_taken_as_a_text_or_an_object(flows: Flows, error, shown):
    run_id, token = wait_for(flows)
    request = next(complete_callback(token, result=None, error=error))
    assert isinstance(request, CallRequest)

    assert flows.call(request.method, request.path, request.body).status == 200
    flows.settle()

    found = flows.step(run_id, "ask")["error"]
    assert (found["type"], found["message"]) == shown


def test_callback_that_comes_while_the_target_runs_is_to_be_sent_again(flows: Flows):
    _, leased = lease(flows)

    early = send(flows, str(leased.callback_token))

    assert early.status == 503
    assert early.headers["retry-after"] == "2"


def test_token_of_an_earlier_attempt_is_unknown(flows: Flows):
    run_id, token = wait_for(flows)
    send(flows, token, {"error": {"type": "Rejected", "message": ""}})
    flows.settle()
    assert flows.call("POST", f"/v1/runs/{run_id}/retry").status == 200
    flows.settle()

    assert send(flows, token).status == 404
    assert send(flows, str(flows.started[-1])).status == 200


def test_token_of_an_attempt_that_failed_is_unknown(flows: Flows):
    _, leased = lease(flows)
    flows.world.script = fail_for_now
    flows.world.record([flows.world.executor.run_target(leased)])
    assert flows.world.status(leased.task.id) == "RETRYING"

    assert send(flows, str(leased.callback_token)).status == 404


def test_row_of_the_task_has_nothing_but_the_hash_of_the_token(flows: Flows):
    run_id, token = wait_for(flows)
    task_id = flows.step(run_id, "ask")["task_id"]
    row = repr(flows.world.task(task_id))
    secret = token.removeprefix(task_id)

    assert len(secret) * 4 == 128
    assert token_hash(token) in row
    assert not any(part in row for part in (secret, secret[:16], secret[16:]))


def test_token_is_not_logged_if_the_store_is_away(flows: Flows, caplog, monkeypatch):
    _, token = wait_for(flows)

    def away(*_: Any) -> Any:
        raise Unavailable("the store is away")

    monkeypatch.setattr(flows.world.store, "get", away)

    assert send(flows, token).status == 503
    assert "store unavailable" in caplog.text
    assert not any(token in repr(vars(record)) for record in caplog.records)


@pytest.mark.parametrize("token", ["x", "01KA5V8Y3M0000000000000001" + "a" * 32])
def test_unknown_token_is_not_found(flows: Flows, token: str):
    assert send(flows, token).status == 404


def test_callbacks_are_refused_where_they_are_off():
    with sqlite_world() as world:
        flows = Flows(world, callbacks=False)
        _, token = wait_for(flows)

        assert send(flows, token).status == 404


def test_callback_after_its_timeout_is_a_conflict(flows: Flows):
    run_id, token = wait_for(flows)
    flows.world.live(20 * 60_000)

    assert send(flows, token).status == 409
    assert flows.step(run_id, "ask")["status"] == "EXPIRED"
    flows.world.live(6 * 60_000)
    error = flows.read(run_id)["error"]
    assert (error["step"], error["type"]) == ("ask", "Expired")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"result": 1, "error": {"type": "A", "message": "b"}},
        {"error": {"message": "b"}},
        {"other": 1},
    ],
)
def test_bad_callback_is_refused_and_leaves_the_step_waiting(flows: Flows, body: Any):
    run_id, token = wait_for(flows)

    assert flows.call("POST", f"/v1/callbacks/{token}", body).status == 422
    assert flows.step(run_id, "ask")["status"] == "WAITING"


def test_callback_over_64_kib_is_refused(flows: Flows):
    _, token = wait_for(flows)

    assert send(flows, token, {"result": "x" * 65_536}).status == 413


def test_operator_completes_a_waiting_task(flows: Flows):
    run_id, token = wait_for(flows)
    path = f"/v1/tasks/{flows.step(run_id, 'ask')['task_id']}/complete"

    completed = flows.call("POST", path, {"result": 7})

    assert (completed.status, completed.body["status"]) == (200, "SUCCEEDED")
    assert flows.read(run_id)["result"] == 7
    assert flows.call("POST", path, {"result": 7}).status == 409
    assert send(flows, token).status == 409


def test_completing_a_task_that_waits_for_a_run_cancels_the_run(flows: Flows):
    run_id = flows.run(a_step("n", workflow={"steps": [a_step("x", delay=3600)]}))
    flows.settle()
    step = flows.step(run_id, "n")

    body = {"error": {"type": "GivenUp", "message": "by hand"}}
    assert flows.call("POST", f"/v1/tasks/{step['task_id']}/complete", body).status == 200
    flows.settle()

    assert flows.read(step["run_id"])["status"] == "CANCELLED"
    assert flows.read(run_id)["error"]["type"] == "GivenUp"


def test_task_that_runs_cannot_be_completed(flows: Flows):
    run_id = flows.run(a_step("a"))
    path = f"/v1/tasks/{flows.step(run_id, 'a')['task_id']}/complete"

    assert flows.call("POST", path, {"result": 1}).status == 409
    assert "result" in errors(flows.call("POST", path, {}))

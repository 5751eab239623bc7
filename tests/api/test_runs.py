"""/v1/runs: start, read, list, cancel and retry runs; and the tasks of their steps."""

import json
from typing import Any

import pytest

from duetime.core.quotas import read_quotas
from duetime.core.times import MINUTE
from duetime.engine.quotas import QuotaGate
from duetime.sqlite.quota_store import SqliteQuotaStore
from tests.api.flows import BROKEN, TARGET, Flows, a_step, errors
from tests.api.service import EVERY_MINUTE, NOON, refusal
from tests.factories import an_id


def test_run_is_created_with_every_field(flows: Flows):
    started = flows.start(
        a_step("a"), a_step("b", "a"), input={"day": 4}, name="nightly", tags={"team": "growth"}
    )
    run = json.loads(started.encoded())

    assert started.status == 201
    assert started.headers["location"] == f"/v1/runs/{run['id']}"
    assert run == flows.read(run["id"])
    assert (run["status"], run["attempt"], run["name"]) == ("RUNNING", 1, "nightly")
    assert (run["input"], run["tags"]) == ({"day": 4}, {"team": "growth"})
    assert run["timeout"] == 7 * 86_400
    assert run["workflow"] is run["version"] is run["result"] is run["error"] is None
    assert run["counts"] == {"UNDER_WAY": 1, "BLOCKED": 1}
    assert [(step["name"], step["status"]) for step in run["steps"]] == [
        ("a", "ENQUEUED"),
        ("b", "BLOCKED"),
    ]
    assert run["steps"][1]["needs"] == ["a"]
    assert run["steps"][1]["task_id"] is None


def test_run_that_has_not_changed_is_answered_without_a_body(flows: Flows):
    path = f"/v1/runs/{flows.run(a_step('a'))}"
    tag = flows.call("GET", path).headers["etag"]
    same = flows.call("GET", path, **{"if-none-match": tag})
    flows.settle()
    ended = flows.call("GET", path, **{"if-none-match": tag})

    assert (same.status, same.encoded(), same.headers["etag"]) == (304, b"", tag)
    assert (ended.status, ended.body["status"]) == (200, "SUCCEEDED")


def test_steps_of_a_run_are_listed_by_its_id(flows: Flows):
    flows.outcomes = {"b": BROKEN}
    run_id = flows.run(a_step("a"), a_step("b", "a"), a_step("c", "b"), namespace="shop")
    flows.settle()

    def names(**query: str) -> list[str]:
        return [task["step"] for task in listed(flows, run_id=run_id, **query)]

    assert names() == names(limit="1") == ["a", "b"]
    assert names(status="DEAD") == names(error_type="PermanentError", namespace="shop") == ["b"]
    assert names(namespace="default") == []
    assert listed(flows, q=f"run:{run_id} status:SUCCEEDED")[0]["step"] == "a"
    assert listed(flows, run_id=an_id()) == listed(flows, namespace="*") == []


def test_items_of_a_map_are_listed_by_the_id_of_its_run(flows: Flows):
    flows.outcomes = {"a": [*range(7)]}
    run_id = flows.run(a_step("a"), a_step("m", "a", map={"items": "{{ steps.a.result }}"}))
    flows.settle()
    map_id = flows.read(run_id)["steps"][1]["run_id"]

    found = listed(flows, run_id=map_id, limit="3", fields="summary")

    assert [flows.call("GET", f"/v1/tasks/{task['id']}").body["index"] for task in found] == [
        *range(7)
    ]


@pytest.mark.parametrize("action", ["cancel", "retry", "shift"])
def test_steps_are_not_changed_behind_the_back_of_their_run(flows: Flows, action: str):
    run_id = flows.run(a_step("a"))
    body = {"run_id": run_id, **({"by": 60} if action == "shift" else {})}

    refused = flows.call("POST", f"/v1/tasks/{action}", body)

    assert refusal(refused)["run_id"].startswith("a run decides about its steps: cancel or retry")


def listed(flows: Flows, **query: str) -> list[dict[str, Any]]:
    """Reads every page."""
    found, cursor = [], ""
    while cursor is not None:
        page = flows.call("GET", "/v1/tasks", query={**query, "cursor": cursor})
        assert page.status == 200, page.body
        found += page.body["items"]
        cursor = page.body["next_cursor"]
    return found


def test_run_counts_as_one_submission_of_its_quota(flows: Flows):
    limited = limited_flows(flows, submissions_per_second=1, burst=2)
    ids = [limited.run(a_step("a"), a_step("b"), a_step("c")) for _ in range(2)]

    refused = limited.start(a_step("a"))

    assert refused.status == 429
    assert refused.headers["retry-after"] == "1"
    assert "The run is not stored" in refused.body["detail"]
    listed = flows.call("GET", "/v1/runs").body["items"]
    assert {run["id"] for run in listed} == set(ids)


def test_run_is_refused_where_no_task_has_room(flows: Flows):
    limited = limited_flows(flows, stored_tasks=0)

    refused = limited.start(a_step("a"))

    assert (refused.status, refused.body["title"]) == (429, "The namespace is full")


def test_repeated_key_returns_its_run_over_the_quota(flows: Flows):
    limited = limited_flows(flows, submissions_per_second=1, burst=1)
    first = limited.start(a_step("a"), key="k1")

    again = limited.start(a_step("a"), key="k1")

    assert (again.status, again.body["id"]) == (200, first.body["id"])
    assert limited.start(a_step("a"), key="k2").status == 429


def limited_flows(flows: Flows, **quota: Any) -> Flows:
    """The same world behind an API with a quota."""
    state = SqliteQuotaStore(lambda namespace: 0, flows.world.clock)
    gate = QuotaGate(quotas=read_quotas({"default": quota}), store=state)
    return Flows(flows.world, quotas=gate)


def test_run_shows_its_result_and_the_times_of_its_steps(flows: Flows):
    flows.outcomes = {"b": {"rows": 3}}
    run_id = flows.run(a_step("a"), a_step("b", "a"))
    flows.settle()

    run = flows.read(run_id)
    assert (run["status"], run["result"]) == ("SUCCEEDED", {"rows": 3})
    assert run["finished_at"]
    assert run["counts"] == {"SUCCEEDED": 2}
    step = flows.step(run_id, "b")
    assert step["attempt"] == 1
    assert step["started_at"]
    assert step["finished_at"]


def test_run_pins_the_version_of_its_workflow(flows: Flows):
    flows.put("etl", a_step("a"), tags={"team": "growth"}, priority="high")
    flows.put("etl", a_step("b"))

    newest = flows.read(flows.run(workflow="etl"))
    first = flows.read(flows.run(workflow="etl@1", tags={"day": "4"}))

    assert (newest["workflow"], newest["version"]) == ("etl", 2)
    assert (first["version"], first["priority"]) == (1, "high")
    assert first["tags"] == {"team": "growth", "day": "4"}
    assert "version 3" in errors(flows.start(workflow="etl@3"))["workflow"]
    assert "did you mean 'etl'" in errors(flows.start(workflow="elt"))["workflow"]


def test_repeated_key_returns_the_first_run(flows: Flows):
    first = flows.start(a_step("a"), key="k1")
    again = flows.start(a_step("a"), key="k1")
    in_body = flows.start(a_step("a"), idempotency_key="k1")
    other = flows.start(a_step("b"), key="k1")

    assert [r.status for r in (first, again, in_body, other)] == [201, 200, 200, 409]
    assert first.body["id"] == again.body["id"] == in_body.body["id"]
    task = flows.call("POST", "/v1/tasks", {"target": TARGET}, **{"idempotency-key": "k1"})
    assert task.status == 201, "the keys of tasks are others"


def test_dry_run_of_a_run_stores_nothing(flows: Flows):
    body = {"steps": [a_step("a"), a_step("b", "a")]}
    checked = flows.call("POST", "/v1/runs", body, {"dry_run": "true"})

    assert (checked.status, checked.body) == (200, {"order": [["a"], ["b"]]})
    assert flows.call("GET", "/v1/runs").body["items"] == []


def test_runs_are_listed_newest_first_and_filtered(flows: Flows):
    flows.put("etl", a_step("a"))
    done = flows.run(workflow="etl", tags={"team": "growth"})
    flows.settle()
    flows.world.advance(1_000)
    open_ = flows.run(a_step("a", delay=60))

    def listed(**query: str) -> list[str]:
        return [run["id"] for run in flows.call("GET", "/v1/runs", None, query).body["items"]]

    assert listed() == [open_, done]
    assert listed(status="SUCCEEDED") == listed(workflow="etl") == listed(tag="team") == [done]
    assert listed(namespace="other") == []
    assert listed(namespace="*") == [open_, done]
    assert "steps" not in flows.call("GET", "/v1/runs").body["items"][0]
    assert "status" in errors(flows.call("GET", "/v1/runs", None, {"status": "DEAD"}))


def test_runs_of_a_schedule_are_listed_by_fire_time(flows: Flows):
    """Their tasks are created together, before they are due."""
    flows.put("etl", a_step("a", target=TARGET, payload="{{input}}"))
    target = {"type": "workflow", "workflow": "etl", "input": "{{scheduled_for}}"}
    schedule = {"rule": EVERY_MINUTE, "task": {"target": target}}
    assert flows.call("POST", "/v1/schedules", schedule).status == 201
    flows.world.live(20 * MINUTE)

    runs = flows.call("GET", "/v1/runs").body["items"]
    times = [run["input"] for run in runs]
    assert len(times) > 5
    assert times == sorted(times, reverse=True)


def test_items_of_a_map_are_listed_in_order_by_pages(flows: Flows):
    flows.outcomes = {"y": BROKEN}
    mapped = {"items": ["x", "y", "z"], "tolerated_failures": 1}
    run_id = flows.run(a_step("m", payload="{{item}}", map=mapped))
    path = f"/v1/runs/{run_id}/steps/m/items"
    assert flows.call("GET", path).body["items"] == [], "it has not started"
    flows.settle()

    page = flows.call("GET", path, None, {"limit": "2"}).body
    rest = flows.call("GET", path, None, {"cursor": page["next_cursor"]}).body

    items = [*page["items"], *rest["items"]]
    assert [(item["index"], item["status"]) for item in items] == [
        (0, "SUCCEEDED"),
        (1, "DEAD"),
        (2, "SUCCEEDED"),
    ]
    assert items[1]["error"]["message"] == "broken"
    assert rest["next_cursor"] is None
    map_run = flows.step(run_id, "m")["run_id"]
    shown = flows.read(map_run)
    assert shown["map"] == {"run_id": run_id, "step": "m"}
    assert shown["steps"] == []
    task = flows.call("GET", f"/v1/tasks/{items[2]['task_id']}").body
    assert (task["run_id"], task["step"], task["index"]) == (map_run, "m", 2)


def test_items_that_a_failed_map_never_started_count_as_skipped(flows: Flows):
    flows.outcomes["x"] = BROKEN
    each = {"items": 3, "max_concurrency": 1}
    run_id = flows.run(a_step("x", map=each, retry={"max_attempts": 1}))
    flows.settle()

    found = flows.read(str(flows.step(run_id, "x")["run_id"]))

    assert (found["status"], found["counts"]) == ("FAILED", {"DEAD": 1, "SKIPPED": 2})


def test_items_are_those_of_a_map(flows: Flows):
    run_id = flows.run(a_step("a"))

    for name in ("a", "zz"):
        assert flows.call("GET", f"/v1/runs/{run_id}/steps/{name}/items").status == 404


def test_cancelled_run_runs_its_finally_step_unless_cancelled_twice(flows: Flows):
    steps = [a_step("a"), a_step("tidy", **{"finally": True})]
    once, twice = flows.run(*steps), flows.run(*steps)

    assert flows.call("DELETE", f"/v1/runs/{once}").status == 202
    first, second = (flows.call("DELETE", f"/v1/runs/{twice}") for _ in range(2))
    flows.settle()

    assert (first.status, first.body["status"]) == (202, "CANCELLING")
    assert second.status == 202
    assert flows.statuses(once) == {"a": "CANCELLED", "tidy": "SUCCEEDED"}
    assert flows.statuses(twice)["tidy"] in ("CANCELLED", "SKIPPED")
    assert flows.started == ["tidy"]
    assert flows.read(once)["status"] == flows.read(twice)["status"] == "CANCELLED"
    assert flows.call("DELETE", f"/v1/runs/{once}").status == 409


def test_retry_runs_only_what_failed_and_what_follows(flows: Flows):
    flows.outcomes = {"b": BROKEN}
    run_id = flows.run(a_step("a"), a_step("b", "a"), a_step("c", "b"))
    flows.settle()
    failed = flows.read(run_id)
    assert failed["status"] == "FAILED"
    assert failed["error"]["step"] == "b"
    assert failed["steps"][2]["reason"] == "upstream"

    flows.outcomes, flows.started = {}, []
    retried = flows.call("POST", f"/v1/runs/{run_id}/retry")
    flows.settle()

    assert (retried.status, retried.body["attempt"]) == (200, 2)
    assert flows.started == ["b", "c"]
    assert flows.read(run_id)["status"] == "SUCCEEDED"
    assert flows.call("POST", f"/v1/runs/{run_id}/retry").status == 409


def test_retry_of_named_steps_names_what_is_wrong(flows: Flows):
    flows.outcomes = {"b": BROKEN}
    run_id = flows.run(a_step("a"), a_step("b"))
    flows.settle()

    def retry(*steps: str) -> Any:
        return flows.call("POST", f"/v1/runs/{run_id}/retry", {"steps": list(steps)})

    unknown, succeeded, named = retry("zz"), retry("b", "a"), retry("b")
    assert unknown.status == 422
    assert "zz" in errors(unknown)["steps.0"]
    assert succeeded.status == 409
    assert "has not failed" in errors(succeeded)["steps.1"]
    assert named.status == 200


def test_nested_run_is_shown_and_retried_by_its_task(flows: Flows):
    flows.outcomes = {"x": BROKEN}
    run_id = flows.run(a_step("n", workflow={"steps": [a_step("x")]}))
    flows.settle()
    nested = flows.step(run_id, "n")["run_id"]

    assert flows.read(nested)["status"] == "FAILED"
    assert flows.call("POST", f"/v1/runs/{nested}/retry").status == 409
    flows.outcomes = {}
    assert flows.call("POST", f"/v1/runs/{run_id}/retry").status == 200
    flows.settle()
    assert flows.read(run_id)["status"] == flows.read(nested)["status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"input": 1}, "steps"),
        ({"steps": [a_step("a")], "workflow": "etl"}, "steps"),
        ({"steps": [a_step("a")], "input": "x" * 262_145}, "input"),
        ({"steps": [a_step("a")], "run_at": "2030-01-01T00:00:00Z", "delay": 1}, "delay"),
        ({"steps": [a_step("a", "b"), a_step("b", "a")]}, "steps.0.needs"),
        ({"steps": [a_step("a")], "unknown": 1}, "unknown"),
        ({"steps": []}, "steps"),
    ],
    ids=["neither", "both", "large_input", "two_times", "cycle", "unknown_field", "no_steps"],
)
def test_bad_run_is_refused(flows: Flows, body: Any, field: str):
    assert field in errors(flows.call("POST", "/v1/runs", body))


def test_unknown_runs_are_not_found(flows: Flows):
    for run_id in ("nope", "01KA5V8Y3M0000000000000001"):
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry")):
            assert flows.call(method, f"/v1/runs/{run_id}{path}").status == 404


# tasks of steps, and tasks that start runs


def test_task_of_a_step_shows_what_it_does_with_its_references(flows: Flows):
    payload = {"day": "{{input.day}}"}
    run_id = flows.run(a_step("a", payload=payload), input={"day": 4})

    task = flows.call("GET", f"/v1/tasks/{flows.step(run_id, 'a')['task_id']}").body

    assert (task["target"], task["payload"]) == (TARGET, payload)
    assert (task["run_id"], task["step"], task["index"]) == (run_id, "a", None)


def test_every_answer_about_a_step_shows_what_it_does(flows: Flows):
    run_id = flows.run(a_step("a", delay=3600), a_step("b", delay=3600))
    path = f"/v1/tasks/{flows.step(run_id, 'a')['task_id']}"

    answers = [
        flows.call("PATCH", path, {"priority": "low"}),
        flows.call("DELETE", path),
        flows.call("POST", f"/v1/tasks/{flows.step(run_id, 'b')['task_id']}/run"),
    ]
    flows.outcomes["b"] = BROKEN
    flows.settle()
    answers.append(flows.call("POST", f"/v1/tasks/{flows.step(run_id, 'b')['task_id']}/retry"))

    assert [answer.status for answer in answers] == [200] * 4
    assert [answer.body["target"] for answer in answers] == [TARGET] * 4


@pytest.mark.parametrize("payload", ["other", "x" * 200_000], ids=["small", "large"])
def test_payload_of_a_step_cannot_be_changed(flows: Flows, payload: str):
    """It comes from the definition, which other runs may share."""
    run_id = flows.run(a_step("a", delay=3600))
    path = f"/v1/tasks/{flows.step(run_id, 'a')['task_id']}"

    refused = flows.call("PATCH", path, {"payload": payload})

    assert refused.status == 409, refused.body
    assert run_id in refused.body["detail"]


def test_task_starts_a_workflow_and_waits_for_it(flows: Flows):
    flows.put("etl", a_step("a", delay=60))
    target = {"type": "workflow", "workflow": "etl", "input": {"day": 4}}
    submitted = flows.call("POST", "/v1/tasks", {"target": target})
    assert submitted.status == 201, submitted.body
    flows.world.deliver()
    path = f"/v1/tasks/{submitted.body['id']}"

    waiting = flows.call("GET", path).body
    run = flows.read(waiting["waiting_for"]["run"])

    assert waiting["status"] == "WAITING"
    assert waiting["run_id"] is None
    assert (run["workflow"], run["input"]) == ("etl", {"day": 4})
    assert run["parent_task_id"] == submitted.body["id"]
    assert flows.call("PATCH", path, {"priority": "low"}).status == 409


def test_unknown_workflow_of_a_task_or_schedule_is_refused(flows: Flows):
    task = {"target": {"type": "workflow", "workflow": "elt"}}
    flows.put("etl", a_step("a"))

    assert "'etl'" in refusal(flows.call("POST", "/v1/tasks", task))["target.workflow"]
    schedule = {"rule": NOON, "task": task}
    assert "task.target.workflow" in refusal(flows.call("POST", "/v1/schedules", schedule))
    task["target"]["workflow"] = "etl"
    assert flows.call("POST", "/v1/schedules", schedule).status == 201

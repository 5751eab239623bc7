"""/v1/workflows: named definitions, in versions."""

import json
from typing import Any

import pytest

from duetime.api.app import Api
from tests.api.flows import HANDLER, TARGET, Flows, a_step, errors
from tests.api.service import Service

SERVER_FIELDS = ("name", "namespace", "version", "digest", "created_at", "updated_at")


def read(flows: Flows, name: str, **query: str) -> Any:
    response = flows.call("GET", f"/v1/workflows/{name}", query=query)
    assert response.status == 200, response.body
    return json.loads(response.encoded())


def test_first_put_creates_version_one_and_a_changed_body_the_next(flows: Flows):
    first = flows.put("etl", a_step("extract"))
    again = flows.put("etl", a_step("extract"))
    changed = flows.put("etl", a_step("extract"), a_step("load", "extract"))

    assert [(r.status, r.body["version"]) for r in (first, again, changed)] == [
        (201, 1),
        (200, 1),
        (200, 2),
    ]
    assert first.headers["location"] == "/v1/workflows/etl"
    assert [step["name"] for step in read(flows, "etl")["steps"]] == ["extract", "load"]
    assert [step["name"] for step in read(flows, "etl", version="1")["steps"]] == ["extract"]
    assert flows.call("GET", "/v1/workflows/etl", query={"version": "3"}).status == 404
    assert flows.call("GET", "/v1/workflows/etl", query={"version": "0"}).status == 422


def test_versions_are_stored_on_both_backends(any_service: Service):
    for body in ({"steps": [one("a")]}, {"steps": [one("b")]}):
        assert any_service.call("PUT", "/v1/workflows/etl", body).status < 300

    assert any_service.get("/v1/workflows/etl").body["version"] == 2
    assert any_service.get("/v1/workflows/etl", version="1").body["steps"][0]["name"] == "a"
    assert any_service.call("DELETE", "/v1/workflows/etl", b"").status == 204
    assert any_service.get("/v1/workflows").body["items"] == []


def one(name: str) -> dict[str, Any]:
    return {"name": name, "wait": {"seconds": 5}}


def test_definition_as_read_may_be_put_again_without_a_new_version(flows: Flows):
    flows.put("child", a_step("c"))
    flows.put(
        "etl",
        a_step("a", retry={"max_attempts": 3}, callback={"timeout": 60}, timeout=30),
        a_step("b", "a", map={"items": "{{input.urls}}", "max_concurrency": 5}),
        a_step("pause", wait={"until": "2030-01-04T09:00:00Z"}),
        a_step("nap", wait={"seconds": 90}),
        a_step("named", "a", workflow="child@1", input={"day": "{{input.day}}"}),
        a_step("inline", workflow={"steps": [a_step("x"), a_step("y", "x")]}),
        a_step("tidy", **{"finally": True}),
        fail_fast=True,
        timeout=3600,
        priority="high",
        tags={"team": "growth"},
    )
    shown = read(flows, "etl")

    body = {name: part for name, part in shown.items() if name not in SERVER_FIELDS}
    again = flows.call("PUT", "/v1/workflows/etl", body)

    assert (again.status, again.body["version"]) == (200, 1), again.body
    assert shown["timeout"] == 3600.0
    assert shown["fail_fast"] is True


def test_dry_run_returns_the_levels_and_stores_nothing(flows: Flows):
    steps = [a_step("a"), a_step("b", "a"), a_step("c", "a"), a_step("d", "b", "c")]
    checked = flows.put("etl", *steps, query={"dry_run": "true"})

    assert checked.status == 200
    assert checked.body == {"order": [["a"], ["b", "c"], ["d"]]}
    assert flows.call("GET", "/v1/workflows/etl").status == 404


def test_deleted_workflow_starts_no_runs_and_its_versions_go_on_counting(flows: Flows):
    flows.put("etl", a_step("a"))
    running = flows.run(workflow="etl")
    assert flows.call("DELETE", "/v1/workflows/etl").status == 204
    assert flows.call("DELETE", "/v1/workflows/etl").status == 404
    assert "workflow" in errors(flows.start(workflow="etl"))

    flows.settle()
    assert flows.read(running)["status"] == "SUCCEEDED", "a run under way keeps its definition"
    created = flows.put("etl", a_step("a"))
    assert (created.status, created.body["version"]) == (201, 2)


def test_workflows_are_listed_by_name_within_their_namespace(flows: Flows):
    for name in ("b", "a", "c"):
        flows.put(name, a_step("x"))
    flows.put("other", a_step("x"), query={"namespace": "team"})

    page = flows.call("GET", "/v1/workflows", query={"limit": "2"}).body
    rest = flows.call("GET", "/v1/workflows", query={"cursor": page["next_cursor"]}).body

    assert [found["name"] for found in page["items"]] == ["a", "b"]
    assert [found["name"] for found in rest["items"]] == ["c"]
    assert not rest["next_cursor"]
    for cursor in ("a b", "\x00", "x" * 3_000):
        assert flows.call("GET", "/v1/workflows", query={"cursor": cursor}).status == 422
    assert "steps" not in page["items"][0]
    assert page["items"][0]["priority"] == "medium"
    assert flows.call("GET", "/v1/workflows/other").status == 404


@pytest.mark.parametrize(
    ("steps", "field", "message"),
    [
        ([a_step("a", "b"), a_step("b", "a")], "steps.0.needs", "a → b → a"),
        ([a_step("a", "zz")], "steps.0.needs.0", "no step 'zz'"),
        ([a_step("a"), a_step("b", payload="{{steps.a.result}}")], "steps.1.payload", "before"),
        ([{"name": "a", "target": TARGET, "wait": {"seconds": 1}}], "steps.0.wait", "one of"),
        ([a_step("a"), a_step("b", "a", when={"input": {"x": ["y" * 9000]}})], "steps.1.when", ""),
        ([a_step("a", payload="x" * 262_144)], "steps", "256 KiB"),
        ([a_step("a", target={"type": "python", "handler": "no"})], "steps.0.target.handler", "no"),
        ([a_step("a", limits=[{"name": "stripe"}])], "steps.0.limits.0.name", "no limit"),
        ([a_step("a", workflow="child")], "steps.0.workflow", "no workflow 'child'"),
    ],
    ids=[
        *("cycle", "unknown_need", "not_upstream", "two_kinds", "large_pattern"),
        *("large_definition", "unknown_handler", "unknown_limit", "unknown_workflow"),
    ],
)
def test_bad_definition_is_refused_with_field_and_reason(
    flows: Flows, steps: list[Any], field: str, message: str
):
    refused = errors(flows.put("etl", *steps))

    assert any(name.startswith(field) and message in why for name, why in refused.items()), refused


def test_nesting_of_more_than_two_levels_is_refused(flows: Flows):
    inline = {"steps": [a_step("d")]}
    for name in "cba":
        inline = {"steps": [a_step(name, workflow=inline)]}
    assert "steps.0.workflow.steps.0.workflow.steps.0.workflow" in errors(
        flows.put("deep", *inline["steps"])
    )

    flows.put("one", a_step("x"))
    flows.put("two", a_step("x", workflow="one"))
    assert flows.put("three", a_step("x", workflow="two")).status == 201
    assert (
        "2 levels" in errors(flows.put("four", a_step("x", workflow="three")))["steps.0.workflow"]
    )


def test_workflow_that_would_run_itself_is_refused(flows: Flows):
    flows.put("one", a_step("x"))
    flows.put("two", a_step("x", workflow="one"))

    alone = flows.put("new", a_step("x", workflow="new"))
    again = flows.put("one", a_step("x", workflow={"steps": [a_step("y", workflow="one")]}))
    by_another = flows.put("one", a_step("x", workflow="two"))
    assert "run itself" in errors(alone)["steps.0.workflow"]
    assert "run itself" in errors(again)["steps.0.workflow.steps.0.workflow"]
    assert "2 levels" in errors(by_another)["steps.0.workflow"]
    assert flows.put("one", a_step("x", workflow="one@1")).status == 200


def test_secret_headers_of_a_definition_are_masked_also_inside_another(flows: Flows):
    target = {"type": "http", "url": "https://example.com", "headers": {"authorization": "abc"}}
    inner = {"name": "call", "target": target}
    flows.put("etl", inner, a_step("b", workflow={"steps": [inner]}))

    assert "abc" not in json.dumps(read(flows, "etl"))


def test_name_of_a_workflow_is_checked(flows: Flows):
    assert "name" in errors(flows.put("a%20b", a_step("x")))


def test_steps_have_the_defaults_of_their_handlers(flows: Flows):
    defaults = {
        "retry": {"max_attempts": 2},
        "timeout": 30.0,
        "priority": "high",
        "tags": {"team": "data"},
        "fairness_key": "shop",  # a step has none
    }
    flows.api = Api(flows.world.ports, handlers=lambda: {HANDLER: defaults}, version="9.9.9")
    own = a_step("own", timeout=5, retry={"base_delay": 3})
    flows.put("etl", a_step("plain"), own, a_step("nested", workflow={"steps": [a_step("inner")]}))

    plain, own, nested = read(flows, "etl")["steps"]
    (inner,) = nested["workflow"]["steps"]
    for step in (plain, inner):
        assert (step["timeout"], step["priority"], step["tags"]) == (30, "high", {"team": "data"})
        assert step["retry"]["max_attempts"] == 2
    assert (own["timeout"], own["retry"]["max_attempts"]) == (5, 2)
    assert own["retry"]["base_delay"] == 3


def test_steps_of_a_run_have_the_defaults_of_their_handlers(flows: Flows):
    api = Api(flows.world.ports, handlers=lambda: {HANDLER: {"timeout": 30.0}}, version="9.9.9")
    flows.api = api
    run_id = flows.run(a_step("plain"))

    task = flows.call("GET", f"/v1/tasks/{flows.step(run_id, 'plain')['task_id']}")
    assert task.body["timeout"] == 30

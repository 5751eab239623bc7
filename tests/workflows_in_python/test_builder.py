"""Workflows in Python compile to the JSON that the API takes."""

import asyncio
import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from duetime import BadPayload, Context, WaitInsideHandler, task, use, workflow
from duetime.client import BadArgument
from duetime.workflows.builder import Workflow
from tests.client.scripted_server import Script, ok

HTTP = {"type": "http", "url": "https://example.com/rows"}
PYTHON = {"type": "python", "handler": "flows.extract"}


@task("flows.extract")
def extract_orders(*, day: date, most: int = 10) -> dict[str, Any]:
    return {}


@task("flows.load", retry={"max_attempts": 3}, priority="low")
def load_rows(payload: Any, ctx: Context) -> None: ...


def steps(w: Workflow) -> dict[str, Any]:
    return {step.pop("name"): step for step in w.definition()["steps"]}


def needs(w: Workflow) -> dict[str, list[str]]:
    return {name: step.get("needs", []) for name, step in steps(w).items()}


def test_workflow_compiles_to_the_json_of_the_contract() -> None:
    with workflow("etl", timeout="1h", fail_fast=True) as w:
        extract = w.step("extract", extract_orders, payload={"day": w.input.day})
        w.step("load", HTTP, payload={"rows": extract.result.rows, "first": extract.result[0].id})

    assert w.definition() == {
        "timeout": 3600,
        "fail_fast": True,
        "steps": [
            {"name": "extract", "target": PYTHON, "payload": {"day": "{{input.day}}"}},
            {
                "name": "load",
                "target": HTTP,
                "payload": {
                    "rows": "{{steps.extract.result.rows}}",
                    "first": "{{steps.extract.result.0.id}}",
                },
                "needs": ["extract"],
            },
        ],
    }


def test_call_of_a_handler_has_its_values_and_the_references_in_them() -> None:
    w = workflow("etl")
    extract = w.step("extract", extract_orders.call(day=w.input.day), timeout=90)
    each = w.map("each", extract_orders.call(day=w.item, most=3), items=extract.result.days)
    w.callback("load", load_rows.call({"rows": each.results, "url": w.callback_url}))

    found = steps(w)
    assert found["extract"] == {
        "target": PYTHON,
        "payload": {"day": "{{input.day}}"},
        "timeout": 90,
    }
    assert found["each"]["payload"] == {"day": "{{item}}", "most": 3}
    assert found["load"]["payload"] == {
        "rows": "{{steps.each.results}}",
        "url": "{{callback.url}}",
    }
    assert needs(w) == {"extract": [], "each": ["extract"], "load": ["each"]}


def test_call_that_does_not_fit_its_handler_is_refused() -> None:
    w = workflow("etl")
    untyped: Any = extract_orders

    with pytest.raises(BadPayload, match="most"):
        w.step("a", untyped.call(day=w.input.day, most="many"))
    with pytest.raises(BadPayload, match="dya"):
        untyped.call(dya=w.input.day)
    with pytest.raises(BadPayload, match="day"):
        w.step("a", untyped.call(most=3))
    with pytest.raises(BadArgument, match="leave out payload"):
        w.step("a", extract_orders.call(day=w.input.day), payload={"day": "2027-01-04"})


def test_operator_orders_steps_and_lists_on_either_side() -> None:
    w = workflow("etl")
    first, a, b, c, load, last = (w.step(n, HTTP) for n in ("first", "a", "b", "c", "load", "last"))

    first >> [a, b, c] >> load >> last
    [a, b] >> last

    below = ["first"]
    expected = {"first": [], "a": below, "b": below, "c": below, "load": ["a", "b", "c"]}
    assert needs(w) == {**expected, "last": ["load", "a", "b"]}


def test_needs_are_given_without_the_operator() -> None:
    w = workflow("etl")
    a = w.step("a", HTTP)
    b = w.step("b", HTTP, needs=[a])
    w.step("c", HTTP, needs=[a, b, a])

    assert needs(w) == {"a": [], "b": ["a"], "c": ["a", "b"]}


def test_every_use_of_a_result_adds_a_need() -> None:
    w = workflow("etl")
    a = w.step("a", HTTP)
    w.step("text", HTTP, payload=f"rows: {a.result.rows}")
    w.step("target", {**HTTP, "url": f"https://example.com/{a.result.id}"})
    w.step("condition", HTTP, when={a.result.amount: [{"numeric": [">", 100]}]})
    w.step("pattern", HTTP, when={"steps": {"a": {"status": ["SUCCEEDED"]}}})
    w.map("map", HTTP, items=a.result.urls)
    w.nested("nested", "other", input={"rows": a.result})
    w.step("key", HTTP, ordering_key=a.result.customer)
    w.step("limit", HTTP, limits=[{"name": "api", "key": f"acct-{a.result.account}"}])

    assert {name: found for name, found in needs(w).items() if found != ["a"]} == {"a": []}
    assert steps(w)["condition"]["when"] == {
        "steps": {"a": {"result": {"amount": [{"numeric": [">", 100]}]}}}
    }


def test_other_kinds_of_steps_compile() -> None:
    w = workflow("etl")
    w.wait("pause", seconds="1m")
    w.wait("morning", until=datetime(2027, 1, 4, 9, tzinfo=UTC))
    w.map("resize", HTTP, items=[1, 2], max_concurrency=10, payload={"url": w.item, "n": w.index})
    w.map("plain", HTTP, items=3, tolerated_failures=1)
    w.nested("by-name", "other@3")
    w.callback("approve", HTTP, payload={"url": w.callback_url}, within="1h")
    inner = workflow("inner")
    inner.step("x", HTTP)
    w.nested("inline", inner)

    found = steps(w)
    assert found["pause"] == {"wait": {"seconds": 60.0}}
    assert found["morning"] == {"wait": {"until": "2027-01-04T09:00:00+00:00"}}
    assert found["resize"]["map"] == {"items": [1, 2], "max_concurrency": 10}
    assert found["resize"]["payload"] == {"url": "{{item}}", "n": "{{index}}"}
    assert found["plain"] == {
        "target": HTTP,
        "payload": "{{item}}",
        "map": {"items": 3, "tolerated_failures": 1},
    }
    assert found["by-name"] == {"workflow": "other@3"}
    assert found["approve"]["callback"] == {"timeout": 3600.0}
    assert found["approve"]["payload"] == {"url": "{{callback.url}}"}
    assert found["inline"] == {"workflow": {"steps": [{"name": "x", "target": HTTP}]}}


def test_options_of_a_step_compile() -> None:
    w = workflow("etl")
    a = w.step("a", HTTP, run_if="none_failed", allow_failure=True, delay="30s", timeout=5)
    w.step("b", HTTP, finally_=True, payload={"a": a.result, "status": w.run.status})
    w.step("c", HTTP, callback=86400, limits=[{"name": "stripe"}], priority="high")

    found = steps(w)
    assert found["a"] == {
        "target": HTTP,
        "run_if": "none_failed",
        "allow_failure": True,
        "delay": 30.0,
        "timeout": 5.0,
    }
    assert found["b"]["finally"] is True
    assert "needs" not in found["b"]
    assert found["c"]["callback"] == {"timeout": 86400.0}
    assert (found["c"]["limits"], found["c"]["priority"]) == ([{"name": "stripe"}], "high")


def test_defaults_of_a_handler_are_those_of_its_step() -> None:
    w = workflow("etl")
    w.step("a", load_rows, payload=1)
    w.step("b", load_rows, payload=1, priority="high", retry={"base_delay": 2})

    found = steps(w)
    assert (found["a"]["priority"], found["a"]["retry"]) == ("low", {"max_attempts": 3})
    assert found["b"]["priority"] == "high"
    assert found["b"]["retry"] == {"max_attempts": 3, "base_delay": 2}


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"day": "{{input.day}}", "most": "many"}, "most"),
        ({"most": 3}, "day: is required"),
        ({"day": date(2027, 1, 4), "mots": 3}, "mots: is not a parameter"),
    ],
)
def test_payload_of_a_handler_is_checked_but_for_its_references(payload: Any, reason: str) -> None:
    with pytest.raises(BadPayload, match=reason):
        workflow("etl").step("a", extract_orders, payload=payload)


def test_payload_of_a_handler_is_converted_as_in_submit() -> None:
    w = workflow("etl")
    w.step("a", extract_orders, payload={"day": date(2027, 1, 4), "most": w.input.most})
    w.step("b", extract_orders, payload=w.input)

    assert steps(w)["a"]["payload"] == {"day": "2027-01-04", "most": "{{input.most}}"}
    assert steps(w)["b"]["payload"] == "{{input}}"
    with pytest.raises(BadPayload, match="day: is required"):
        w.step("c", extract_orders)


def test_mistakes_are_refused_with_the_name_of_the_step() -> None:
    w, other = workflow("etl"), workflow("other")
    theirs = other.step("x", HTTP)
    w.step("a", HTTP)
    plain: Any = print
    reference: Any = w.input.at

    mistakes: list[tuple[Any, str]] = [
        (lambda: w.step("a", HTTP), "two steps with the name 'a'"),
        (lambda: w.step("A b", HTTP), "step 'A b': the name must"),
        (lambda: w.step("b", plain), "step 'b': .*print.* is neither a handler .* nor a target"),
        (
            lambda: w.step("b", HTTP, payload=theirs.result),
            "'b' cannot use steps.x.result of .*'other",
        ),
        (lambda: w.step("b", HTTP, needs=[theirs]), "'b' cannot need step 'x' of .*'other'"),
        (lambda: theirs >> w.step("c", HTTP), "'c' cannot need step 'x' of .*'other'"),
        (lambda: w.step("b", HTTP, payload=w.item), "'b': w.item is for the steps of w.map"),
        (lambda: w.step("b", HTTP, payload=w.callback_url), "'b' has no callback"),
        (lambda: w.step("b", HTTP, payload=object()), "b.payload: a value of type object"),
        (lambda: w.wait("b"), "'b': give seconds or until"),
        (lambda: w.wait("b", until=reference), "'b': until cannot be a reference"),
        (lambda: w.step("b", HTTP, tags={"n": reference}), "'b': tags cannot be a reference"),
        (lambda: w.step("b", HTTP, priority=reference), "priority cannot be a reference"),
    ]
    for mistake, reason in mistakes:
        with pytest.raises(BadArgument, match=reason):
            mistake()
    assert list(steps(w)) == ["a", "c"], "a refused step is not added"


def test_unknown_option_of_a_step_is_refused() -> None:
    options: Any = {"retires": 3}
    with pytest.raises(TypeError, match="no option 'retires'; known: needs"):
        workflow("etl").step("a", HTTP, **options)


def test_reference_refuses_what_only_a_value_can_do() -> None:
    w = workflow("etl")
    with pytest.raises(TypeError, match=r"input.ok is not known before the run: use when="):
        assert w.input.ok
    with pytest.raises(TypeError, match=r"use w.map"):
        list(w.input.rows)
    with pytest.raises(ValueError, match="cannot have this key"):
        w.input["a.b"]
    with pytest.raises(ValueError, match="cannot have this key"):
        w.input[-1]


def test_workflow_is_put_and_submitted_with_the_current_client() -> None:
    script = Script(
        ok({"name": "etl", "version": 1}, 201),
        ok({"id": "r1", "status": "RUNNING"}, 201),
        ok({"id": "r1", "status": "FAILED"}),
    )
    w = workflow("etl", namespace="shop")
    w.step("a", HTTP)

    with use(script.client()):
        w.put()
        run = w.submit(input={"day": "2027-01-04"}, idempotency_key="k")
        ended = run.wait(timeout=5)

    put, submit, get = script.asked
    assert str(put.url).endswith("/v1/workflows/etl?namespace=shop")
    assert json.loads(put.content) == w.definition()
    assert json.loads(submit.content) == {
        "workflow": "etl",
        "namespace": "shop",
        "input": {"day": "2027-01-04"},
        "idempotency_key": "k",
    }
    assert (run.id, get.url.path, ended["status"]) == ("r1", "/v1/runs/r1", "FAILED")


@pytest.mark.parametrize("kind", ["client", "async_client"])
def test_async_code_puts_and_submits_with_either_client(kind: str) -> None:
    script = Script(ok({"id": "r1", "status": "SUCCEEDED"}))
    w = workflow("etl")
    w.step("a", HTTP)

    async def main() -> Any:
        with use(getattr(script, kind)()):
            await w.aput()
            run = await w.asubmit(input=1)
            return await run.await_()

    assert asyncio.run(main())["status"] == "SUCCEEDED"
    assert [request.method for request in script.asked] == ["PUT", "POST", "GET"]


@pytest.mark.parametrize("kind", ["client", "async_client"])
def test_async_code_checks_reads_cancels_and_retries_with_either_client(kind: str) -> None:
    script = Script(ok({"id": "r1", "status": "FAILED", "order": [["a"]]}))
    w = workflow("etl")
    w.step("a", HTTP)

    async def main() -> None:
        with use(getattr(script, kind)()):
            assert (await w.acheck())["order"] == [["a"]]
            run = await w.asubmit()
            assert await run.astatus() == "FAILED"
            await run.acancel()
            await run.aretry(["a"])

    asyncio.run(main())
    asked = [f"{request.method} {request.url.path}" for request in script.asked]
    assert asked == [
        "PUT /v1/workflows/etl",
        "POST /v1/runs",
        "GET /v1/runs/r1",
        "DELETE /v1/runs/r1",
        "POST /v1/runs/r1/retry",
    ]
    assert json.loads(script.asked[-1].content) == {"steps": ["a"]}


def test_client_without_workflows_is_refused() -> None:
    class TasksOnly:
        def submit(self) -> None: ...

    client: Any = TasksOnly()
    with use(client), pytest.raises(RuntimeError, match="TasksOnly has no workflows"):
        workflow("etl").submit()


def test_run_is_not_waited_for_inside_a_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(ok({"id": "r1", "status": "RUNNING"}))
    with use(script.client()):
        run = workflow("etl").submit()
        monkeypatch.setattr("duetime.workflows.runs.running", object)
        with pytest.raises(WaitInsideHandler):
            run.wait()

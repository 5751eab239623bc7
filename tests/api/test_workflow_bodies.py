"""The bodies of PUT /v1/workflows/{name} and POST /v1/runs."""

from typing import Any

import pytest

from duetime.api.http import FieldError, Problem
from duetime.api.workflow_models import read_definition, read_run
from duetime.core.lanes import Lane
from duetime.core.limits.definition import LimitUse
from duetime.core.retry import RetryPolicy
from duetime.core.time_limits import TimeLimits
from duetime.core.times import DAY
from duetime.core.workflows.codec import decode_definition, definition_of, encode_definition
from duetime.core.workflows.definition import MapOver, RunIf, WorkflowStep
from tests.api.service import PYTHON, Service, refusal
from tests.factories import NOW

HTTP: dict[str, Any] = {"type": "http", "url": "https://a.example/{{input.id}}"}
WAIT: dict[str, Any] = {"name": "a", "wait": {"seconds": 1}}
SQS = {"type": "sqs", "queue": "arn:aws:sqs:eu-west-1:123456789012:orders"}


def a_step(**more: Any) -> dict[str, Any]:
    return {"name": "a", "target": PYTHON, **more}


def compiled(body: dict[str, Any]) -> WorkflowStep:
    (step,) = read_definition({"steps": [body]}).steps
    return step


def errors_of(problem: Problem) -> dict[str, str]:
    assert problem.status == 422
    return {error["field"]: error["message"] for error in problem.body["errors"]}


def refused(*steps: Any, **more: Any) -> dict[str, str]:
    with pytest.raises(Problem) as caught:
        read_definition({"steps": [*steps], **more})
    return errors_of(caught.value)


def test_all_fields_of_a_step_are_read():
    steps = [
        WAIT,
        {
            "name": "b",
            "target": {**HTTP, "headers": {"X-A": "{{steps.a.status}}"}},
            "payload": {"n": "{{index}}"},
            "retry": {"max_attempts": 2},
            "timeout": 5,
            "priority": "high",
            "limits": [{"name": "db", "key": "k"}],
            "ordering_key": "o",
            "tags": {"team": "growth"},
            "needs": ["a"],
            "run_if": "all_finished",
            "when": {"steps": {"a": {"status": ["SUCCEEDED"]}}},
            "allow_failure": True,
            "delay": 3,
            "map": {"items": "{{input.rows}}", "max_concurrency": 5, "tolerated_failures": 1},
            "callback": {"timeout": 60},
        },
    ]
    body = {"steps": steps, "fail_fast": True, "timeout": 60, "priority": "low", "tags": {"x": "y"}}
    definition = read_definition(body)

    assert definition.steps[1] == WorkflowStep(
        name="b",
        target={**HTTP, "method": "POST", "headers": {"X-A": "{{steps.a.status}}"}},
        payload={"n": "{{index}}"},
        retry=RetryPolicy(max_attempts=2),
        timeout=5.0,
        priority=Lane.HIGH,
        limits=(LimitUse(name="db", key="k"),),
        ordering_key="o",
        tags={"team": "growth"},
        needs=("a",),
        run_if=RunIf.ALL_FINISHED,
        when={"steps": {"a": {"status": ["SUCCEEDED"]}}},
        allow_failure=True,
        delay=3.0,
        map=MapOver(items="{{input.rows}}", max_concurrency=5, tolerated_failures=1),
        callback=60.0,
    )
    assert (definition.fail_fast, definition.timeout) == (True, 60_000)
    assert (definition.priority, definition.tags) == (Lane.LOW, {"x": "y"})
    assert decode_definition(encode_definition(definition)) == definition


def test_step_that_waits_passes_after_its_delay_or_at_its_time():
    assert compiled(WAIT).target == {"type": "pass"}
    assert (compiled(WAIT).delay, compiled(WAIT).until) == (1.0, None)
    until = compiled({"name": "a", "wait": {"until": "1970-01-02T00:00:00Z"}})
    assert (until.target, until.delay, until.until) == ({"type": "pass"}, 0.0, DAY)


def test_step_with_a_workflow_starts_it_by_name_or_inline():
    named = compiled({"name": "a", "workflow": "etl@3", "input": {"x": "{{input.x}}"}})
    assert named.target == {"type": "workflow", "workflow": "etl@3", "input": {"x": "{{input.x}}"}}
    inline = compiled({"name": "a", "workflow": {"steps": [a_step()], "fail_fast": True}})
    nested = definition_of(inline.target["definition"])
    assert (nested.steps[0].target, nested.fail_fast) == (PYTHON, True)


def test_finally_step_is_the_last():
    assert compiled(a_step(**{"finally": True})).last


def test_service_target_is_stored_as_that_of_a_task():
    assert compiled(a_step(target={**SQS, "delay": 0}, payload="{{input}}")).target == SQS


def test_escaped_braces_in_a_target_stay_escaped():
    url = "https://a.example/{{{{x}}"
    assert compiled(a_step(target={**HTTP, "url": url})).target["url"] == url


KINDS = "give one of target, workflow and wait"
BAD: list[tuple[Any, str, str]] = [
    (7, "steps.0", "must be an object"),
    ({"target": PYTHON}, "steps.0.name", "required"),
    ({"name": "A b", "target": PYTHON}, "steps.0.name", "must be 1 to 64 lower-case"),
    ({"name": "a"}, "steps.0.target", KINDS),
    ({**WAIT, "target": PYTHON}, "steps.0.wait", KINDS),
    ({"name": "a", "workflow": "etl", "target": PYTHON}, "steps.0.workflow", KINDS),
    (a_step(colour="red"), "steps.0.colour", "unknown field"),
    (a_step(needs=["b"]), "steps.0.needs.0", "there is no step 'b'"),
    (a_step(needs=[1]), "steps.0.needs.0", "must be a string"),
    (a_step(run_if="maybe"), "steps.0.run_if", "must be 'all_succeeded'"),
    (a_step(when={"input": {"a": 1}}), "steps.0.when.input.a", "must be a list of values"),
    (a_step(timeout=901), "steps.0.timeout", "must be at most 900 seconds here"),
    (a_step(map={"items": 5, "max_concurrency": 0}), "steps.0.map.max_concurrency", "must be at"),
    (a_step(map={}), "steps.0.map.items", "required"),
    (a_step(map={"items": "a {{input}}"}), "steps.0.map.items", "must be a list, a number, or one"),
    (a_step(callback={"timeout": 0}), "steps.0.callback.timeout", "must be at least 1"),
    (a_step(tags={"": "x"}), "steps.0.tags.", "the key must not be empty"),
    (a_step(input=1), "steps.0.input", "goes with workflow, not with target"),
    ({**WAIT, "payload": 1}, "steps.0.payload", "goes with target, not with wait"),
    ({**WAIT, "callback": {}}, "steps.0.callback", "goes with target, not with wait"),
    ({**WAIT, "delay": 1}, "steps.0.delay", "goes with target or workflow, not with wait"),
    ({"name": "a", "wait": {}}, "steps.0.wait", "give seconds or until, and not both"),
    ({"name": "a", "wait": {"event": {"name": "x"}}}, "steps.0.wait.event", "there are no events"),
    ({"name": "a", "workflow": "a b"}, "steps.0.workflow", "must be the name of a workflow"),
    ({"name": "a", "workflow": 7}, "steps.0.workflow", "must be the name of a workflow, or a"),
    ({"name": "a", "workflow": {}}, "steps.0.workflow.steps", "required"),
    ({"name": "a", "workflow": {"steps": [1]}}, "steps.0.workflow.steps.0", "must be an object"),
    (a_step(target={"type": "nope"}), "steps.0.target.type", "must be one of"),
    (a_step(target={"type": ["http"]}), "steps.0.target.type", "must be one of"),
    (a_step(target={"type": "workflow", "workflow": "x"}), "steps.0.target.type", "use workflow"),
    (a_step(target={"type": "python"}), "steps.0.target.handler", "required"),
    (a_step(target={**HTTP, "url": "{{input.url}}"}), "steps.0.target.url", "cannot contain"),
    (a_step(target={**HTTP, "url": "ftp://a/{{input.x}}"}), "steps.0.target.url", "must be an"),
    (a_step(target={**HTTP, "method": "{{input.m}}"}), "steps.0.target.method", "cannot contain"),
    (a_step(target={**SQS, "queue": "{{input.q}}"}), "steps.0.target.queue", "cannot contain"),
    (a_step(target=SQS, payload=""), "steps.0.payload", "must be text without control"),
    (a_step(payload={"handler": "{{x"}), "steps.0.payload.handler", "the {{ at position 1"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "field", "message"), BAD)
def test_wrong_step_is_refused_with_its_field(step, field, message):
    with pytest.raises(Problem) as caught:
        read_definition({"steps": [step]}, time_limits=TimeLimits(900))
    found = errors_of(caught.value)
    assert field.rstrip(".") in {name.rstrip(".") for name in found}, found
    assert any(text.startswith(message) for text in found.values()), found


def test_errors_of_all_steps_are_reported_together():
    assert [*refused(7, a_step(), {"name": "b"})] == ["steps.0", "steps.2.target"]


def test_third_level_of_nesting_is_refused():
    body: Any = {"steps": [a_step()]}
    for _ in range(3):
        body = {"steps": [{"name": "a", "workflow": body}]}
    (field,) = refused(*body["steps"])
    assert field == "steps.0.workflow.steps.0.workflow.steps.0.workflow"


def test_target_that_is_not_allowed_here_is_refused():
    def check(target, pool):
        return [FieldError("target.queue", "is not allowed here")] if target == SQS else []

    with pytest.raises(Problem) as caught:
        read_definition({"steps": [a_step(target=SQS)]}, check=check)
    assert errors_of(caught.value) == {"steps.0.target.queue": "is not allowed here"}


def test_run_of_a_named_workflow_keeps_what_its_definition_says():
    run = read_run({"workflow": "etl@3", "input": {"a": 1}, "delay": 5}, NOW)
    assert (run.workflow, run.version, run.definition) == ("etl", 3, None)
    assert (run.input, run.run_at, run.namespace) == ({"a": 1}, NOW + 5_000, "default")
    assert run.timeout is run.fail_fast is run.priority is None
    assert read_run({"workflow": "etl"}, NOW).version is None


def test_run_with_inline_steps_has_a_definition():
    run = read_run({"steps": [a_step()], "timeout": 9, "fail_fast": True, "tags": {"a": "b"}}, NOW)
    assert run.definition is not None
    assert (run.definition.timeout, run.definition.fail_fast) == (9_000, True)
    assert (run.definition.tags, run.tags) == ({}, {"a": "b"})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "steps"),
        ({"workflow": "etl", "steps": [WAIT]}, "steps"),
        ({"steps": []}, "steps"),
        ({"workflow": "etl@0"}, "workflow"),
        ({"workflow": "etl", "timeout": 0}, "timeout"),
        ({"workflow": "etl", "timeout": 367 * 86_400}, "timeout"),
        ({"workflow": "etl", "run_at": "2026-11-18T00:00:00Z", "delay": 1}, "delay"),
        ({"workflow": "etl", "run_at": "2099-11-18T00:00:00Z"}, "run_at"),
        ({"workflow": "etl", "input": "x" * 256 * 1024}, "input"),
        ({"workflow": "etl", "input": float("inf")}, "input"),
        ({"steps": [a_step(payload="{{steps.b.result}}")]}, "steps.0.payload"),
    ],
)
def test_wrong_run_is_refused_with_its_field(body, field):
    with pytest.raises(Problem) as caught:
        read_run(body, NOW)
    assert [*errors_of(caught.value)] == [field]


@pytest.fixture
def with_workflow(service: Service) -> Service:
    put = service.call("PUT", "/v1/workflows/etl", {"steps": [WAIT]})
    assert put.status == 201, put.body
    return service


def test_task_may_start_a_workflow(with_workflow: Service):
    service = with_workflow
    target = {"type": "workflow", "workflow": "etl", "input": {"a": 1}}
    response = service.submit(target=target)
    assert response.status == 201, response.body
    assert response.body["target"] == target


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"target": {"type": "workflow", "workflow": "a b"}}, "target.workflow"),
        ({"target": {"type": "workflow"}}, "target.workflow"),
        ({"target": {"type": "workflow", "workflow": "etl"}, "payload": 1}, "payload"),
    ],
)
def test_task_with_a_wrong_workflow_target_is_refused(with_workflow: Service, task, field):
    assert field in str(refusal(with_workflow.submit(**task)))


def test_names_of_a_schedule_in_the_input_of_a_workflow_become_values(with_workflow: Service):
    service = with_workflow
    given = {"at": "{{scheduled_for}}", "last": "{{previous.result}}"}
    target = {"type": "workflow", "workflow": "etl", "input": given}
    rule = {"type": "cron", "expression": "* * * * *"}
    response = service.schedule(name="n", rule=rule, task={"target": target})
    assert response.status == 201, response.body
    *_, task = service.get("/v1/tasks", schedule_id=response.body["id"]).body["items"]
    assert task["target"]["input"]["last"] == "{{previous.result}}"
    assert task["target"]["input"]["at"].endswith("Z")


def test_name_of_a_workflow_in_a_schedule_is_no_template(service: Service):
    target = {"type": "workflow", "workflow": "{{schedule.name}}"}
    rule = {"type": "cron", "expression": "* * * * *"}
    response = service.schedule(name="n", rule=rule, task={"target": target})
    assert "task.target.workflow" in str(refusal(response))


@pytest.mark.parametrize("key", ["{{input.k}}", "acct-{{input.k}}-{{run.id}}"])
def test_keys_of_a_step_take_references(key: str):
    found = compiled(a_step(ordering_key=key, limits=[{"name": "db", "key": key}]))

    assert found.ordering_key == found.limits[0].key == key


@pytest.mark.parametrize("key", ["a b", "a {{input.k}}", "{{input.k", "", "x" * 129])
def test_key_that_cannot_become_a_word_is_refused(key: str):
    found = refused(a_step(ordering_key=key, limits=[{"name": "db", "key": key}]))

    assert set(found) == {"steps.0.ordering_key", "steps.0.limits.0.key"}

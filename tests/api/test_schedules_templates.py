"""The task of a schedule is a template, checked when it is submitted."""

from typing import Any

import pytest

from duetime.core.times import MINUTE, rfc3339
from tests.api.service import EVERY_MINUTE, PYTHON, Service, refusal
from tests.factories import NOW

HTTP: dict[str, Any] = {"type": "http", "url": "https://example.org/"}


def a_run(service: Service, **task: Any) -> dict[str, Any]:
    """The first task of a schedule."""
    response = service.schedule(name="n", rule=EVERY_MINUTE, task={"target": PYTHON, **task})
    assert response.status == 201, response.body
    tasks = service.get("/v1/tasks", schedule_id=response.body["id"]).body["items"]
    return tasks[-1]


def test_names_of_the_schedule_are_filled_in_when_the_task_is_made(any_service: Service):
    run = a_run(
        any_service,
        target={
            **HTTP,
            "url": "https://example.org/{{schedule.name}}",
            "headers": {"A": "{{ schedule.id }}"},
        },
        payload=["{{scheduled_for}}", {"{{schedule.id}}": 1}, "{{{{x}}"],
        name="{{schedule.name}} at {{scheduled_for}}",
        tags={"of": "{{schedule.id}}", "b": "{{{{"},
    )

    at = rfc3339(NOW + MINUTE)
    assert run["target"]["url"] == "https://example.org/n"
    assert run["target"]["headers"] == {"A": run["schedule_id"]}
    assert run["payload"] == [at, {"{{schedule.id}}": 1}, "{{x}}"]
    assert (run["name"], run["tags"]) == (f"n at {at}", {"of": run["schedule_id"], "b": "{{"})


def test_names_of_the_previous_run_wait_for_the_start(service: Service):
    run = a_run(service, payload={"a": "{{schedule.name}} {{previous.result.x}}"}, name="{{{{")

    assert run["payload"] == {"a": "n {{previous.result.x}}"}
    assert run["name"] == "{{"


def test_name_of_an_unnamed_schedule_is_empty_in_a_template(service: Service):
    task = {
        "target": {**HTTP, "headers": {"A": "{{schedule.name}}"}},
        "tags": {"a": "{{schedule.name}}"},
    }

    response = service.schedule(rule=EVERY_MINUTE, task=task)

    assert response.status == 201, response.body
    run = service.get("/v1/tasks", schedule_id=response.body["id"]).body["items"][0]
    assert (run["target"]["headers"], run["tags"]) == ({"A": ""}, {"a": ""})


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"payload": "{{nme}}"}, "task.payload", "there is no name 'nme'; known: scheduled_for, "),
    ({"payload": {"a": [0, "{{x}}"]}}, "task.payload.a.1", "there is no name 'x'"),
    ({"payload": "ab {{scheduled_for"}, "task.payload", "the {{ at position 4 is not closed by }}"),
    ({"name": "{{previous.status}}"}, "task.name", "previous.status is known only when the run"),
    ({"tags": {"a": "{{previous.result.b}}"}}, "task.tags.a", "previous.result.b is known only"),
    ({"tags": {"a": "{{x}}"}}, "task.tags.a", "there is no name 'x'; known: scheduled_for, "),
    ({"payload": ["{{scheduled_for}}"] * 101}, "task.payload.100", "more than 100 names"),
    (
        {"target": {"type": "python", "handler": "{{schedule.name}}"}},
        "task.target.handler",
        "cannot be a template",
    ),
    ({"target": {**HTTP, "method": "{{schedule.name}}"}}, "task.target.method", "cannot be a"),
    ({"target": {**HTTP, "url": "{{previous.result}}"}}, "task.target.url", "must be an http://"),
    ({"target": {**HTTP, "url": "http://a b/{{scheduled_for}}"}}, "task.target.url", "must have"),
    ({"target": {**HTTP, "headers": {"A": "{{x}}"}}}, "task.target.headers.A", "there is no name"),
    ({"name": "x" * 240 + "{{scheduled_for}}"}, "task.name", "must have at most 256 characters"),
    ({"namespace": "{{schedule.name}}"}, "task.namespace", "must have only letters"),
    ({"ordering_key": "{{schedule.name}}"}, "task.ordering_key", "must have only letters"),
    (
        {
            "target": {
                **HTTP,
                "url": f"http://x/{'{{ previous.result }}' * 100}",
                "headers": {"A": "{{{{" * 4_000},
            }
        },
        "task.target",
        "must be at most 16 KiB",
    ),
]


@pytest.mark.parametrize(("task", "field", "reason"), REFUSED, ids=[f for _, f, _ in REFUSED])
def test_bad_template_is_refused(service: Service, task: dict[str, Any], field: str, reason: str):
    said = refusal(service.schedule(task={"target": PYTHON, **task}))

    assert said.keys() == {field}
    assert said[field].startswith(reason)
    assert service.store.writes == []


@pytest.mark.parametrize(
    "url",
    [
        "https://{{previous.result.host}}/x",
        "https://example.org:{{previous.result.port}}/x",
        "https://example.org/{{previous.result.path}}?at={{scheduled_for}}",
    ],
)
def test_a_url_may_have_names_in_it(service: Service, url: str):
    response = service.schedule(task={"target": {**HTTP, "url": url}})

    assert response.status == 201, response.body
    assert response.body["task"]["target"]["url"] == url


def test_length_of_a_template_is_that_of_its_result(service: Service):
    long_name = "{{" + " " * 300 + "scheduled_for}}"

    assert a_run(service, name=long_name)["name"] == rfc3339(NOW + MINUTE)


@pytest.mark.parametrize(("depth", "status"), [(190, 201), (250, 400), (100_000, 400)])
def test_depth_of_a_template_is_limited(service: Service, depth: int, status: int):
    payload = b"[" * depth + b'"{{scheduled_for}}"' + b"]" * depth
    rule = b'{"type":"cron","expression":"* * * * *"}'
    target = b'{"type":"python","handler":"reports.daily"}'
    body = b'{"rule":%s,"task":{"target":%s,"payload":%s}}' % (rule, target, payload)

    response = service.call("POST", "/v1/schedules", body)

    assert response.status == status, response.body


def test_the_handler_must_exist_on_a_change_too(service: Service):
    schedule_id = service.schedule().body["id"]
    body = {"rule": EVERY_MINUTE, "task": {"target": {"type": "python", "handler": "gone"}}}

    response = service.call("PUT", f"/v1/schedules/{schedule_id}", body)

    assert refusal(response).keys() == {"task.target.handler"}

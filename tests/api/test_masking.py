"""Secrets in the headers of a target are stored and sent, and shown in no answer."""

from typing import Any

import pytest

from duetime.api.http import Response
from duetime.core.masking import MASK, is_secret, masked
from tests.api.dead import a_dead_task, bury
from tests.api.service import NOON, Service, refusal

SECRET = "Bearer hunter2"
URL = "https://example.org/hook"
KEPT = f"{MASK} means the stored value only in a change that keeps scheme, host and port"


def a_target(authorization: str = SECRET, url: str = URL, **headers: str) -> dict[str, Any]:
    return {
        "type": "http",
        "url": url,
        "method": "POST",
        "headers": {"X-Team": "growth", "Authorization": authorization, **headers},
    }


MASKED = a_target(MASK)


@pytest.mark.parametrize(
    "name",
    [
        *("authorization", "Authorization", "PROXY-AUTHORIZATION", "Cookie", "x-api-key"),
        *("X-Auth-Token", "x-amz-security-token", "X-Client-Secret", "x-password", "Api-Key"),
        *("X-Goog-Api-Key", "apikey", "x_api_key", "X-Credentials", "X-Auth", "X-Signature"),
    ],
)
def test_header_that_looks_like_a_secret_is_masked(name: str):
    assert masked({"headers": {name: SECRET}}) == {"headers": {name: MASK}}


@pytest.mark.parametrize("name", ["x-team", "accept", "content-type", "user-agent", "x-author"])
def test_other_header_is_shown(name: str):
    assert not is_secret(name)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@example.org/x?a=b@c", "https://***@example.org/x?a=b@c"),
        ("https://user@example.org", "https://***@example.org"),
        ("https://example.org/a@b", "https://example.org/a@b"),
        ("https://example.org?mail=a@b", "https://example.org?mail=a@b"),
    ],
)
def test_credentials_in_a_url_are_masked(url: str, shown: str):
    """No new task can have them; one that an earlier release has stored may."""
    assert masked({"url": url})["url"] == shown


def test_no_answer_about_a_task_has_a_secret(any_service: Service):
    service = any_service
    task = service.post({"target": a_target(), "delay": 60}, **{"idempotency-key": "k"}).body
    path = f"/v1/tasks/{task['id']}"
    [dead] = bury(service, a_dead_task(target=a_target()))
    answers = [
        service.post({"target": a_target(), "delay": 60}, **{"idempotency-key": "k"}),
        service.batch({"target": a_target()}),
        service.get(path),
        service.get("/v1/tasks"),
        service.get("/v1/dead-letters"),
        service.call("DELETE", path, b""),
        service.call("POST", f"/v1/tasks/{dead}/retry", b""),
    ]

    assert [answer.status for answer in answers] == [200] * 7
    assert task["target"] == MASKED
    assert not [answer for answer in answers if b"hunter2" in answer.encoded()]
    assert all(answer.encoded().count(b'"Authorization":"***"') >= 1 for answer in answers)
    stored = service.store.get([task["id"]])[task["id"]]
    assert stored.spec.target == a_target(), "the executor needs it"


def test_key_is_compared_with_what_was_really_sent(service: Service):
    service.submit("k", target=a_target())

    assert service.submit("k", target=a_target()).status == 200
    assert service.submit("k", target=a_target("Bearer other")).status == 409
    assert refusal(service.submit("k", target=MASKED)) == {
        "target.headers": f"must have the real value of Authorization; {KEPT}"
    }


def test_new_task_cannot_have_the_mask_as_a_value(service: Service):
    assert service.submit(target=MASKED).status == 422
    assert service.schedule(task={"target": MASKED}).status == 422
    assert service.submit(target=a_target(**{"X-Stars": MASK})).status == 201
    assert len(service.stored()) == 1


# Schedules


def a_schedule(service: Service, **headers: str) -> str:
    response = service.schedule(task={"target": a_target(**headers)})
    assert response.status == 201
    return response.body["id"]


def put(service: Service, schedule_id: str, target: Any, **fields: Any) -> Response:
    body = {"rule": NOON, "task": {"target": target}, **fields}
    return service.call("PUT", f"/v1/schedules/{schedule_id}", body)


def stored(service: Service, schedule_id: str) -> Any:
    return service.schedules.get([schedule_id])[schedule_id].plan.task.target


def test_no_answer_about_a_schedule_has_a_secret(any_service: Service):
    service = any_service
    schedule_id = a_schedule(service)
    path = f"/v1/schedules/{schedule_id}"
    answers = [
        service.get(path),
        service.get("/v1/schedules"),
        put(service, schedule_id, a_target()),
        service.on(schedule_id, "pause"),
        service.on(schedule_id, "resume"),
        service.on(schedule_id, "trigger"),
    ]

    assert [answer.status for answer in answers] == [200] * 5 + [201]
    assert not [answer for answer in answers if b"hunter2" in answer.encoded()]
    assert all(b'"Authorization":"***"' in answer.encoded() for answer in answers)
    assert [task.spec.target for task in service.stored()] == [a_target()]


def test_schedule_that_is_sent_back_as_it_was_shown_keeps_its_secrets(any_service: Service):
    schedule_id = a_schedule(any_service, **{"X-Api-Key": "k{{schedule.name}}"})
    shown = any_service.get(f"/v1/schedules/{schedule_id}").body["task"]["target"]
    assert shown["headers"] == {"X-Team": "growth", "Authorization": MASK, "X-Api-Key": MASK}

    changed = {**shown, "url": f"{URL}/v2", "headers": {**shown["headers"], "X-Team": "ops"}}
    assert put(any_service, schedule_id, changed).status == 200

    assert stored(any_service, schedule_id) == {
        **a_target(**{"X-Api-Key": "k{{schedule.name}}"}, **{"X-Team": "ops"}),
        "url": f"{URL}/v2",
    }


def test_secret_is_replaced_or_left_out_by_a_change(service: Service):
    schedule_id = a_schedule(service)

    assert put(service, schedule_id, a_target("Bearer new")).status == 200
    assert stored(service, schedule_id) == a_target("Bearer new")
    bare = {"type": "http", "url": URL, "method": "POST"}
    assert put(service, schedule_id, bare).status == 200
    assert stored(service, schedule_id) == bare


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/hook",
        "http://example.org/hook",
        "https://example.org:8443/hook",
        "https://example.org{{schedule.name}}/hook",
    ],
)
def test_secret_that_is_masked_does_not_go_to_another_host(service: Service, url: str):
    schedule_id = a_schedule(service)

    assert refusal(put(service, schedule_id, a_target(MASK, url), name=".evil.example")) == {
        "task.target.headers": f"must have the real value of Authorization; {KEPT}"
    }
    assert stored(service, schedule_id) == a_target()


def test_host_that_is_a_template_keeps_no_secret(service: Service):
    url = "https://{{schedule.name}}.example.org/hook"
    response = service.schedule(task={"target": a_target(url=url)}, name="a")

    assert put(service, response.body["id"], a_target(MASK, url), name="b").status == 422


@pytest.mark.parametrize(
    "target", [None, 7, {}, {"headers": 7}, {"url": "https://[", "headers": {}}]
)
def test_malformed_target_of_a_change_is_refused(service: Service, target: Any):
    assert put(service, a_schedule(service), target).status == 422

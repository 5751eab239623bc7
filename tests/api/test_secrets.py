"""References to secrets at the edge: what is accepted, what is stored and what is shown."""

from typing import Any

import pytest

from duetime.api.http import Response
from tests.api.service import NOON, Service, refusal

URL = "https://api.stripe.com/v1/charges"
STRIPE = {"$secret": "stripe"}
HOOK = {"$secret": "hook"}
NAMES = ("stripe", "hook", "a.b-c_D")


@pytest.fixture
def service(service: Service) -> Service:
    return with_secrets(service)


@pytest.fixture
def any_service(any_service: Service) -> Service:
    return with_secrets(any_service)


def with_secrets(service: Service) -> Service:
    from duetime.api.app import Api

    service.api = Api(
        service.ports, handlers=lambda: {"reports.daily"}, version="9", secrets=lambda: NAMES
    )
    return service


def a_target(**fields: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "url": URL,
        "method": "POST",
        "headers": {"X-Team": "growth", "Authorization": STRIPE},
        "sign": HOOK,
    } | fields


def test_reference_is_stored_and_shown_as_it_is(any_service: Service):
    task = any_service.submit(target=a_target(), delay=60).body
    answers = [
        any_service.get(f"/v1/tasks/{task['id']}").body,
        any_service.get("/v1/tasks").body["items"][0],
        any_service.batch({"target": a_target()}).body["results"][0]["task"],
    ]

    assert [answer["target"] for answer in (task, *answers)] == [a_target()] * 4
    assert any_service.store.get([task["id"]])[task["id"]].spec.target == a_target()


def test_secret_url_is_stored_and_shown_by_its_name(any_service: Service):
    target = a_target(url=HOOK)
    task = any_service.submit(target=target, delay=60).body
    [listed] = any_service.get("/v1/tasks", target="http").body["items"]
    [summary] = any_service.get("/v1/tasks", target="http", fields="summary").body["items"]

    assert task["target"] == listed["target"] == target
    assert summary["target"] == {"type": "http", "method": "POST", "url": HOOK}
    assert any_service.get("/v1/tasks", target="sqs").body["items"] == []
    assert any_service.store.get([task["id"]])[task["id"]].spec.target == target


def test_header_with_a_value_is_masked_beside_a_reference(service: Service):
    headers = {"Authorization": STRIPE, "X-Api-Key": "hunter2", "Cookie": {"$secret": "a.b-c_D"}}
    shown = service.submit(target=a_target(headers=headers)).body["target"]["headers"]

    assert shown == headers | {"X-Api-Key": "***"}


REFERENCE = 'must be {"$secret": "name"}'
NAME = "the name of a secret must be 1 to 64 letters, digits and ._-"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, REFERENCE),
        ({"secret": "stripe"}, REFERENCE),
        ({"$secret": "stripe", "version": 3}, "must have no field beside $secret"),
        ({"$secret": ""}, NAME),
        ({"$secret": None}, NAME),
        ({"$secret": ["stripe"]}, NAME),
        ({"$secret": "a" * 65}, NAME),
        ({"$secret": "a/b"}, NAME),
        ({"$secret": "stripe\n"}, NAME),
        ({"$secret": "***"}, NAME),
        ({"$secret": "stripe:3"}, NAME),
        ({"$secret": "ü"}, NAME),
    ],
)
def test_bad_reference_is_refused_with_its_field(service: Service, given: Any, reason: str):
    headers = a_target(headers={"Authorization": given})

    assert refusal(service.submit(target=headers)) == {"target.headers.Authorization": reason}
    assert refusal(service.submit(target=a_target(sign=given))) == {"target.sign": reason}
    assert refusal(service.submit(target=a_target(url=given))) == {"target.url": reason}
    assert service.stored() == []


@pytest.mark.parametrize("given", [5, None, ["x"], True])
def test_header_is_a_string_or_a_reference(service: Service, given: Any):
    refused = service.submit(target=a_target(headers={"X-A": given}))

    assert refusal(refused) == {"target.headers.X-A": "must be a string"}


def test_sign_is_a_reference_and_nothing_else(service: Service):
    assert refusal(service.submit(target=a_target(sign="hook"))) == {"target.sign": REFERENCE}
    assert service.submit(target=a_target(sign=None)).status == 201


def test_unknown_secret_is_refused_with_its_field_and_the_known_names(service: Service):
    target = a_target(headers={"Authorization": {"$secret": "strype"}}, sign={"$secret": "zzz"})

    assert refusal(service.submit(target=target)) == {
        "target.headers.Authorization": (
            "there is no secret 'strype'; did you mean 'stripe'? known: a.b-c_D, hook, stripe"
        ),
        "target.sign": "there is no secret 'zzz'; known: a.b-c_D, hook, stripe",
    }
    assert refusal(service.submit(target=a_target(url={"$secret": "zzz"}))) == {
        "target.url": "there is no secret 'zzz'; known: a.b-c_D, hook, stripe"
    }
    assert refusal(service.schedule(task={"target": a_target(sign={"$secret": "zzz"})})) == {
        "task.target.sign": "there is no secret 'zzz'; known: a.b-c_D, hook, stripe"
    }
    assert service.store.writes == []


@pytest.mark.parametrize("name", ["webhook-id", "Webhook-Timestamp", "WEBHOOK-SIGNATURE"])
def test_signature_sets_its_own_headers(service: Service, name: str):
    target = a_target(headers={name: "mine"})

    assert refusal(service.submit(target=target)) == {
        "target.sign": f"sets {name}: leave it out of headers"
    }
    del target["sign"]
    assert service.submit(target=target).status == 201


@pytest.mark.parametrize("name", ["Host", "Idempotency-Key", "Content-Length", "a b"])
def test_header_that_users_may_not_set_takes_no_reference(service: Service, name: str):
    assert service.submit(target=a_target(headers={name: STRIPE})).status == 422


def test_payload_is_data_and_takes_no_secret(service: Service):
    task = service.submit(target=a_target(), payload={"a": {"$secret": "zzz"}}).body

    assert task["payload"] == {"a": {"$secret": "zzz"}}


def test_header_names_and_values_are_no_reference_together(service: Service):
    assert refusal(service.submit(target=a_target(headers=STRIPE))) == {
        "target.headers": "must have a $secret for each header, not one for all"
    }


ARN = "arn:aws:{}:eu-west-1:123456789012:{}"
QUEUE = {"type": "sqs", "queue": ARN.format("sqs", "orders")}
TOPIC = {"type": "sns", "topic": ARN.format("sns", "orders")}
BUS = {"type": "eventbridge", "bus": ARN.format("events", "event-bus/default")}
TABLE = {"type": "dynamodb", "table": ARN.format("dynamodb", "table/orders"), "action": "put"}
FUNCTION = {"type": "lambda", "function": ARN.format("lambda", "function:orders")}
MAIL = {"type": "email", "from": "a@example.com", "to": "b@example.com"}
SQL = {"type": "sql", "database": "main", "statement": "select 1"}
MAIL_PAYLOAD = {"subject": "s", "text": "t"}


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({"type": "python", "handler": STRIPE}, "handler"),
        (a_target(method=STRIPE), "method"),
        (QUEUE | {"queue": STRIPE}, "queue"),
        (QUEUE | {"delay": STRIPE}, "delay"),
        (QUEUE | {"attributes": {"key": STRIPE}}, "attributes.key"),
        (TOPIC | {"subject": STRIPE}, "subject"),
        (BUS | {"source": "shop", "detail_type": STRIPE}, "detail_type"),
        (BUS | {"source": "shop", "detail_type": "d", "resources": [STRIPE]}, "resources.0"),
        (TABLE | {"table": STRIPE}, "table"),
        (TABLE | {"if_absent": STRIPE}, "if_absent"),
        (FUNCTION | {"invocation": STRIPE}, "invocation"),
        (FUNCTION | {"envelope": STRIPE}, "envelope"),
        ({"type": "stepfunctions", "state_machine": STRIPE}, "state_machine"),
        (MAIL | {"from": STRIPE}, "from"),
        (MAIL | {"to": STRIPE}, "to"),
        (MAIL | {"cc": [STRIPE]}, "cc.0"),
        (SQL | {"database": STRIPE}, "database"),
        (SQL | {"statement": STRIPE}, "statement"),
    ],
    ids=lambda given: given if isinstance(given, str) else given["type"],
)
def test_other_field_takes_no_secret_and_is_named(service: Service, target: Any, field: str):
    reason = "takes no $secret; only url, headers and sign of an http target do"

    assert refusal(service.submit(target=target, payload=MAIL_PAYLOAD)) == {
        f"target.{field}": reason
    }
    assert refusal(service.schedule(task={"target": target})) == {f"task.target.{field}": reason}
    assert service.store.writes == []


def test_set_of_attributes_is_no_reference(service: Service):
    refused = service.submit(target=QUEUE | {"attributes": STRIPE})

    assert refusal(refused) == {
        "target.attributes": "must have names that AWS allows, unlike '$secret'"
    }


# Schedules


def put(service: Service, schedule_id: str, target: Any) -> Response:
    body = {"rule": NOON, "task": {"target": target}}
    return service.call("PUT", f"/v1/schedules/{schedule_id}", body)


def test_schedule_keeps_its_references_when_it_is_sent_back_as_shown(any_service: Service):
    headers = {"Authorization": STRIPE, "X-Api-Key": "hunter2", "X-Day": "{{scheduled_for}}"}
    created = any_service.schedule(task={"target": a_target(headers=headers)}).body
    shown = created["task"]["target"]
    assert shown == a_target(headers=headers | {"X-Api-Key": "***"})

    changed = put(any_service, created["id"], {**shown, "url": f"{URL}/v2"})

    assert changed.status == 200
    stored = any_service.schedules.get([created["id"]])[created["id"]].plan.task.target
    assert stored == a_target(headers=headers, url=f"{URL}/v2")


def test_mask_becomes_no_other_value_where_a_reference_was(service: Service):
    """A mask means the stored value, and the stored value is the reference."""
    created = service.schedule(task={"target": a_target()}).body
    masked = a_target(headers={"Authorization": "***"})

    assert put(service, created["id"], masked).status == 200
    stored = service.schedules.get([created["id"]])[created["id"]].plan.task.target
    assert stored["headers"] == {"Authorization": STRIPE}
    assert put(service, created["id"], {**masked, "url": "https://evil.example"}).status == 422


def test_mask_keeps_a_header_for_the_same_secret_url_only(service: Service):
    target = a_target(url=HOOK, headers={"X-Api-Key": "hunter2"})
    created = service.schedule(task={"target": target}).body
    shown = created["task"]["target"]
    assert shown["headers"] == {"X-Api-Key": "***"}

    assert put(service, created["id"], {**shown, "method": "PUT"}).status == 200
    stored = service.schedules.get([created["id"]])[created["id"]].plan.task.target
    assert stored == {**target, "method": "PUT"}
    for url in (STRIPE, URL, {"$secret": None}, {"$secret": ["hook"]}):
        assert put(service, created["id"], {**shown, "url": url}).status == 422


def test_run_of_a_schedule_has_its_references(any_service: Service):
    headers = {"Authorization": STRIPE, "X-Day": "{{scheduled_for}}"}
    target = a_target(url=HOOK, headers=headers)
    schedule_id = any_service.schedule(task={"target": target}).body["id"]
    run = any_service.on(schedule_id, "trigger").body

    assert run["target"]["headers"]["Authorization"] == STRIPE
    assert run["target"]["headers"]["X-Day"].startswith("20")
    assert (run["target"]["url"], run["target"]["sign"]) == (HOOK, HOOK)


def test_name_of_a_secret_cannot_be_a_template(service: Service):
    target = a_target(headers={"Authorization": {"$secret": "{{schedule.name}}"}})

    assert refusal(service.schedule(task={"target": target})) == {
        "task.target.headers.Authorization": "cannot be a template"
    }
    target = a_target(url={"$secret": "{{schedule.name}}"})
    assert refusal(service.schedule(task={"target": target})) == {
        "task.target.url": "cannot be a template"
    }
    assert service.store.writes == []

"""Targets that call a service: bad input is refused with its field, and what is not allowed."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from pydantic import TypeAdapter

from duetime.api.http import FieldError
from duetime.api.service_target_models import AnyTarget
from duetime.core.allowed_targets import AllowedTargets
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import Service, refusal
from tests.factories import SteppedClock

PLACE = "eu-west-1:123456789012"
SQS = {"type": "sqs", "queue": f"arn:aws:sqs:{PLACE}:orders"}
SQS_FIFO = {"type": "sqs", "queue": f"arn:aws:sqs:{PLACE}:orders.fifo", "group": "a"}
SNS = {"type": "sns", "topic": f"arn:aws:sns:{PLACE}:alerts"}
BUS = {"type": "eventbridge", "bus": f"arn:aws:events:{PLACE}:event-bus/default"}
EVENT = {**BUS, "source": "shop", "detail_type": "OrderPaid"}
LAMBDA = {"type": "lambda", "function": f"arn:aws:lambda:{PLACE}:function:resize"}
STATES = {"type": "stepfunctions", "state_machine": f"arn:aws:states:{PLACE}:stateMachine:pay"}
PUT = {"type": "dynamodb", "table": f"arn:aws:dynamodb:{PLACE}:table/orders", "action": "put"}
UPDATE = {**PUT, "action": "update"}
DELETE = {**PUT, "action": "delete"}
EMAIL = {"type": "email", "from": "Shop <orders@example.com>", "to": ["ann@example.net"]}
MAIL = {"subject": "Hi", "text": "Hello"}
SQL = {"type": "sql", "database": "main", "statement": "INSERT INTO t VALUES (:task_id, :a)"}
KEY = {"id": "7"}

GOOD: list[tuple[dict[str, Any], Any]] = [
    (SQS, None),
    ({**SQS, "attributes": {"team": "growth"}, "delay": 900, "group": "fair"}, "text"),
    (SQS_FIFO, {"a": 1}),
    ({**SNS, "subject": "Hi"}, [1]),
    (EVENT, None),
    ({**EVENT, "resources": ["arn:aws:s3:::bucket"]}, {"a": 1}),
    ({**LAMBDA, "invocation": "async", "envelope": True}, 7),
    ({**LAMBDA, "function": f"{LAMBDA['function']}:live"}, None),
    (STATES, {"a": 1}),
    ({**PUT, "if_absent": "id"}, {"item": {"id": "7"}}),
    (UPDATE, {"key": KEY, "set": {"a": 1}, "add": {"n": 1}, "remove": ["b"]}),
    (DELETE, {"key": KEY}),
    (EMAIL, MAIL),
    ({**EMAIL, "cc": ["b@example.net"], "bcc": [], "reply_to": ["c@example.net"]}, MAIL),
    (SQL, {"a": None, "unused": 1}),
    ({**SQL, "statement": "SELECT ':x', a::text FROM t -- :y"}, None),
]

AN_ARN = "must be an ARN such as arn:aws:"
ADDRESS = "must be an address such as ann@example.com or Ann <ann@example.com>"
NO_ATTRIBUTE = "must be an object with at least one attribute"
BAD: list[tuple[dict[str, Any], Any, str, str]] = [
    # what it acts on
    ({"type": "sqs"}, 1, "target.queue", "required"),
    ({**SQS, "queue": "orders"}, 1, "target.queue", AN_ARN),
    ({**SQS, "queue": "https://sqs.eu-west-1.amazonaws.com/1/orders"}, 1, "target.queue", AN_ARN),
    ({**SQS, "queue": SNS["topic"]}, 1, "target.queue", AN_ARN),
    ({**SQS, "queue": f"{SQS['queue']}\n"}, 1, "target.queue", AN_ARN),
    ({**SQS, "queue": f"arn:aws:sqs:{PLACE}:or*"}, 1, "target.queue", AN_ARN),
    ({**SQS, "queue": "arn:aws:sqs:nowhere:1:orders"}, 1, "target.queue", AN_ARN),
    ({**SNS, "topic": SQS["queue"]}, 1, "target.topic", AN_ARN),
    ({**EVENT, "bus": "default"}, {}, "target.bus", AN_ARN),
    ({**LAMBDA, "function": "resize"}, 1, "target.function", AN_ARN),
    ({**STATES, "state_machine": 5}, 1, "target.state_machine", "must be a string"),
    ({**PUT, "table": "orders"}, {"item": KEY}, "target.table", AN_ARN),
    ({**SQL, "database": "postgresql://u:p@h/db"}, {"a": 1}, "target.database", "must be 1 to 128"),
    ({**EMAIL, "from": "orders"}, MAIL, "target.from", ADDRESS),
    # their other fields
    ({**SQS, "url": "x"}, 1, "target.url", "unknown field"),
    ({**SQS, "delay": 901}, 1, "target.delay", "must be at most 900"),
    ({**SQS, "delay": 1.5}, 1, "target.delay", "must be a whole number"),
    ({**SQS_FIFO, "delay": 1}, 1, "target.delay", "does not go with a FIFO queue"),
    ({**SQS_FIFO, "group": None}, 1, "target.group", "required for a FIFO queue or topic"),
    ({**SQS, "group": "a b"}, 1, "target.group", "must be 1 to 128 visible ASCII characters"),
    ({**SQS, "attributes": {"a": 1}}, 1, "target.attributes.a", "must be a string"),
    ({**SQS, "attributes": {"a": ""}}, 1, "target.attributes", "must have values that AWS allows"),
    (
        {**SQS, "attributes": {"a b": "x"}},
        1,
        "target.attributes",
        "must have names that AWS allows",
    ),
    ({**SQS, "attributes": {"AWS.x": "x"}}, 1, "target.attributes", "must have names"),
    ({**SQS, "attributes": {"Duetime-x": "x"}}, 1, "target.attributes", "must leave Duetime-x"),
    (
        {**SQS, "attributes": {str(n): "x" for n in range(9)}},
        1,
        "target.attributes",
        "must have at most 8 entries",
    ),
    ({**SNS, "subject": "a\nb"}, 1, "target.subject", "must be 1 to 100 ASCII characters"),
    ({**SNS, "subject": "x" * 101}, 1, "target.subject", "must be 1 to 100 ASCII characters"),
    ({**SNS, "topic": f"{SNS['topic']}.fifo"}, 1, "target.group", "required for a FIFO"),
    ({**BUS, "detail_type": "x"}, {}, "target.source", "required"),
    ({**EVENT, "source": "aws.ec2"}, {}, "target.source", "must not begin with aws."),
    ({**EVENT, "detail_type": "x" * 129}, {}, "target.detail_type", "must have at most 128"),
    ({**LAMBDA, "invocation": "later"}, 1, "target.invocation", "must be 'sync' or 'async'"),
    ({**LAMBDA, "envelope": 1}, 1, "target.envelope", "must be true or false"),
    ({**PUT, "action": "scan"}, {}, "target.action", "must be 'put', 'update' or 'delete'"),
    ({**DELETE, "if_absent": "id"}, {"key": KEY}, "target.if_absent", "goes with the action put"),
    ({**EMAIL, "to": []}, MAIL, "target.to", "must have at least 1 entry"),
    ({**EMAIL, "to": ["a@b\nBcc: eve@example.org"]}, MAIL, "target.to.0", ADDRESS),
    ({**EMAIL, "to": ["a@example.net, b@example.net"]}, MAIL, "target.to.0", ADDRESS),
    ({**EMAIL, "from": 'A" <a@example.com>'}, MAIL, "target.from", ADDRESS),
    ({**EMAIL, "from": "Zoë@example.com"}, MAIL, "target.from", ADDRESS),
    ({**EMAIL, "cc": ["x"]}, MAIL, "target.cc.0", ADDRESS),
    ({**EMAIL, "cc": ["a@example.net"] * 50}, MAIL, "target.to", "may have at most 50 addresses"),
    ({**EMAIL, "bcc": ["a@example.net"] * 51}, MAIL, "target.bcc", "must have at most 50 entries"),
    ({**SQL, "statement": ""}, {}, "target.statement", "must not be empty"),
    ({**SQL, "statement": "x" * 15_001}, {}, "target.statement", "must have at most 15000"),
    # payloads
    (SQS, "", "payload", "must be text without control characters, not empty"),
    (SQS, "a\x00", "payload", "must be text without control characters, not empty"),
    (EVENT, "x", "payload", "must be an object, the detail of the event"),
    (PUT, None, "payload", "must be an object"),
    (PUT, {}, "payload.item", NO_ATTRIBUTE),
    (PUT, {"item": KEY, "key": KEY}, "payload.key", "unknown field; put takes item"),
    ({**PUT, "if_absent": "pk"}, {"item": KEY}, "payload.item", "must have pk"),
    (UPDATE, {"set": {"a": 1}}, "payload.key", NO_ATTRIBUTE),
    (UPDATE, {"key": KEY, "set": 1}, "payload.set", "must be an object"),
    (UPDATE, {"key": KEY, "add": {"n": "1"}}, "payload.add", "must be an object of numbers"),
    (UPDATE, {"key": KEY, "add": {"n": True}}, "payload.add", "must be an object of numbers"),
    (UPDATE, {"key": KEY, "remove": "a"}, "payload.remove", "must be a list of names"),
    (DELETE, {"key": []}, "payload.key", NO_ATTRIBUTE),
    (EMAIL, None, "payload", "must be an object with subject, and text or html"),
    (EMAIL, {"text": "x"}, "payload.subject", "required"),
    (EMAIL, {"subject": "a\r\nBcc: e@x.org", "text": ""}, "payload.subject", "must be one line"),
    (EMAIL, {"subject": "a"}, "payload.text", "required: give text, html or both"),
    (EMAIL, {**MAIL, "html": 1}, "payload.html", "must be a string"),
    (EMAIL, {**MAIL, "body": "x"}, "payload.body", "unknown field"),
    (SQL, [1], "payload", "must be an object, with a value for each parameter"),
    (SQL, {}, "payload.a", "required: the statement names it"),
    (SQL, {"a": 1, "task_id": "x"}, "payload.task_id", "is bound by Duetime"),
    # the limits of the services
    (SNS, "x" * 256 * 1024, "payload", "must be at most 256 KiB, the limit of SNS"),
]


def named(target: dict[str, Any], field: str = "") -> str:
    return f"{target['type']} {field} {target!r:.30}"


@pytest.mark.parametrize(("target", "payload"), GOOD, ids=[named(t) for t, _ in GOOD])
def test_good_target_is_stored_as_it_was_given(
    service: Service, target: dict[str, Any], payload: Any
):
    response = service.submit(target=target, payload=payload)

    assert response.status == 201, response.body
    defaults = {"bcc": [], "invocation": "sync"}
    given = {name: value for name, value in target.items() if defaults.get(name) != value}
    assert response.body["target"] == given


@pytest.mark.parametrize(
    ("target", "payload", "field", "reason"), BAD, ids=[named(t, f) for t, _, f, _ in BAD]
)
def test_bad_target_or_payload_is_refused_with_its_field(
    service: Service, target: dict[str, Any], payload: Any, field: str, reason: str
):
    refused = refusal(service.submit(target=target, payload=payload))

    assert list(refused) == [field]
    assert refused[field].startswith(reason)
    assert service.store.writes == []


def test_email_recipient_may_be_one_string(service: Service):
    target = {**EMAIL, "to": "ann@example.net"}

    assert service.submit(target=target, payload=MAIL).body["target"]["to"] == ["ann@example.net"]


LIMITS: list[tuple[dict[str, Any], int, str]] = [
    (SQS, 1024 * 1024, "must be at most 1 MiB, the limit of SQS"),
    (SNS, 256 * 1024, "must be at most 256 KiB, the limit of SNS"),
    ({**LAMBDA, "invocation": "async"}, 1024 * 1024, "must be at most 1 MiB, the limit of Lambda"),
    (LAMBDA, 6 * 1024 * 1024, "must be at most 6 MiB, the limit of Lambda"),
    (STATES, 256 * 1024, "must be at most 256 KiB, the limit of Step Functions"),
    (EVENT, 1024 * 1024, "must be at most 1 MiB, the limit of EventBridge"),
    (PUT, 400 * 1024, "must be at most 400 KiB, the limit of DynamoDB"),
]


@pytest.mark.parametrize(("target", "limit", "reason"), LIMITS, ids=[r[-25:] for *_, r in LIMITS])
def test_payload_over_the_limit_of_the_service_is_refused(
    target: dict[str, Any], limit: int, reason: str
):
    """Checked here on the model: the API itself refuses most of these sizes earlier."""
    model = TypeAdapter(AnyTarget).validate_python(target)

    def errors(size: int) -> list[FieldError]:
        text = "x" * size
        forms = {"dynamodb": {"item": {"id": text}}, "eventbridge": {"text": text}}
        return model.errors(forms.get(target["type"], text))

    assert errors(limit - 1_000) == []
    assert errors(limit) == [FieldError("payload", reason)]


@pytest.fixture
def stage() -> Iterator[Service]:
    """An API whose stage allows some targets."""
    patterns = {
        "sqs": [f"arn:aws:sqs:{PLACE}:orders*"],
        "email": ["*@example.com"],
        "sql": ["main"],
    }
    with closing(SqliteTaskStore(None)) as store:
        yield Service(store, SteppedClock(), targets=AllowedTargets(patterns=patterns))


@pytest.mark.parametrize(
    ("target", "payload"), [(SQS, 1), (SQS_FIFO, 1), (EMAIL, MAIL), (SQL, {"a": 1})]
)
def test_target_that_the_stage_allows_is_accepted(
    stage: Service, target: dict[str, Any], payload: Any
):
    assert stage.submit(target=target, payload=payload).status == 201


NOT_NAMED = "is not allowed here; name it in targets.{} of the stage to allow it"
REFUSED: list[tuple[dict[str, Any], Any, str, str]] = [
    ({**SQS, "queue": f"arn:aws:sqs:{PLACE}:pay"}, 1, "target.queue", NOT_NAMED.format("sqs")),
    ({**EMAIL, "from": "a@example.org"}, MAIL, "target.from", NOT_NAMED.format("email")),
    ({**EMAIL, "from": "x@example.com <a@b.org>"}, MAIL, "target.from", ADDRESS),
    ({**SQL, "database": "other"}, {"a": 1}, "target.database", NOT_NAMED.format("sql")),
    (SNS, 1, "target.type", f"'sns' {NOT_NAMED.format('sns')}"),
]


@pytest.mark.parametrize(("target", "payload", "field", "reason"), REFUSED)
def test_target_that_the_stage_does_not_allow_is_refused_with_its_field(
    stage: Service, target: dict[str, Any], payload: Any, field: str, reason: str
):
    assert refusal(stage.submit(target=target, payload=payload)) == {field: reason}
    assert stage.store.writes == []


def test_schedule_with_a_target_that_the_stage_does_not_allow_is_refused(stage: Service):
    refused = refusal(stage.schedule(task={"target": SNS, "payload": 1}))

    assert list(refused) == ["task.target.type"]


@pytest.mark.parametrize("field", ["statement", "database"])
def test_schedule_has_no_template_in_a_target_of_a_service(service: Service, field: str):
    """The result of a run could change what is allowed, or become part of a statement."""
    target = {**SQL, field: "{{previous.result}}"}
    refused = refusal(service.schedule(task={"target": target, "payload": {"a": 1}}))

    assert refused == {f"task.target.{field}": "cannot be a template"}


def test_schedule_may_have_templates_in_the_payload_of_a_service(service: Service):
    task = {"target": SQL, "payload": {"a": "{{scheduled_for}}"}}

    assert service.schedule(task=task).status == 201

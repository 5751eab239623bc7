"""What a task leaves in the traces, from its submission to its target, by the spans that the SDK
of OpenTelemetry would export."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from duetime import Context, task, tracing
from duetime.handlers import registry
from duetime.testing import World, world
from duetime.tracing.otel import Spans, traceparent_of
from tests.tracing.apart import apart

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
CHARGE = {"type": "http", "url": "https://api.shop.test/charge?token=s3cret"}
seen: list[Any] = []


@pytest.fixture(autouse=True)
def no_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen.clear()
    monkeypatch.setattr(registry, "_handlers", {})


class Exported:
    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def __call__(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        [span] = self(name)
        return span

    @property
    def names(self) -> list[str]:
        return [span.name for span in self._exporter.get_finished_spans()]


@pytest.fixture
def provider() -> TracerProvider:
    return TracerProvider()


@pytest.fixture
def exported(provider: TracerProvider) -> Iterator[Exported]:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.use(Spans(provider))
    yield Exported(exporter)
    tracing.use(None)


@pytest.fixture
def w() -> Iterator[World]:
    with world() as opened:
        yield opened


def register(name: str = "shop.restock") -> Any:
    @task(name, retry={"max_attempts": 3})
    def handler(payload: Any, ctx: Context) -> Any:
        current = traceparent_of(trace.get_current_span())
        seen.append((ctx.traceparent, current))
        if isinstance(payload, dict) and payload.get("fails", 0) >= ctx.attempt:
            raise ValueError("no")

    return handler


def trace_of(span: ReadableSpan) -> str:
    return f"{span.get_span_context().trace_id:032x}"


def linked(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]


def id_of(span: ReadableSpan) -> int:
    return span.get_span_context().span_id


def parent_of(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def test_attempt_is_a_child_of_its_submission_and_linked_to_it(w: World, exported: Exported):
    submission = register().submit(None)
    w.drain()

    submit, execute = exported.one("submit shop.restock"), exported.one("execute shop.restock")
    assert (submit.kind, execute.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert parent_of(execute) == id_of(submit)
    assert linked(execute) == [id_of(submit)]
    assert execute.attributes == {
        "messaging.system": "duetime",
        "messaging.operation.type": "process",
        "messaging.operation.name": "execute",
        "messaging.destination.name": "shop.restock",
        "messaging.message.id": submission.id,
        "faas.trigger": "pubsub",
        "duetime.lane": "medium",
        "duetime.attempt": 1,
        "duetime.due_at": execute.attributes["duetime.due_at"],
        "duetime.drift_ms": 0,
        "duetime.outcome": "succeeded",
    }


def test_attempt_after_a_minute_has_a_trace_of_its_own_and_a_link(w: World, exported: Exported):
    register().submit_in("24h", None)
    w.advance("24h")

    submit, execute = exported.one("submit shop.restock"), exported.one("execute shop.restock")
    assert parent_of(execute) is None
    assert trace_of(execute) != trace_of(submit)
    assert linked(execute) == [id_of(submit)]


def test_retry_is_linked_to_the_attempt_before_it(w: World, exported: Exported):
    register().submit({"fails": 2})
    w.drain()

    submit = exported.one("submit shop.restock")
    first, second, third = exported("execute shop.restock")
    assert linked(second) == [id_of(submit), id_of(first)]
    assert linked(third) == [id_of(submit), id_of(second)]
    assert [span.attributes["duetime.outcome"] for span in (first, second, third)] == [
        "failed",
        "failed",
        "succeeded",
    ]
    assert first.status.status_code is StatusCode.ERROR
    assert first.attributes["error.type"] == "ValueError"
    assert third.status.status_code is StatusCode.UNSET


def test_span_of_the_attempt_is_current_in_the_handler(w: World, exported: Exported):
    register().submit(None)
    w.drain()

    [(given, current)] = seen
    assert given == current
    assert int(given.split("-")[2], 16) == id_of(exported.one("execute shop.restock"))


def test_child_of_a_handler_continues_its_trace(w: World, exported: Exported):
    child = register("shop.child")

    @task("shop.parent")
    def parent(payload: Any, ctx: Context) -> None:
        child.submit(None)

    parent.submit(None)
    w.drain()

    execute = exported.one("execute shop.parent")
    assert parent_of(exported.one("submit shop.child")) == id_of(execute)
    assert trace_of(exported.one("execute shop.child")) == trace_of(execute)


def test_http_target_sends_the_traceparent_of_its_own_span(w: World, exported: Exported):
    charge = w.http.post("https://api.shop.test/charge").replies(503, 200)
    w.client.submit(target=CHARGE)
    w.drain()

    posts, attempts = exported("POST"), exported("execute api.shop.test")
    assert [parent_of(post) for post in posts] == [id_of(execute) for execute in attempts]
    assert [post.attributes["http.response.status_code"] for post in posts] == [503, 200]
    assert [post.status.status_code for post in posts] == [StatusCode.ERROR, StatusCode.UNSET]
    sent = [call.headers["traceparent"] for call in charge.calls]
    assert [int(text.split("-")[2], 16) for text in sent] == [id_of(post) for post in posts]


def test_traceparent_among_the_headers_of_a_target_is_kept(w: World, exported: Exported):
    charge = w.http.post("https://api.shop.test/charge").replies(200)
    w.client.submit(target=CHARGE | {"headers": {"traceparent": TRACEPARENT}})
    w.drain()

    assert [call.headers["traceparent"] for call in charge.calls] == [TRACEPARENT]


def test_no_span_holds_a_url_or_a_payload(w: World, exported: Exported):
    w.http.post("https://api.shop.test/charge").replies(200)
    w.client.submit(target=CHARGE, payload={"card": "s3cret"})
    w.drain()

    assert exported.names == ["submit api.shop.test", "POST", "execute api.shop.test"]
    assert "s3cret" not in str(
        [span.attributes for span in exported._exporter.get_finished_spans()]
    )


def test_message_of_an_error_is_in_no_span(w: World, exported: Exported):
    w.http.post("https://api.shop.test/charge").replies(OSError("the token is s3cret"))
    w.client.submit(target=CHARGE, retry={"max_attempts": 1})
    w.drain()

    request = exported.one("POST")
    assert request.status.status_code is StatusCode.ERROR
    assert "error.type" in request.attributes
    for span in exported._exporter.get_finished_spans():
        assert "s3cret" not in span.to_json()


@pytest.mark.parametrize(
    "target",
    [
        None,
        "shop.restock",
        {},
        {"type": []},
        {"type": "email", "to": []},
        {"type": "http", "url": "http://[x"},
    ],
)
def test_target_that_the_api_refuses_has_a_span(
    provider: TracerProvider, exported: Exported, target: Any
):
    with Spans(provider).submit(target, None):
        pass

    assert len(exported.names) == 1


def test_each_task_of_a_batch_has_a_span(w: World, exported: Exported):
    handler = register()
    handler.submit_many([None, None])
    w.drain()

    submits, attempts = exported("submit shop.restock"), exported("execute shop.restock")
    assert [parent_of(span) for span in attempts] == [id_of(span) for span in submits]
    assert len(attempts) == 2


def test_run_of_a_schedule_is_linked_to_its_creation(w: World, exported: Exported):
    register()
    target = {"type": "python", "handler": "shop.restock"}
    w.client.schedules.create(
        name="hourly", rule={"type": "cron", "expression": "0 * * * *"}, task={"target": target}
    )
    w.advance("1h")

    created, execute = exported("materialise hourly")[0], exported("execute shop.restock")[0]
    assert linked(execute) == [id_of(created)]
    assert parent_of(created) is None
    assert execute.attributes["faas.trigger"] == "timer"


STEP = {"type": "python", "handler": "shop.restock"}


def test_steps_are_linked_to_the_submission_of_their_run(w: World, exported: Exported):
    register()
    steps = [
        {"name": "first", "target": STEP},
        {"name": "soon", "target": STEP, "needs": ["first"], "delay": 30},
        {"name": "later", "target": STEP, "needs": ["soon"], "delay": 60},
    ]
    w.client.workflows.put("etl", steps=steps)
    run = w.client.runs.submit(workflow="etl")
    w.advance("5m")

    submitted = exported.one("submit workflow etl")
    first, soon, later = (exported.one(f"execute {name}") for name in ("first", "soon", "later"))
    for step in (first, soon, later):
        assert linked(step) == [id_of(submitted)]
        assert step.attributes["messaging.message.conversation_id"] == run["id"]
    assert parent_of(first) == parent_of(soon) == id_of(submitted)
    assert parent_of(later) is None  # 90 s after the submission


def test_items_and_steps_of_nested_runs_are_linked_to_the_submission(w: World, exported: Exported):
    register()
    w.client.workflows.put("inner", steps=[{"name": "inside", "target": STEP}])
    steps = [
        {"name": "each", "target": STEP, "map": {"items": [1, 2]}},
        {"name": "nested", "workflow": "inner"},
    ]
    w.client.runs.submit(steps=steps)
    w.advance("5m")

    submitted = exported.one("submit workflow")
    found = [*exported("execute each"), exported.one("execute inside")]
    assert len(found) >= 3
    assert {tuple(linked(span)) for span in found} == {(id_of(submitted),)}


def test_run_that_a_schedule_starts_is_linked_to_the_materialise_span(w: World, exported: Exported):
    register()
    w.client.workflows.put("etl", steps=[{"name": "first", "target": STEP}])
    w.client.schedules.create(
        name="hourly",
        rule={"type": "cron", "expression": "0 * * * *"},
        task={"target": {"type": "workflow", "workflow": "etl"}},
    )
    w.advance("1h")

    created, step = exported("materialise hourly")[0], exported("execute first")[0]
    assert linked(step) == [id_of(created)]


@pytest.fixture
def served() -> Iterator[World]:
    with world(serve=True) as opened:
        yield opened


def post(served: World, headers: dict[str, str], **fields: Any) -> httpx.Response:
    body = {"target": {"type": "python", "handler": "shop.restock"}, **fields}
    return httpx.post(f"{served.url}/v1/tasks", json=body, headers=headers)


def test_header_of_a_submission_is_the_creation_context(served: World, exported: Exported):
    register()
    assert post(served, {"traceparent": TRACEPARENT}).status_code == 201
    served.drain()

    execute = exported.one("execute shop.restock")
    assert exported.names == ["execute shop.restock"]
    assert (trace_of(execute), parent_of(execute)) == (TRACE, 0x00F067AA0BA902B7)


@pytest.mark.parametrize(
    "header",
    ["", "00-1-2-3", f"00-{'0' * 32}-00f067aa0ba902b7-01", f"ff-{TRACE}-00f067aa0ba902b7-01"],
)
def test_header_that_cannot_be_read_is_ignored(served: World, exported: Exported, header: str):
    register()
    assert post(served, {"traceparent": header}).status_code == 201
    served.drain()

    assert exported.names == ["submit shop.restock", "execute shop.restock"]


def test_field_wins_over_the_header_and_is_checked(served: World, exported: Exported):
    register()
    other = f"00-{'a' * 32}-{'b' * 16}-01"
    assert post(served, {"traceparent": TRACEPARENT}, trace=other).status_code == 201
    refused = post(served, {}, trace="00-1")
    served.drain()

    assert trace_of(exported.one("execute shop.restock")) == "a" * 32
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "trace")


def test_header_of_a_run_is_the_creation_context_of_its_steps(served: World, exported: Exported):
    register()
    body = {"steps": [{"name": "first", "target": STEP}]}
    headers = {"traceparent": TRACEPARENT}
    answer = httpx.post(f"{served.url}/v1/runs", json=body, headers=headers)
    served.drain()

    execute = exported.one("execute first")
    assert answer.status_code == 201
    assert (trace_of(execute), parent_of(execute)) == (TRACE, 0x00F067AA0BA902B7)


def test_repeated_submission_with_another_trace_is_the_same_task(served: World, exported: Exported):
    register()
    one = {"idempotency_key": "order-17"}
    first = post(served, {}, **one, trace=TRACEPARENT)
    second = post(served, {}, **one, trace=f"00-{'a' * 32}-{'b' * 16}-01")

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]


def test_sampling_follows_the_caller(served: World, exported: Exported):
    register()
    assert post(served, {"traceparent": TRACEPARENT[:-1] + "0"}).status_code == 201
    served.drain()

    assert exported.names == []


def test_nothing_is_stored_while_traces_are_off(served: World):
    register()
    found = post(served, {"traceparent": TRACEPARENT}, trace=TRACEPARENT)
    served.drain()

    stored = served._roles.ports.store.get([found.json()["id"]])[found.json()["id"]]
    assert (stored.spec.trace, stored.current.trace) == (None, None)
    assert seen[0][0] is None


def test_isolated_handler_has_the_span_of_its_attempt(
    w: World, exported: Exported, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(registry, "_handlers", {"shop.apart": apart})
    found = apart.submit(None).wait()

    assert found is not None
    assert int(found.split("-")[2], 16) == id_of(exported.one("execute shop.apart"))

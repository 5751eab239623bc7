"""The spans of Duetime, by the conventions of OpenTelemetry for messaging.

Only this module imports OpenTelemetry; it is imported once traces are on.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from duetime.core.ids import created_at as time_of
from duetime.core.target_names import target_name
from duetime.core.task import Spec, Task
from duetime.core.times import MINUTE, Millis
from duetime.core.trace_context import pack, unpack
from duetime.version import VERSION

HEADER = "traceparent"
PARENT_FOR: Millis = MINUTE  # after its creation an attempt is a child of the creating span
FLUSH_TIMEOUT = 2_000  # milliseconds

_W3C = TraceContextTextMapPropagator()

Attributes = dict[str, str | int]


class Spans:
    """Starts spans with a tracer of `provider`; by default of the process's own provider."""

    def __init__(self, provider: trace.TracerProvider | None = None) -> None:
        self._provider = provider or trace.get_tracer_provider()
        self._tracer = self._provider.get_tracer("duetime", VERSION)

    @contextmanager
    def submit(self, target: Any, task_id: str | None) -> Iterator[str]:
        """Starts the span of a submission. Yields its traceparent."""
        what = destination_of(target)
        attributes = _messaging("publish", "submit", what)
        if task_id is not None:
            attributes["messaging.message.id"] = task_id
        with self._span(f"submit {what}", SpanKind.PRODUCER, attributes) as span:
            yield traceparent_of(span)

    def submitted(self, target: Mapping[str, Any], task_id: str | None) -> str:
        """Returns the packed context of a span for a submission."""
        with self.submit(target, task_id) as traceparent:
            return pack(traceparent)

    def materialised(self, spec: Spec, task_id: str) -> str:
        """Returns the packed context of a span for the creation of a run of a schedule."""
        occurrence = spec.occurrence
        name = (occurrence.name or occurrence.schedule_id) if occurrence else ""
        attributes = _messaging("publish", "materialise", _destination(spec))
        attributes |= {"messaging.message.id": task_id, "faas.trigger": "timer"}
        kind = SpanKind.PRODUCER
        with self._span(f"materialise {name}", kind, attributes, Context()) as span:
            return pack(traceparent_of(span))

    @contextmanager
    def execute(self, task: Task, now: Millis) -> Iterator["AttemptSpan"]:
        """Starts the span of an attempt, which is the current span while its target runs."""
        created = _remote(task.spec.trace)
        before = _remote(task.previous.trace if task.previous else None)
        links = [Link(context) for context in (created, before) if context is not None]
        parent = Context()
        # The id of a step has the time of its run, whose submission has created both.
        since = time_of(task.id) if task.spec.step else task.created_at
        if created is not None and now - since <= PARENT_FOR:
            parent = trace.set_span_in_context(trace.NonRecordingSpan(created))
        name = f"execute {_destination(task.spec)}"
        attributes = _of_task(task)
        with self._span(name, SpanKind.CONSUMER, attributes, parent, links) as span:
            yield AttemptSpan(span)

    @contextmanager
    def request(self, method: str, headers: Any) -> Iterator["AttemptSpan"]:
        """Starts the span of a request of an `http` target, and puts its traceparent into the
        headers. The URL is left out: it may hold a secret."""
        with self._span(method, SpanKind.CLIENT, {"http.request.method": method}) as span:
            if HEADER not in headers:  # else the task has one of its own
                propagate.inject(headers)
            yield AttemptSpan(span)

    def flush(self) -> None:
        flush = getattr(self._provider, "force_flush", None)
        if flush is not None:
            flush(FLUSH_TIMEOUT)

    @contextmanager
    def _span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, str | int],
        context: Context | None = None,
        links: list[Link] | None = None,
    ) -> Iterator[Span]:
        """The message of an exception is not recorded: it may hold a secret."""
        span = self._tracer.start_span(
            name, context, kind=kind, attributes=attributes, links=links or []
        )
        with trace.use_span(
            span, end_on_exit=True, record_exception=False, set_status_on_exception=False
        ):
            try:
                yield span
            except Exception as error:
                _fail(span, type(error).__name__)
                raise


class AttemptSpan:
    """The span of an attempt, or of a request that it sends."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def packed(self) -> str:
        return pack(traceparent_of(self._span))

    def end(self, outcome: str, error: str | None, drift: Millis) -> None:
        self._span.set_attribute("duetime.outcome", outcome)
        self._span.set_attribute("duetime.drift_ms", drift)
        if error is not None:
            _fail(self._span, error)

    def answered(self, status: int) -> None:
        self._span.set_attribute("http.response.status_code", status)
        if status >= 400:
            _fail(self._span, str(status))


def _fail(span: Span, error_type: str) -> None:
    span.set_attribute("error.type", error_type)
    span.set_status(Status(StatusCode.ERROR))


def traceparent_of(span: Span) -> str:
    context = span.get_span_context()
    flags = int(context.trace_flags)
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags:02x}"


def has_provider() -> bool:
    """Whether the application has set a tracer provider. Reading the proxy sets none."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def install_provider(service: str) -> None:
    """Installs a provider that sends spans by OTLP over HTTP, as the environment says where."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    detected = Resource.create().attributes  # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
    named = str(detected.get(SERVICE_NAME, "unknown_service"))
    own = {} if not named.startswith("unknown_service") else {SERVICE_NAME: service}
    provider = TracerProvider(resource=Resource.create(own))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _remote(packed: str | None) -> SpanContext | None:
    if packed is None:
        return None
    context = _W3C.extract({HEADER: unpack(packed)}, Context())
    return trace.get_current_span(context).get_span_context()


def _messaging(kind: str, name: str, destination: str) -> Attributes:
    return {
        "messaging.system": "duetime",
        "messaging.operation.type": kind,
        "messaging.operation.name": name,
        "messaging.destination.name": destination,
    }


def _destination(spec: Spec) -> str:
    """Returns the handler or the host: a path or query may hold a secret, and has too many
    values."""
    if spec.step is not None:
        return spec.step.step
    return destination_of(spec.target)


def destination_of(target: Any) -> str:
    """Returns what names the destination of a target in spans; `unknown` for one that a client
    sends and the API will refuse."""
    try:
        return str(_destination_of(target))
    except (AttributeError, LookupError, TypeError, ValueError):
        return "unknown"


def _destination_of(target: Mapping[str, Any]) -> Any:
    from urllib.parse import urlsplit

    if target.get("type") != "http":
        return target_name(target) or target.get("type")
    url = target.get("url")  # or the secret that holds it
    return (urlsplit(url).hostname if isinstance(url, str) else None) or "http"


def _of_task(task: Task) -> Attributes:
    spec = task.spec
    attributes = _messaging("process", "execute", _destination(spec))
    attributes |= {
        "messaging.message.id": task.id,
        "faas.trigger": "timer" if spec.occurrence else "pubsub",
        "duetime.lane": str(task.queue),
        "duetime.attempt": task.attempt,
        "duetime.due_at": task.due_at,
    }
    if spec.step is not None:
        attributes["messaging.message.conversation_id"] = spec.step.run_id
    return attributes

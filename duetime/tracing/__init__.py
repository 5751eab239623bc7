"""Traces with OpenTelemetry, off unless the environment or the application has configured it.

    submit shop.restock     PRODUCER   by the client; by the API if its caller sent no traceparent
    materialise daily       PRODUCER   by the scanner, for the run of a schedule
    execute shop.restock    CONSUMER   by the executor, one for each attempt
    POST                    CLIENT     by the `http` target, which sends its traceparent

An attempt is linked to the span that created its task and to the attempt before it. It is a child
of the former only if it starts within a minute: a trace that lasts for days is of no use.

While traces are off, `spans()` is None and nothing of OpenTelemetry is imported.
"""

import logging
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.tracing.otel import Spans

log = logging.getLogger(__name__)

API = "opentelemetry.trace"
# Any of these says where spans go, as the OpenTelemetry specification names them.
EXPORTERS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_TRACES_EXPORTER",
)

_spans: "Spans | None" = None


def spans() -> "Spans | None":
    """Returns what starts spans in a process of Duetime; None while traces are off."""
    return _spans


def client_spans() -> "Spans | None":
    """Returns what starts spans in a process that uses the client: traces are on there if the
    application itself has set a tracer provider."""
    if _spans is not None or API not in sys.modules:
        return _spans
    from duetime.tracing.otel import Spans, has_provider

    return Spans() if has_provider() else None


def is_configured(environment: Mapping[str, str]) -> bool:
    """Whether the environment says where spans go."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    given = [environment.get(name, "") for name in EXPORTERS]
    return any(text not in ("", "none") for text in given)


def start(service: str) -> None:
    """Turns traces on, if the environment has configured them or the application has a tracer
    provider of its own. Without the packages of the extra it logs a warning."""
    global _spans  # noqa: PLW0603 - one for the process, as OpenTelemetry's own provider is
    if API not in sys.modules and not is_configured(os.environ):
        return
    try:
        from duetime.tracing.otel import Spans, has_provider, install_provider

        if not has_provider():
            if not is_configured(os.environ):
                return
            install_provider(service)
    except ModuleNotFoundError as error:
        missing = "traces off: %s is not installed: pip install 'duetime[otel]'"
        log.warning(missing, error.name, extra={"step": "trace"})
        return
    _spans = Spans()


def use(spans: "Spans | None") -> None:
    """Sets what starts spans; None turns traces off."""
    global _spans  # noqa: PLW0603
    _spans = spans


def flush() -> None:
    """Sends the spans that have ended. A Lambda function is frozen between two invocations."""
    if _spans is not None:
        _spans.flush()

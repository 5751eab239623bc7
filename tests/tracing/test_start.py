"""When traces are on: by the environment, or by a provider of the application."""

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from duetime import tracing

EXPORTER = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROBE = """
import sys
from duetime import tracing
{first}
tracing.start("duetime-probe")
spans = tracing.spans()
print(spans is not None, "opentelemetry.trace" in sys.modules)
if spans is not None:
    print(spans._provider.resource.attributes["service.name"])
"""


def probe(first: str = "", **environment: str) -> list[str]:
    """Returns what a new process prints: whether traces are on, and whether it has loaded
    OpenTelemetry."""
    command = [sys.executable, "-c", PROBE.format(first=first)]
    kept = {"PYTHONPATH": ":".join(sys.path), **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    return done.stdout.split()


@pytest.fixture(autouse=True)
def off() -> Iterator[None]:
    yield
    tracing.use(None)


def test_process_without_settings_loads_nothing():
    assert probe() == ["False", "False"]


@pytest.mark.parametrize(
    "environment",
    [{"OTEL_TRACES_EXPORTER": "none"}, {EXPORTER: "http://x", "OTEL_SDK_DISABLED": "true"}],
)
def test_environment_that_turns_traces_off_loads_nothing(environment: dict[str, str]):
    assert probe(**environment) == ["False", "False"]


def test_environment_turns_traces_on():
    assert probe(**{EXPORTER: "http://127.0.0.1:9"}) == ["True", "True", "duetime-probe"]


def test_name_of_the_service_can_be_set():
    found = probe(**{EXPORTER: "http://127.0.0.1:9", "OTEL_SERVICE_NAME": "shop"})
    assert found == ["True", "True", "shop"]


def test_provider_of_the_application_is_used():
    first = """
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider(resource=Resource({"service.name": "own"})))
"""
    assert probe(first) == ["True", "True", "own"]


def test_application_that_only_imports_the_api_has_no_traces():
    assert probe("import opentelemetry.trace") == ["False", "True"]


def test_missing_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv(EXPORTER, "http://127.0.0.1:9")
    monkeypatch.delitem(sys.modules, "duetime.tracing.otel", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    with caplog.at_level(logging.WARNING):
        tracing.start("duetime")

    assert tracing.spans() is None
    assert "pip install 'duetime[otel]'" in caplog.text


CLIENT = """
import opentelemetry.trace
from duetime import tracing
print(tracing.client_spans() is not None)
{then}
print(tracing.client_spans() is not None)
"""


@pytest.mark.parametrize(
    ("then", "on"),
    [
        ("", "False"),
        (
            "from opentelemetry.sdk.trace import TracerProvider\n"
            "opentelemetry.trace.set_tracer_provider(TracerProvider())",
            "True",
        ),
    ],
)
def test_client_has_traces_once_its_application_has_a_provider(then: str, on: str):
    """Many libraries import the API of OpenTelemetry, for applications that may not use it."""
    command = [sys.executable, "-c", CLIENT.format(then=then)]
    kept = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    assert done.stdout.split() == ["False", on]

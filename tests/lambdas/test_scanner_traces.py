"""Spans of the scanner function: what it creates for schedules; nothing while traces are off."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from duetime import tracing
from duetime.core.times import MINUTE
from duetime.tracing.otel import Spans
from tests.lambdas.conftest import Deployment, recorded

COLD = """
import sys
import lambdas.scanner as function
function.tracing.start("duetime-scanner")
print([n for n in sys.modules if n.startswith("opentelemetry")], function.tracing.spans())
"""


def test_cold_scanner_loads_nothing_of_opentelemetry_while_traces_are_off():
    kept = {name: text for name, text in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", COLD],
        capture_output=True,
        text=True,
        check=True,
        env=kept | {"AWS_DEFAULT_REGION": "eu-central-1"},
    )

    assert done.stdout.strip() == "[] None"


@pytest.fixture
def exported() -> Iterator[InMemorySpanExporter]:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracing.use(Spans(provider))
    yield exporter
    tracing.use(None)
    provider.shutdown()


def test_scanner_sends_the_span_of_a_run_before_it_answers(
    deployment: Deployment, exported: InMemorySpanExporter
):
    schedule = {
        "name": "hourly",
        "rule": {"type": "rate", "every": 3600},
        "task": {"target": {"type": "http", "url": "https://shop.example.com/"}},
    }
    event = recorded("http_api_post") | {"rawPath": "/v1/schedules", "body": json.dumps(schedule)}
    event["requestContext"]["http"]["path"] = "/v1/schedules"
    status, made = deployment.ask(event | {"isBase64Encoded": False})
    assert status == 201, made
    deployment.clock.advance(59 * MINUTE)
    exported.clear()

    deployment.scan({})

    [span] = exported.get_finished_spans()
    assert (made["name"], span.name) == ("hourly", "materialise hourly")

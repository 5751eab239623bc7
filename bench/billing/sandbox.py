"""One invocation of a function, and what it prints: its log, which is billed by the byte."""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from types import ModuleType
from typing import Any
from unittest.mock import patch

from lambdas import wiring
from lambdas.api import handler as api
from lambdas.executor import handler as executor
from lambdas.relay import handler as relay
from lambdas.scanner import handler as scanner

ROLES: Mapping[str, ModuleType] = {
    "api": api,
    "scanner": scanner,
    "executor": executor,
    "relay": relay,
}

Metric = tuple[str, ...]  # namespace, name, dimensions


class LambdaContext:
    function_name = "duetime-function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:duetime-function"
    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def invoke(role: str, event: Any, adapters: wiring.Adapters) -> tuple[Any, str]:
    """The answer, and the log; as if no other role had been imported, and made the logger of
    the lambdas its own."""
    printed = StringIO()
    writer = ROLES[role].logger.registered_handler
    with (
        patch.object(wiring, "adapters", lambda: adapters),
        patch.object(logging.getLogger("lambdas"), "handlers", [writer]),
        patch.object(writer, "stream", printed),
        redirect_stdout(printed),
    ):
        answer = ROLES[role].handle(event, LambdaContext())
    return answer, printed.getvalue()


def published(lines: str) -> Iterator[Metric]:
    """CloudWatch makes a metric of each name in each set of dimensions."""
    for line in lines.splitlines():
        body = json.loads(line)
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple(f"{name}={body[name]}" for name in names)
                for metric in directive["Metrics"]:
                    yield (directive["Namespace"], metric["Name"], *values)

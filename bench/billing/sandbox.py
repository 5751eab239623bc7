"""One invocation of a function, and its log, which is billed by the byte."""

import json
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers

from duetime.aws import backend
from lambdas import api, executor, relay, scanner

ROLES: Mapping[str, ModuleType] = {
    "api": api,
    "scanner": scanner,
    "executor": executor,
    "relay": relay,
}

HERE, DEPLOYED = str(Path(__file__).resolve().parents[2]), "/var/task"  # where the code is

Metric = tuple[str, ...]  # namespace, name, dimensions


class LambdaContext:
    function_name = "duetime-function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:duetime-function"
    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def invoke(role: str, event: Any, adapters: backend.Adapters) -> tuple[Any, str]:
    """Returns the answer and the log, with the paths that tracebacks have on Lambda.

    Importing a function sets up the package's logger for it. Here four functions share a process,
    so each invocation sets the logger up again."""
    printed = StringIO()
    logger = ROLES[role].logger
    copy_config_to_registered_loggers(logger, include={"duetime"})
    with (
        patch.object(backend, "adapters", lambda: adapters),
        patch.object(logger.registered_handler, "stream", printed),
        redirect_stdout(printed),
    ):
        answer = ROLES[role].handle(event, LambdaContext())
    return answer, printed.getvalue().replace(HERE, DEPLOYED)


def published_metrics(lines: str) -> Iterator[Metric]:
    """Returns the metrics in a log: one for each name in each set of dimensions."""
    for line in lines.splitlines():
        body = json.loads(line)
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple(f"{name}={body[name]}" for name in names)
                for metric in directive["Metrics"]:
                    yield (directive["Namespace"], metric["Name"], *values)

"""A deployment on moto under a meter: the four functions, and the event sources before them.

Each function has adapters of its own, as in a sandbox of its own: what the API has just written
is not in the memory of an executor. The clock is stepped, for the queues too.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from math import ceil
from types import ModuleType
from typing import Any
from unittest.mock import patch

from bench.billing.meter import Meter
from lambdas import wiring
from lambdas.api import handler as api
from lambdas.aws.events import message_of_record
from lambdas.core.lanes import Lane
from lambdas.core.times import Millis
from lambdas.executor import handler as executor
from lambdas.relay import handler as relay
from lambdas.scanner import handler as scanner
from tests.factories import SteppedClock

ROLES: Mapping[str, ModuleType] = {
    "api": api,
    "scanner": scanner,
    "executor": executor,
    "relay": relay,
}
MESSAGES = 10  # that the event source of a lane hands over at once
RECORDS = 100  # that the event source of the stream does
METERED = 512 * 1024  # an HTTP API request is billed once for each of these

Metric = tuple[str, ...]  # namespace, name, dimensions


class LambdaContext:
    function_name = "duetime-function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:duetime-function"
    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


@dataclass(kw_only=True)
class Deployment:
    meter: Meter
    clock: SteppedClock
    adapters: Mapping[str, wiring.Adapters]  # by role
    queues: Mapping[Lane, str]
    sqs: Any  # for the event sources, which are no client of ours: counted here
    changes: Callable[[], list[Any]]  # what the stream has brought since it was last asked
    metrics: set[Metric] = field(default_factory=set)  # every one that was published

    def submit(self, *tasks: Mapping[str, Any]) -> None:
        """One request; several tasks are a batch."""
        path, body = ("/v1/tasks", json.dumps(tasks[0]))
        if len(tasks) > 1:
            path, body = ("/v1/tasks/batch", json.dumps({"tasks": tasks}))
        event = {
            "requestContext": {"http": {"method": "POST"}},
            "rawPath": path,
            "headers": {"content-type": "application/json"},
            "body": body,
        }
        answer = self._invoke("api", event)
        if answer["statusCode"] not in (200, 201):
            raise RuntimeError(answer["body"])
        self.meter.add(api=ceil(len(body) / METERED))

    def tick(self) -> Mapping[str, Any]:
        report: Mapping[str, Any] = self._invoke("scanner", {"detail-type": "Scheduled Event"})
        return report

    def deliver(self) -> int:
        """Whatever stands ready in the lanes; returns how many messages were handed over."""
        return sum(self._deliver(url) for url in self.queues.values())

    def relay(self) -> None:
        """Lambda reads a stream for nothing."""
        records = self.changes()
        for start in range(0, len(records), RECORDS):
            answer = self._invoke("relay", {"Records": records[start : start + RECORDS]})
            if answer["batchItemFailures"]:
                raise RuntimeError("the relay refuses a record")

    def _deliver(self, url: str) -> int:
        delivered = 0
        while messages := self._received(url):
            delivered += len(messages)
            self._wait(messages)
            answer = self._invoke("executor", {"Records": [_record(m) for m in messages]})
            kept = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
            self._delete(url, [m for m in messages if m["MessageId"] not in kept])
        return delivered

    def _received(self, url: str) -> list[Any]:
        """A poll that finds nothing is no task's: an idle month counts those."""
        answer = self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=MESSAGES, AttributeNames=["All"]
        )
        messages: list[Any] = answer.get("Messages", [])
        if messages:
            self.meter.add(**{"sqs": 1, "source.ReceiveMessage": 1})
        return messages

    def _wait(self, messages: list[Any]) -> None:
        """SQS counts whole seconds, so a message comes early; the executor waits out the rest,
        which is billed. Here its clock is stepped on instead."""
        due = max(_record_due(message) for message in messages)
        early = max(due - self.clock.now(), 0)
        self.clock.advance(early)
        self.meter.add(waited=early)

    def _delete(self, url: str, messages: list[Any]) -> None:
        if not messages:
            return
        entries = [
            {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
            for number, message in enumerate(messages)
        ]
        self.sqs.delete_message_batch(QueueUrl=url, Entries=entries)
        self.meter.add(**{"sqs": 1, "source.DeleteMessageBatch": 1})

    def _invoke(self, role: str, event: Any) -> Any:
        """What the function prints is its log, which is billed by its bytes."""
        with self._printed(role) as printed:
            answer = ROLES[role].handle(event, LambdaContext())
        lines = printed.getvalue()
        self.metrics |= set(_published(lines))
        self.meter.add(**{f"lambda.{role}": 1, "logs": len(lines.encode())})
        return answer

    @contextmanager
    def _printed(self, role: str) -> Iterator[StringIO]:
        """As if no other role had been imported, and made the lambdas' logger its own."""
        printed = StringIO()
        writer = ROLES[role].logger.registered_handler
        with (
            patch.object(wiring, "adapters", lambda: self.adapters[role]),
            patch.object(logging.getLogger("lambdas"), "handlers", [writer]),
            patch.object(writer, "stream", printed),
            redirect_stdout(printed),
        ):
            yield printed


def _record(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
    }


def _record_due(message: Mapping[str, Any]) -> Millis:
    return message_of_record(_record(message)).delivery.due_at


def _published(lines: str) -> Iterator[Metric]:
    """CloudWatch makes a metric of each name in each set of dimensions."""
    for line in lines.splitlines():
        body = json.loads(line)
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in directive["Dimensions"]:
                values = tuple(f"{name}={body[name]}" for name in names)
                for metric in directive["Metrics"]:
                    yield (directive["Namespace"], metric["Name"], *values)

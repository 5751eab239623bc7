"""A deployment on moto under a meter: the four functions, and the event sources before them.

Each function has adapters of its own, as in a sandbox of its own: what the API has just written
is not in the memory of an executor. The clock is stepped, for the queues too.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from bench.billing.meter import Meter
from bench.billing.sandbox import Metric, invoke, published
from lambdas import wiring
from lambdas.aws import schema
from lambdas.aws.events import message_of_record
from lambdas.core.lanes import Lane
from lambdas.core.times import Millis
from tests.factories import SteppedClock

MESSAGES = 10  # that the event source of a lane hands over at once
RECORDS = 100  # that the event source of the stream does
METERED = 512 * 1024  # an HTTP API request is billed once for each of these


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
        if len(tasks) > 1:
            self._post("/v1/tasks/batch", {"tasks": tasks})
        else:
            self._post("/v1/tasks", tasks[0])

    def schedule(self, schedule: Mapping[str, Any]) -> None:
        self._post("/v1/schedules", schedule)

    def _post(self, path: str, content: Mapping[str, Any]) -> None:
        body = json.dumps(content)
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
        """Lambda reads a stream for nothing, and what its filter keeps out invokes nobody."""
        records = [
            r for r in self.changes() if r["dynamodb"]["Keys"][schema.SK]["S"] == schema.TASK
        ]
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
        answer, lines = invoke(role, event, self.adapters[role])
        self.metrics |= set(published(lines))
        self.meter.add(**{f"lambda.{role}": 1, "logs": len(lines.encode())})
        return answer


def _record(message: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
    }


def _record_due(message: Mapping[str, Any]) -> Millis:
    return message_of_record(_record(message)).delivery.due_at

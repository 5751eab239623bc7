"""A metered deployment on moto: the four functions and their event sources.

Each function has its own adapters, as in its own sandbox: an executor does not remember what the
API has just written. The clock is stepped, also for the queues.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil
from typing import Any
from unittest.mock import patch

from bench.billing.meter import Meter
from bench.billing.sandbox import Metric, invoke, published_metrics
from duetime.aws import backend, schema
from duetime.aws.event_records import message_of_record
from duetime.core.lanes import Lane
from duetime.core.wakes import Wake
from lambdas.executor import DEAD_LETTER_IDS
from tests.factories import SteppedClock

BY_EXPIRY = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
REQUEST_SIZE = 512 * 1024  # an HTTP API bills one request for each of these

Message = Mapping[str, Any]
Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Batching:
    """The sizes of batches."""

    request: int  # tasks submitted in one request
    messages: int  # in one invocation by the event source of a lane
    records: int | None  # in one invocation by the stream; None: those of one task


FULL = Batching(request=100, messages=10, records=100)
LONE = Batching(request=1, messages=1, records=None)


@dataclass(kw_only=True)
class Deployment:
    meter: Meter
    clock: SteppedClock
    adapters: dict[str, backend.Adapters]  # by role
    cold: Callable[[], backend.Adapters]  # those of a new sandbox
    queues: Mapping[Lane, str]
    table: str
    dynamodb: Any  # for DynamoDB's own removals, which are free
    sqs: Any  # for the event sources: the deployment counts their requests
    changes: Callable[[], list[Any]]  # returns the new records of the stream
    batching: Batching = FULL
    metrics: set[Metric] = field(default_factory=set)  # that were published

    def submit(self, body: Mapping[str, Any], tasks: int) -> None:
        for start in range(0, tasks, self.batching.request):
            self.request(*[body] * min(tasks - start, self.batching.request))

    def request(self, *tasks: Mapping[str, Any]) -> None:
        """Makes one request; for several tasks, a batch."""
        if len(tasks) > 1:
            self._post("/v1/tasks/batch", {"tasks": tasks})
        else:
            self._post("/v1/tasks", tasks[0])

    def schedule(self, schedule: Mapping[str, Any]) -> None:
        self._post("/v1/schedules", schedule)

    def start_run(self, steps: Sequence[Mapping[str, Any]]) -> None:
        self._post("/v1/runs", {"steps": steps})

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
        self.meter.add(api=ceil(len(body) / REQUEST_SIZE))

    def tick(self, wakes: Sequence[Wake] | None = None) -> Mapping[str, Any]:
        """Runs a tick. `wakes`, if given, is an older state of the index that the tick reads."""
        store = self.adapters["scanner"].ports.store
        seen = store.few_wakes if wakes is None else (lambda _: wakes)
        with patch.object(store, "few_wakes", seen):
            report: Mapping[str, Any] = self._invoke("scanner", {"detail-type": "Scheduled Event"})
        return report

    def deliver(self, *, new_sandboxes: bool = False) -> int:
        """Delivers every visible message and returns how many there were. With `new_sandboxes`,
        each batch goes to a new executor without memory."""
        return sum(self._deliver(url, new_sandboxes) for url in self.queues.values())

    def relay(self, **by: Any) -> None:
        """Relays the new records of tasks. Reading a stream is free for Lambda, and records that
        its filter drops cause no invocation."""
        records = [
            {**record, **by}
            for record in self.changes()
            if record["dynamodb"]["Keys"][schema.SK]["S"] == schema.TASK
        ]
        for record in records:  # as Lambda passes it
            at = record["dynamodb"]["ApproximateCreationDateTime"]
            record["dynamodb"]["ApproximateCreationDateTime"] = at.timestamp()
        for batch in self._batches_of_records(records):
            answer = self._invoke("relay", {"Records": batch})
            if answer["batchItemFailures"]:
                raise RuntimeError("the relay refused a record")

    def expire(self) -> None:
        """Removes the tasks whose retention has ended, as DynamoDB does at no charge. The relay
        then deletes their other rows."""
        self.relay()
        for item in self.meter.items():
            if item[schema.SK]["S"] == schema.TASK and schema.REMOVE_AFTER in item:
                key = {name: item[name] for name in (schema.PK, schema.SK)}
                self.dynamodb.delete_item(TableName=self.table, Key=key)
                self.meter.forget(item)
        self.relay(userIdentity=BY_EXPIRY)

    def _batches_of_records(self, records: Sequence[Record]) -> Iterator[list[Record]]:
        size = self.batching.records
        if size is not None:
            yield from (list(records[n : n + size]) for n in range(0, len(records), size))
            return
        by_task = sorted(records, key=_pk)  # stable: those of one task stay in order
        yield from (list(batch) for _, batch in groupby(by_task, _pk))

    def _deliver(self, url: str, new_sandboxes: bool) -> int:
        """Delivers in rounds: the visible messages go to executors in parallel, and each executor
        waits for the due time of its own batch."""
        delivered = 0
        while batches := list(self._batches(url)):
            delivered += sum(map(len, batches))
            self._wait(batches)
            for messages in batches:
                if new_sandboxes:
                    self.adapters["executor"] = self.cold()
                    DEAD_LETTER_IDS.clear()
                answer = self._invoke("executor", {"Records": [_record(m) for m in messages]})
                kept = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
                self._delete(url, [m for m in messages if m["MessageId"] not in kept])
        return delivered

    def _batches(self, url: str) -> Iterator[list[Message]]:
        """Receives batches. Empty polls are not counted here, but in the idle month."""
        while True:
            answer = self.sqs.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=self.batching.messages,
                AttributeNames=["All"],
            )
            messages: list[Message] = answer.get("Messages", [])
            if not messages:
                return
            self.meter.add(**{"sqs": 1, "source.ReceiveMessage": 1})
            yield messages

    def _wait(self, batches: Sequence[Sequence[Message]]) -> None:
        """Steps the clock to the due times. SQS delays by whole seconds, so a message comes early;
        its executor waits for the rest, which is billed."""
        now = self.clock.now()
        early = [max(max(map(_due_at, messages)) - now, 0) for messages in batches]
        self.meter.add(waited=sum(early))
        self.clock.advance(max(early))

    def _delete(self, url: str, messages: Sequence[Message]) -> None:
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
        self.metrics |= set(published_metrics(lines))
        self.meter.add(**{f"lambda.{role}": 1, "logs": len(lines.encode())})
        return answer


def _pk(record: Record) -> str:
    key: str = record["dynamodb"]["Keys"][schema.PK]["S"]
    return key


def _record(message: Message) -> Record:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
    }


def _due_at(message: Message) -> int:
    return message_of_record(_record(message)).delivery.due_at

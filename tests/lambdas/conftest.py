"""A deployment on moto: the four handlers, wired by environment variables as in the cloud."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from duetime.local.moto_backend import fair_moto
from lambdas import registry, wiring
from lambdas.api import handler as api
from lambdas.aws import clients, schema
from lambdas.aws.change_feed import stream_of
from lambdas.aws.resources import ensure_resources
from lambdas.core.lanes import Lane
from lambdas.core.times import Millis
from lambdas.executor import handler as executor
from lambdas.executor.context import Context
from lambdas.relay import handler as relay
from lambdas.scanner import handler as scanner
from tests.backends import a_table
from tests.factories import SteppedClock
from tests.world import stepped_sqs

EVENTS = Path(__file__).parents[1] / "events"
ONCE_PER_COLD_START = (
    *(wiring.settings, wiring.dynamodb, wiring.sqs, wiring.adapters, wiring.rows_beside),
    *(api.api, scanner.scanner, executor.targets),
)


def recorded(name: str) -> Any:
    return json.loads((EVENTS / f"{name}.json").read_text())


class LambdaContext:
    function_name = "duetime-function"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:duetime-function"
    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def __init__(self, remaining: int = 900_000) -> None:
        self._remaining = remaining

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining


@dataclass(frozen=True, kw_only=True)
class Aws:
    """Clients, made once: making them takes far longer than what they are asked here."""

    dynamodb: Any
    sqs: Any
    streams: Any


class Deployment:
    """Events in, answers out; and what stands in the queues and the stream between them."""

    def __init__(self, aws: Aws, table: str, urls: dict[Lane, str], clock: SteppedClock) -> None:
        self.clock = clock
        self.table = table
        self.urls = urls
        self.table = table
        self._dynamodb = aws.dynamodb
        self._sqs = aws.sqs
        self._streams = aws.streams
        self._stream = stream_of(aws.dynamodb, table)

    def ask(self, event: Any) -> tuple[int, Any]:
        answer = api.handle(event, LambdaContext())
        return answer["statusCode"], json.loads(answer["body"])

    def read(self, task_id: str) -> Any:
        event = recorded("http_api_get")
        event |= {"rawPath": f"/v1/tasks/{task_id}", "rawQueryString": ""}
        return self.ask(event)[1]

    def scan(self, event: Any, remaining: int = 60_000) -> Any:
        return scanner.handle(event, LambdaContext(remaining))

    def execute(self, records: list[Any], remaining: int = 900_000) -> list[str]:
        """The ids of the messages that the function wants SQS to keep."""
        answer = executor.handle({"Records": records}, LambdaContext(remaining))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def relay(self, records: list[Any]) -> list[str]:
        answer = relay.handle({"Records": records}, LambdaContext())
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def sqs_records(self, lane: Lane = Lane.MEDIUM) -> list[Any]:
        """What the event source of a lane would hand to its function."""
        answer = self._sqs.receive_message(
            QueueUrl=self.urls[lane], MaxNumberOfMessages=10, AttributeNames=["All"]
        )
        return [
            recorded("sqs_record")
            | {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSourceARN": queue_arn(self.urls[lane]),
            }
            for message in answer.get("Messages", [])
        ]

    def dead_letters(self, lane: Lane = Lane.MEDIUM) -> list[Any]:
        answer = self._sqs.receive_message(QueueUrl=f"{self.urls[lane]}-dlq")
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    def move(self, source: Lane, to: Lane) -> None:
        """As a redrive of the SQS console to a queue of one's choice does."""
        for record in self.sqs_records(source):
            self._sqs.send_message(QueueUrl=self.urls[to], MessageBody=record["body"])
            handle = record["receiptHandle"]
            self._sqs.delete_message(QueueUrl=self.urls[source], ReceiptHandle=handle)

    def redrive(self, after: Millis, lane: Lane = Lane.MEDIUM, copies: int = 1) -> list[Any]:
        """What the function gets once the console has moved the dead letters back: the same
        bodies under new ids, taken in `after` the present."""
        dlq = f"{self.urls[lane]}-dlq"
        answer = self._sqs.receive_message(QueueUrl=dlq, MaxNumberOfMessages=10)
        for letter in answer["Messages"]:
            for _ in range(copies):
                self._sqs.send_message(QueueUrl=self.urls[lane], MessageBody=letter["Body"])
            self._sqs.delete_message(QueueUrl=dlq, ReceiptHandle=letter["ReceiptHandle"])
        records = self.sqs_records(lane)
        for record in records:
            record["attributes"]["SentTimestamp"] = str(self.clock.now() + after)
        return records

    def rows(self, task_id: str) -> dict[str, Any]:
        """All that the table holds of a task, by sort key."""
        answer = self._dynamodb.query(
            TableName=self.table,
            KeyConditionExpression=f"{schema.PK} = :task",
            ExpressionAttributeValues={":task": {"S": schema.task_pk(task_id)}},
        )
        return {item[schema.SK]["S"]: item for item in answer["Items"]}

    def expire(self, task_id: str) -> Any:
        """The record of the removal that DynamoDB makes when a task's retention is over."""
        item = self.rows(task_id)[schema.TASK]
        key = {name: item[name] for name in (schema.PK, schema.SK)}
        self._dynamodb.delete_item(TableName=self.table, Key=key)
        record = self.stream_records()[-1]
        return record | {
            "userIdentity": recorded("dynamodb_removals")["Records"][0]["userIdentity"]
        }

    def stream_records(self) -> list[Any]:
        description = self._streams.describe_stream(StreamArn=self._stream)["StreamDescription"]
        [shard] = description["Shards"]
        iterator = self._streams.get_shard_iterator(
            StreamArn=self._stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = self._streams.get_records(ShardIterator=iterator)["Records"]
        return deepcopy(records)


@pytest.fixture(scope="session")
def aws() -> Iterator[Aws]:
    with fair_moto():
        yield Aws(dynamodb=clients.dynamodb(), sqs=clients.sqs(), streams=clients.streams())


@pytest.fixture
def deployment(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setattr(clients, "dynamodb", lambda endpoint_url: aws.dynamodb)
    monkeypatch.setattr(clients, "sqs", lambda endpoint_url: aws.sqs)
    clock = SteppedClock(wiring.SystemClock().now())
    with a_table(aws.dynamodb) as table, stepped_sqs(clock):
        prefix = f"duetime-{uuid4().hex[:8]}"
        urls = ensure_resources(aws.dynamodb, aws.sqs, table=table, prefix=prefix)
        monkeypatch.setenv("DUETIME_TABLE", table)
        for lane, url in urls.items():
            monkeypatch.setenv(f"DUETIME_QUEUE_{lane.upper()}", url)
        monkeypatch.setenv("DUETIME_SHARDS", "2")
        monkeypatch.setattr(wiring, "SystemClock", lambda: clock)
        monkeypatch.setattr(registry, "_handlers", {"handlers.echo": echo})
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()
        yield Deployment(aws, table, urls, clock)
        wiring.adapters().close()
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()


def queue_arn(url: str) -> str:
    return f"arn:aws:sqs:us-east-1:123456789012:{url.rpartition('/')[2]}"


def echo(payload: Any, ctx: Context) -> Any:
    if payload == "break":
        raise ConnectionError("broken")
    return payload

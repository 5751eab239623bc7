"""A deployment on moto: the four functions, configured by environment variables as on AWS."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from duetime.aws import backend, clients, schema
from duetime.aws.provision import ensure_resources
from duetime.aws.settings import queue_setting
from duetime.aws.stream_reader import stream_arn
from duetime.core.lanes import Lane, Queue
from duetime.core.times import SECOND, Millis
from duetime.handlers import registry
from duetime.handlers.context import Context
from duetime.local.moto_backend import fair_moto
from lambdas import api, executor, relay, scanner, websocket
from tests.backends import a_table
from tests.factories import SteppedClock, a_handler
from tests.world import stepped_sqs

EVENTS = Path(__file__).parents[1] / "events"
ONCE_PER_COLD_START = (
    *(backend.settings, backend.dynamodb, backend.sqs, backend.adapters, backend.removed_tasks),
    *(api.api, scanner.scanner, executor.targets, executor.children, backend.secrets),
    *(backend.quota_store, backend.stored_counts, backend.stats_store),
    *(backend.live_store, backend.connection_posts, backend.post_calls, backend.functions),
    *(backend.clock, relay.live_feed, websocket.connections, websocket.pushing),
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
    """Clients, made once: making them takes far longer than the calls here."""

    dynamodb: Any
    sqs: Any
    streams: Any


class Deployment:
    """Invokes the functions, and makes their events from the queues and the stream."""

    def __init__(self, aws: Aws, table: str, urls: dict[Queue, str], clock: SteppedClock) -> None:
        self.clock = clock
        self.table = table
        self.urls = urls
        self.table = table
        self._dynamodb = aws.dynamodb
        self._sqs = aws.sqs
        self._streams = aws.streams
        self._stream = stream_arn(aws.dynamodb, table)

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
        """Returns the ids of the messages that SQS must keep."""
        answer = executor.handle({"Records": records}, LambdaContext(remaining))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def relay(self, records: list[Any]) -> list[str]:
        answer = relay.handle({"Records": records}, LambdaContext())
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def sqs_records(self, lane: Lane = Lane.MEDIUM) -> list[Any]:
        """Returns the records that the event source of a lane would send to its function."""
        answer = self._sqs.receive_message(
            QueueUrl=self.urls[Queue(lane)], MaxNumberOfMessages=10, AttributeNames=["All"]
        )
        return [
            recorded("sqs_record")
            | {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSourceARN": queue_arn(self.urls[Queue(lane)]),
            }
            for message in answer.get("Messages", [])
        ]

    def dead_letters(self, lane: Lane = Lane.MEDIUM) -> list[Any]:
        answer = self._sqs.receive_message(QueueUrl=f"{self.urls[Queue(lane)]}-dlq")
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    def move(self, source: Lane, to: Lane) -> None:
        """Does what a redrive in the SQS console to a chosen queue does."""
        for record in self.sqs_records(source):
            self._sqs.send_message(QueueUrl=self.urls[Queue(to)], MessageBody=record["body"])
            handle = record["receiptHandle"]
            self._sqs.delete_message(QueueUrl=self.urls[Queue(source)], ReceiptHandle=handle)

    def redrive(self, after: Millis, lane: Lane = Lane.MEDIUM, copies: int = 1) -> list[Any]:
        """Returns the records after the console has moved the dead letters back: the same bodies
        with new ids, enqueued `after` now."""
        dlq = f"{self.urls[Queue(lane)]}-dlq"
        answer = self._sqs.receive_message(QueueUrl=dlq, MaxNumberOfMessages=10)
        for letter in answer["Messages"]:
            for _ in range(copies):
                self._sqs.send_message(QueueUrl=self.urls[Queue(lane)], MessageBody=letter["Body"])
            self._sqs.delete_message(QueueUrl=dlq, ReceiptHandle=letter["ReceiptHandle"])
        records = self.sqs_records(lane)
        for record in records:
            record["attributes"]["SentTimestamp"] = str(self.clock.now() + after)
        return records

    def rows(self, task_id: str) -> dict[str, Any]:
        """Returns all rows of a task, by sort key."""
        return self.rows_of(schema.task_pk(task_id))

    def rows_of(self, pk: str) -> dict[str, Any]:
        answer = self._dynamodb.query(
            TableName=self.table,
            KeyConditionExpression=f"{schema.PK} = :owner",
            ExpressionAttributeValues={":owner": {"S": pk}},
        )
        return {item[schema.SK]["S"]: item for item in answer["Items"]}

    def unique_key(self, key: str) -> str | None:
        """Returns the id of the task that a unique key names."""
        at = {schema.PK: {"S": schema.unique_pk("default", key)}, schema.SK: {"S": schema.UNIQUE}}
        row = self._dynamodb.get_item(TableName=self.table, Key=at).get("Item")
        return row[schema.TASK_ID]["S"] if row else None

    def expire(self, task_id: str) -> Any:
        """Returns the stream record of the deletion at the end of a task's retention."""
        return self.expire_row(schema.task_pk(task_id), schema.TASK)

    def expire_row(self, pk: str, sk: str) -> Any:
        key = {schema.PK: {"S": pk}, schema.SK: {"S": sk}}
        self._dynamodb.delete_item(TableName=self.table, Key=key)
        record = self.removals()[-1]
        return record | {
            "userIdentity": recorded("dynamodb_removals")["Records"][0]["userIdentity"]
        }

    def removals(self) -> list[Any]:
        """Returns the stream records of deletions, with the time as Lambda passes it."""
        records = [r for r in self.stream_records() if r["eventName"] == "REMOVE"]
        for record in records:
            record["dynamodb"]["ApproximateCreationDateTime"] = self.clock.now() / SECOND
        return records

    def stream_records(self) -> list[Any]:
        description = self._streams.describe_stream(StreamArn=self._stream)["StreamDescription"]
        [shard] = description["Shards"]
        iterator = self._streams.get_shard_iterator(
            StreamArn=self._stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = self._streams.get_records(ShardIterator=iterator)["Records"]
        return deepcopy(records)


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        yield Aws(dynamodb=clients.dynamodb(), sqs=clients.sqs(), streams=clients.streams())


@pytest.fixture
def deployment(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    monkeypatch.setattr(clients, "dynamodb", lambda endpoint_url: aws.dynamodb)
    monkeypatch.setattr(clients, "sqs", lambda endpoint_url: aws.sqs)
    clock = SteppedClock(backend.SystemClock().now())
    with a_table(aws.dynamodb) as table, stepped_sqs(clock):
        prefix = f"duetime-{uuid4().hex[:8]}"
        urls = ensure_resources(aws.dynamodb, aws.sqs, table=table, prefix=prefix)
        monkeypatch.setenv("DUETIME_TABLE", table)
        monkeypatch.setenv("DUETIME_QUEUES", queue_setting(urls))
        monkeypatch.setenv("DUETIME_SHARDS", "2")
        monkeypatch.setattr(backend, "SystemClock", lambda: clock)
        monkeypatch.setattr(registry, "_handlers", {"handlers.echo": a_handler(echo)})
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()
        yield Deployment(aws, table, urls, clock)
        backend.adapters().close()
        for made_once in ONCE_PER_COLD_START:
            made_once.cache_clear()


def queue_arn(url: str) -> str:
    return f"arn:aws:sqs:us-east-1:123456789012:{url.rpartition('/')[2]}"


def echo(payload: Any, ctx: Context) -> Any:
    if payload == "break":
        raise ConnectionError("broken")
    return payload

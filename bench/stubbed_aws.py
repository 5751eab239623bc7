"""DynamoDB and SQS without a network: botocore does all of its own work, but gets a prepared answer
of the right size instead of sending a request. Covers the requests of a scanner's tick.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.handlers import BUILTIN_HANDLERS

from duetime.aws import schema
from duetime.aws.listing import listing_bucket
from duetime.aws.task_items import encode_task
from duetime.core.lanes import Lane
from duetime.core.steps.claim import claim
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake
from duetime.engine.clock import SystemRandom

QUEUES = "https://sqs.eu-central-1.amazonaws.com/123456789012"
SHARDS = 16
TASK_KEY = re.compile(rb'"task#([0-9A-Z]+)"')
INDEXED = (schema.PK, schema.SK, schema.WAKE_BUCKET, schema.WAKE_KEY)
EMPTY = b"{}"
NO_MESSAGES = {
    f"ApproximateNumberOfMessages{which}": "0" for which in ("", "Delayed", "NotVisible")
}

Row = dict[str, dict[str, str]]
Call = tuple[str, dict[str, Any]]  # operation, parameters


def pretend_deployment() -> None:
    """Sets the environment variables of a function."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "AWS_SESSION_TOKEN": "x" * 800,  # a function has one, and every request carries it
        "AWS_DEFAULT_REGION": "eu-central-1",
        "DUETIME_TABLE": "duetime",
        "DUETIME_QUEUES": json.dumps({lane: f"{QUEUES}/{lane}" for lane in Lane}),
    }


class StubbedAws:
    """Replaces the network of every client that is made after it."""

    def __init__(self, since: Millis) -> None:
        self._config = {schema.SHARDS: {"N": str(SHARDS)}, schema.SINCE: {"N": str(since)}}
        # The wake index, by bucket and then by task id.
        self._wakes: defaultdict[str, dict[bytes, Row]] = defaultdict(dict)
        self._buckets: dict[bytes, str] = {}
        self._claimed: dict[bytes, bytes] = {}  # the answer to a claim, by task id
        self._answers: dict[str, Callable[[bytes], bytes]] = {
            "UpdateItem": self._update,
            "Query": self._query,
            "Scan": self._scan,
            "GetItem": self._get,
            "PutItem": lambda _: EMPTY,
            "SendMessageBatch": _send,
            "GetQueueAttributes": lambda _: _json({"Attributes": NO_MESSAGES}),
        }
        self.recorded: list[Call] | None = None
        BUILTIN_HANDLERS.append(("provide-client-params", self._record))
        BUILTIN_HANDLERS.append(("before-send", self._answer))

    def hold(self, tasks: Sequence[Task], rules: WakePolicy, now: Millis) -> None:
        """Adds tasks that wait for a tick, and their items after the claim."""
        chance = SystemRandom()
        for task in tasks:
            assert task.wake is not None
            name, bucket = task.id.encode(), task.wake.bucket
            self._wakes[bucket][name] = _index_row(task.wake)
            self._buckets[name] = bucket
            change = claim(rules, task.wake, now=now, draw=chance.draw())
            item, _ = encode_task(change.applied_to(task), listing_bucket(task, SHARDS))
            self._claimed[name] = _json({"Attributes": item})

    def _record(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if self.recorded is not None:
            self.recorded.append((model.name, dict(params)))

    def _answer(self, event_name: str, request: Any, **_: Any) -> AWSResponse:
        body = self._answers[event_name.rpartition(".")[2]](request.body)
        headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-requestid": "R" * 52}
        return AWSResponse(request.url, 200, headers, Raw(body))

    def _update(self, body: bytes) -> bytes:
        found = TASK_KEY.search(body)
        assert found is not None, "a tick updates nothing but tasks"
        self._wakes[self._buckets[found[1]]].pop(found[1], None)
        return self._claimed[found[1]]

    def _query(self, body: bytes) -> bytes:
        asked = json.loads(body)
        bucket, *kind = (value["S"] for value in asked["ExpressionAttributeValues"].values())
        rows = self._wakes[bucket].values()
        return _page([row for row in rows if _key(row).startswith(tuple(kind) or "")], asked)

    def _scan(self, body: bytes) -> bytes:
        rows = [row for bucket in self._wakes.values() for row in bucket.values()]
        return _page(rows, json.loads(body))

    def _get(self, body: bytes) -> bytes:
        return _json({"Item": self._config}) if b'"config"' in body else EMPTY


class Raw(BytesIO):
    """A body as urllib3 returns it."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()


def _page(rows: list[Row], asked: dict[str, Any]) -> bytes:
    """Returns the page after ExclusiveStartKey, with the projected attributes of each row."""
    if "ExclusiveStartKey" in asked:
        rows = [row for row in rows if _key(row) > _key(asked["ExclusiveStartKey"])]
    page = sorted(rows, key=_key)[: asked.get("Limit")]
    names = asked.get("ProjectionExpression", ", ".join(INDEXED)).split(", ")
    items = [{name: row[name] for name in names} for row in page]
    answer: dict[str, Any] = {"Items": items, "Count": len(page), "ScannedCount": len(page)}
    if len(page) < len(rows):
        answer["LastEvaluatedKey"] = page[-1]
    return _json(answer)


def _key(row: Row) -> str:
    return row[schema.WAKE_KEY]["S"]


def _index_row(wake: Wake) -> Row:
    values = (schema.task_pk(wake.task_id), schema.TASK, wake.bucket, wake.key)
    return {name: {"S": value} for name, value in zip(INDEXED, values, strict=True)}


def _send(body: bytes) -> bytes:
    sent = [
        {"Id": entry["Id"], "MessageId": "0" * 36, "MD5OfMessageBody": "0" * 32}
        for entry in json.loads(body)["Entries"]
    ]
    return _json({"Successful": sent})


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()

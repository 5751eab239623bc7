"""Counts what AWS bills for the calls of boto3 clients, from outside: by their events.

The items are remembered as they are written, since an answer does not tell what stood there
before. So the meter must have seen every write from an empty table on; for an operation that it
has no rule for it raises, rather than count wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from threading import Lock
from typing import Any

from bench.billing.units import PARTITIONS, TABLE, Item, read_units, size_of, write_units
from lambdas.aws import schema

CHUNK = 64 * 1024  # an SQS request is billed once for each of these
SQS = (
    *("SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"),
    *("ChangeMessageVisibility", "ChangeMessageVisibilityBatch", "GetQueueAttributes"),
)
FAILED_CONDITION = "ConditionalCheckFailedException"

Params = Mapping[str, Any]
Answer = Mapping[str, Any]
Counts = Counter[str]


class Meter:
    """`counts` has `write.<place>` and `read` in units, `sqs` in requests, and `call.<name>`."""

    def __init__(self) -> None:
        self.counts: Counts = Counter()
        self._items: dict[tuple[str, str], Item] = {}
        self._turn = Lock()  # calls are made side by side
        self._rules: Mapping[str, Callable[[Params, Answer], Mapping[str, float]]] = {
            "PutItem": self._put,
            "UpdateItem": self._update,
            "BatchWriteItem": self._batch_delete,
            "GetItem": self._get,
            "BatchGetItem": self._batch_get,
            "Query": self._query,
            "Scan": self._scan,
            **dict.fromkeys(SQS, _request),
        }

    def attach(self, client: Any) -> None:
        service = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register(f"before-parameter-build.{service}", self._asked)
        client.meta.events.register(f"after-call.{service}", self._answered)

    def taken(self) -> Counts:
        """What was counted since it was last taken."""
        with self._turn:
            counts, self.counts = self.counts, Counter()
        return counts

    def items(self) -> list[Item]:
        return list(self._items.values())

    def forget(self, item: Item) -> None:
        """DynamoDB has removed it by itself."""
        del self._items[_key(item)]

    def add(self, **counts: float) -> None:
        with self._turn:
            self._add(counts)

    def _asked(self, params: Params, context: dict[str, Any], **_: Any) -> None:
        context["billed"] = params

    def _answered(self, parsed: Answer, model: Any, context: dict[str, Any], **_: Any) -> None:
        with self._turn:
            rule = self._rules.get(model.name)
            if rule is None:
                raise NotImplementedError(f"nobody knows what a {model.name} costs")
            self._add({f"call.{model.name}": 1} | dict(rule(context["billed"], parsed)))

    def _add(self, counts: Mapping[str, float]) -> None:
        for name, count in counts.items():
            self.counts[name] += count  # type: ignore[assignment]

    def _put(self, params: Params, answer: Answer) -> Mapping[str, float]:
        return self._write(params["Item"], params["Item"], answer)

    def _update(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """A refused one is billed by the larger of the item that stands there and the one that
        would; the latter is not worked out, since ours stay below a unit."""
        if _refused(answer):
            return self._write(params["Key"], self._items.get(_key(params["Key"]), {}), answer)
        return self._write(params["Key"], answer["Attributes"], answer)

    def _write(self, key: Item, after: Item, answer: Answer) -> Mapping[str, float]:
        before = self._items.get(_key(key))
        units = write_units(before, after)
        if _refused(answer):
            return {f"write.{TABLE}": units[TABLE]}
        self._items[_key(key)] = after
        return {f"write.{place}": count for place, count in units.items()}

    def _batch_delete(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Each is billed alone, by what it deletes. Ours put nothing in batches."""
        [(table, asked)] = params["RequestItems"].items()
        left = answer["UnprocessedItems"].get(table, [])
        counts: Counts = Counter()
        for request in asked:
            if request not in left:
                before = self._items.pop(_key(request["DeleteRequest"]["Key"]), None)
                units = write_units(before, None)
                counts.update({f"write.{place}": count for place, count in units.items()})
        return {**counts}

    def _get(self, params: Params, answer: Answer) -> Mapping[str, float]:
        return _read([answer.get("Item", {})], consistent=params.get("ConsistentRead", False))

    def _batch_get(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Each of its items is billed alone, and so is each that is not there."""
        [(table, asked)] = params["RequestItems"].items()
        left = len(answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", []))
        items = answer["Responses"].get(table, [])
        missing = len(asked["Keys"]) - len(items) - left
        consistent = asked.get("ConsistentRead", False)
        return _read([*items, *[{}] * missing], consistent=consistent)

    def _query(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """All that it reads is billed together."""
        size = sum(map(size_of, answer["Items"]))
        return {"read": read_units(size, consistent=params.get("ConsistentRead", False))}

    def _scan(self, params: Params, answer: Answer) -> Mapping[str, float]:
        least = PARTITIONS * read_units(0, consistent=params.get("ConsistentRead", False))
        return {"read": max(self._query(params, answer)["read"], least)}


def units_written(counts: Counts) -> float:
    return _sum(counts, "write.")


def invocations(counts: Counts) -> float:
    return _sum(counts, "lambda.")


def calls(counts: Counts) -> float:
    return _sum(counts, "call.")


def _sum(counts: Counts, prefix: str) -> float:
    return sum(count for name, count in counts.items() if name.startswith(prefix))


def _read(items: Iterable[Item], *, consistent: bool) -> Mapping[str, float]:
    return {"read": sum(read_units(size_of(item), consistent=consistent) for item in items)}


def _request(params: Params, answer: Answer) -> Mapping[str, float]:
    """By the bodies that it carries, either way."""
    sent = [entry.get("MessageBody", "") for entry in (params, *params.get("Entries", []))]
    received = [message["Body"] for message in answer.get("Messages", [])]
    size = sum(len(body.encode()) for body in sent + received)
    return {"sqs": max(ceil(size / CHUNK), 1)}


def _refused(answer: Answer) -> bool:
    """Any other error is not billed as a write, and ends the count."""
    code = answer.get("Error", {}).get("Code")
    if code not in (None, FAILED_CONDITION):
        raise RuntimeError(f"cannot bill {code}")
    return code is not None


def _key(item: Item) -> tuple[str, str]:
    return item[schema.PK]["S"], item[schema.SK]["S"]

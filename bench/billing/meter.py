"""Counts what AWS bills for the calls of boto3 clients, by the clients' events.

The meter remembers every item that is written, since an answer does not contain the item before the
write. So it must see every write from an empty table on. It raises for an operation that it has no
rule for, rather than count wrongly.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from threading import Lock
from typing import Any

from bench.billing.units import PARTITIONS, TABLE, Item, read_units, size_of, write_units
from duetime.aws import schema

CHUNK = 64 * 1024  # SQS bills one request for each of these
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
        self._lock = Lock()  # calls are made in parallel
        self._rules: Mapping[str, Callable[[Params, Answer], Mapping[str, float]]] = {
            "PutItem": self._put,
            "UpdateItem": self._update,
            "DeleteItem": self._delete,
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

    def take_counts(self) -> Counts:
        """Returns the counts since the last call, and resets them."""
        with self._lock:
            counts, self.counts = self.counts, Counter()
        return counts

    def items(self) -> list[Item]:
        return list(self._items.values())

    def forget(self, item: Item) -> None:
        """Forgets an item that DynamoDB itself has removed."""
        del self._items[_key(item)]

    def add(self, **counts: float) -> None:
        with self._lock:
            self._add(counts)

    def _asked(self, params: Params, context: dict[str, Any], **_: Any) -> None:
        context["billed"] = params

    def _answered(self, parsed: Answer, model: Any, context: dict[str, Any], **_: Any) -> None:
        with self._lock:
            rule = self._rules.get(model.name)
            if rule is None:
                raise NotImplementedError(f"no rule for the cost of {model.name}")
            self._add({f"call.{model.name}": 1} | dict(rule(context["billed"], parsed)))

    def _add(self, counts: Mapping[str, float]) -> None:
        for name, count in counts.items():
            self.counts[name] += count  # type: ignore[assignment]

    def _put(self, params: Params, answer: Answer) -> Mapping[str, float]:
        return self._write(params["Item"], params["Item"], answer)

    def _update(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Counts an update. A refused one is billed by the larger of the stored item and the item
        it would have made. The latter is not computed: our items stay below one unit."""
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

    def _delete(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Counts a delete; a refused one is billed too."""
        key = _key(params["Key"])
        before = self._items.get(key) if _refused(answer) else self._items.pop(key, None)
        units = write_units(before, None)
        return {f"write.{place}": count for place, count in units.items()}

    def _batch_delete(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Counts deletes: each is billed by the item it deletes. We put nothing in batches."""
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
        """Counts a batch read: each item is billed by itself, also a missing one."""
        [(table, asked)] = params["RequestItems"].items()
        left = len(answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", []))
        items = answer["Responses"].get(table, [])
        missing = len(asked["Keys"]) - len(items) - left
        consistent = asked.get("ConsistentRead", False)
        return _read([*items, *[{}] * missing], consistent=consistent)

    def _query(self, params: Params, answer: Answer) -> Mapping[str, float]:
        """Counts a query: all that it reads is billed together."""
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
    """Counts a request of SQS by the message bodies it carries in either direction."""
    sent = [entry.get("MessageBody", "") for entry in (params, *params.get("Entries", []))]
    received = [message["Body"] for message in answer.get("Messages", [])]
    size = sum(len(body.encode()) for body in sent + received)
    return {"sqs": max(ceil(size / CHUNK), 1)}


def _refused(answer: Answer) -> bool:
    """Returns whether the condition failed. Any other error raises: it is not billed as a write."""
    code = answer.get("Error", {}).get("Code")
    if code not in (None, FAILED_CONDITION):
        raise RuntimeError(f"cannot bill {code}")
    return code is not None


def _key(item: Item) -> tuple[str, str]:
    return item[schema.PK]["S"], item[schema.SK]["S"]

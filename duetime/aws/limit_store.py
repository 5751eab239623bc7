"""Limits in DynamoDB: the AWS backend's LimitStore.

All limits of a namespace are in one partition. They are read by submissions and executors, which
remember them for a few seconds, and written by people.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from duetime.aws import schema
from duetime.aws.item_reader import ItemReader
from duetime.aws.namespaces import Namespaces
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.limits.codec import after_cursor, cursor_after, decode_limit, encode_limit
from duetime.core.limits.definition import Limit
from duetime.core.limits.ports import RECENT, LimitListing, LimitPage
from duetime.core.ports import Clock
from duetime.core.times import Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_REMEMBERED = 1_000  # limits

PUT = (
    f"SET {schema.TEXT} = :text, {schema.UPDATED_AT} = :updated,"
    f" {schema.CREATED_AT} = if_not_exists({schema.CREATED_AT}, :created)"
)
UNCHANGED = f"{schema.TEXT} = :text AND {schema.UPDATED_AT} = :updated"


class DynamoLimitStore:
    def __init__(self, client: "DynamoDBClient", table: str, *, clock: Clock) -> None:
        self._table = Table(client, table)
        self._reader = ItemReader(client, table)
        self._namespaces = Namespaces(self._table)
        self._clock = clock
        self._seen: dict[tuple[str, str], tuple[Millis, Limit]] = {}
        self._lock = Lock()  # handlers that submit run in threads

    def put(self, limit: Limit) -> Limit:
        now = self._clock.now()
        self._namespaces.note(limit.namespace)
        item, _ = self._table.update_if(
            {
                "Key": _key(limit.namespace, limit.name),
                "UpdateExpression": PUT,
                "ExpressionAttributeValues": {
                    ":text": {"S": encode_limit(limit)},
                    ":created": {"N": str(limit.created_at)},
                    ":updated": {"N": str(limit.updated_at)},
                },
            }
        )
        stored = limit if item is None else _limit(item)
        self._remember([stored], now)
        return stored

    def get(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        now, pk = self._clock.now(), schema.limits_pk(namespace)
        keys = [(pk, name) for name in dict.fromkeys(names)]
        limits = [_limit(item) for item in self._reader.items(keys, consistent=True)]
        self._remember(limits, now)
        return {limit.name: limit for limit in limits}

    def recent(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        now = self._clock.now()
        with self._lock:
            seen = {name: self._seen.get((namespace, name)) for name in names}
        found = {n: one[1] for n, one in seen.items() if one and 0 <= now - one[0] < RECENT}
        missing = [name for name in names if name not in found]
        return {**found, **self.get(namespace, missing)} if missing else found

    def page(self, listing: LimitListing) -> LimitPage:
        after = after_cursor(listing.cursor) if listing.cursor else ("", "")
        names = [listing.namespace] if listing.namespace is not None else self._namespaces.read()
        rows = (row for name in names if name >= after[0] for row in self._rows(name, after))
        found = [_limit(row) for row in islice(rows, listing.limit + 1)]
        shown = found[: listing.limit]
        more = len(found) > listing.limit
        return LimitPage(limits=shown, cursor=cursor_after(shown[-1]) if more else None)

    def delete(self, limit: Limit) -> None:
        self._table.delete_if(
            {
                "Key": _key(limit.namespace, limit.name),
                "ConditionExpression": UNCHANGED,
                "ExpressionAttributeValues": {
                    ":text": {"S": encode_limit(limit)},
                    ":updated": {"N": str(limit.updated_at)},
                },
            }
        )
        with self._lock:
            self._seen.pop((limit.namespace, limit.name), None)

    def _rows(self, namespace: str, after: tuple[str, str]) -> Iterator[Item]:
        condition, values = f"{schema.PK} = :limits", {":limits": schema.limits_pk(namespace)}
        if namespace == after[0]:
            condition += f" AND {schema.SK} > :after"
            values[":after"] = after[1]
        return self._table.query(condition, values, ConsistentRead=True)

    def _remember(self, limits: Sequence[Limit], now: Millis) -> None:
        with self._lock:
            if len(self._seen) + len(limits) > MAX_REMEMBERED:
                self._seen.clear()
            for limit in limits:
                self._seen[limit.namespace, limit.name] = now, limit


def _key(namespace: str, name: str) -> Item:
    return {schema.PK: {"S": schema.limits_pk(namespace)}, schema.SK: {"S": name}}


def _limit(item: Item) -> Limit:
    return decode_limit(
        item[schema.TEXT]["S"],
        namespace=schema.limits_namespace(item[schema.PK]["S"]),
        name=item[schema.SK]["S"],
        created_at=int(item[schema.CREATED_AT]["N"]),
        updated_at=int(item[schema.UPDATED_AT]["N"]),
    )

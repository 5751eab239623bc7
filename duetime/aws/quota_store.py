"""The state of the quotas in the table: the AWS backend's QuotaStore.

All sandboxes of the API share one row for each namespace with a rate. A sandbox takes tokens with
one conditional write; while it is busy it takes them in blocks, so that it need not write for every
request. Tokens of a block that are not used within a second are lost.

If the table does not answer, the submission is allowed.
"""

import logging
from threading import Lock
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.errors import Unavailable
from duetime.core.ports import Clock
from duetime.core.quotas import NANOS_PER_SECOND, Grant, Nanos, Rate, nanos
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.value import value

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BLOCK_LIFE: Millis = SECOND
BLOCKS_PER_SECOND = 10  # a block is at most this part of the tokens of a second
MAX_ROUNDS = 5  # each but the first follows a lost race
COUNT_LIFE: Millis = 5 * SECOND
ROW_LIFE: Millis = DAY  # after the bucket is full
MAX_REMEMBERED = 10_000  # namespaces

log = logging.getLogger(__name__)


@value(slots=True)
class _Bucket:
    """What this sandbox knows of a bucket, and the block that it has taken."""

    full_at: Nanos = 0
    idle: bool = True  # whether it was full when a write last depended on that
    tokens: int = 0
    taken_at: Nanos = 0
    block: int = 1


@value(slots=True)
class _Count:
    """A count that was read, and the tasks that this sandbox has admitted since."""

    read_at: Millis
    stored: int
    admitted: int = 0


class DynamoQuotaStore:
    """One lock for all calls: the handlers of an executor run concurrently, but few submit. A
    sandbox of the API runs one request at a time."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._table = Table(client, table)
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._counts: dict[str, _Count] = {}
        self._lock = Lock()

    def take(self, namespace: str, rate: Rate, wanted: int) -> Grant:
        with self._lock:
            return self._take_locked(namespace, rate, wanted)

    def admit(self, namespace: str, limit: int, wanted: int) -> int:
        with self._lock:
            return self._admit_locked(namespace, limit, wanted)

    def stored(self, namespace: str) -> int | None:
        row = self._table.get(schema.quota_pk(namespace), schema.STORED)
        return None if row is None else _stored(row)

    def _take_locked(self, namespace: str, rate: Rate, wanted: int) -> Grant:
        now = nanos(self._clock.now())
        bucket = self._bucket(namespace)
        fresh = 0 <= now - bucket.taken_at < nanos(BLOCK_LIFE)
        held = min(bucket.tokens, wanted) if fresh else 0
        missing = wanted - held
        if missing == 0:
            bucket.tokens -= held
            return Grant(granted=wanted)
        # A block that was used up within its life was too small.
        block = min(bucket.block * 2, _largest_block(rate)) if fresh else 1
        try:
            granted = self._take(namespace, rate, bucket, now, max(missing, block))
        except Unavailable as error:
            fields = {"step": "submit", "namespace": namespace, "reason": str(error)}
            log.warning("quota not checked: rate", extra=fields)
            return Grant(granted=wanted)
        used = min(granted, missing)
        bucket.tokens, bucket.block = granted - used, block
        if granted:
            bucket.taken_at = now
        wait = rate.wait(bucket.full_at, now) if used < missing else 0
        return Grant(granted=held + used, wait=wait)

    def _admit_locked(self, namespace: str, limit: int, wanted: int) -> int:
        try:
            count = self._count(namespace)
        except Unavailable as error:
            fields = {"step": "submit", "namespace": namespace, "reason": str(error)}
            log.warning("quota not checked: stored tasks", extra=fields)
            return wanted
        admitted = min(max(limit - count.stored - count.admitted, 0), wanted)
        count.admitted += admitted
        return admitted

    def _bucket(self, namespace: str) -> _Bucket:
        if len(self._buckets) >= MAX_REMEMBERED:
            self._buckets.clear()
        return self._buckets.setdefault(namespace, _Bucket())

    def _take(self, namespace: str, rate: Rate, bucket: _Bucket, now: Nanos, wanted: int) -> int:
        """Returns how many tokens the table has granted. An SDK that repeats a write whose answer
        was lost takes its tokens twice; the namespace has a few less then."""
        for _ in range(MAX_ROUNDS):
            taken = rate.take(bucket.full_at, now, wanted)
            if taken.granted == 0:
                return 0
            row, written = self._table.update_if(
                _update(namespace, rate, bucket, now, taken.granted)
            )
            bucket.full_at = int(row[schema.FULL_AT]["N"]) if row else 0
            if written:
                return taken.granted
            bucket.idle = bucket.full_at <= now
        return 0  # others take every token that there is

    def _count(self, namespace: str) -> _Count:
        now = self._clock.now()
        count = self._counts.get(namespace)
        if count is None or not 0 <= now - count.read_at < COUNT_LIFE:
            row = self._table.get(schema.quota_pk(namespace), schema.STORED)
            if len(self._counts) >= MAX_REMEMBERED:
                self._counts.clear()
            count = self._counts[namespace] = _Count(now, _stored(row))
        return count


def _stored(row: Item | None) -> int:
    """There is no row before the relay has counted the tasks."""
    return int(row[schema.COUNT]["N"]) if row else 0


def _largest_block(rate: Rate) -> int:
    per_second = NANOS_PER_SECOND // rate.interval
    return max(min(per_second // BLOCKS_PER_SECOND, rate.burst), 1)


def _update(
    namespace: str, rate: Rate, bucket: _Bucket, now: Nanos, granted: int
) -> dict[str, Any]:
    """Returns the conditional write that takes tokens. Neither of the usual two conditions names
    the exact state, so two sandboxes that take tokens at the same time both succeed:

    - The bucket is full: it is filled from now on.
    - It is not, and has that many tokens: it is full so much later.

    A bucket that a wrong clock has written is set on condition that it is still as it was read."""
    cost = granted * rate.interval
    believed = rate.believed(bucket.full_at, now)
    values = {":full": max(believed, now) + cost}
    if believed != bucket.full_at:
        condition, values[":seen"] = f"{schema.FULL_AT} = :seen", bucket.full_at
        change = f"{schema.FULL_AT} = :full"
    elif bucket.idle and bucket.full_at <= now:
        condition = f"attribute_not_exists({schema.FULL_AT}) OR {schema.FULL_AT} <= :now"
        change, values[":now"] = f"{schema.FULL_AT} = :full", now
    else:
        condition = f"{schema.FULL_AT} > :now AND {schema.FULL_AT} <= :latest"
        change = f"{schema.FULL_AT} = {schema.FULL_AT} + :cost"
        values = {":now": now, ":latest": now + rate.depth - cost, ":cost": cost}
    values[":end"] = (now + rate.depth) // NANOS_PER_SECOND + ROW_LIFE // SECOND
    return {
        "Key": {
            schema.PK: {"S": schema.quota_pk(namespace)},
            schema.SK: {"S": schema.RATE},
        },
        "UpdateExpression": f"SET {change}, {schema.REMOVE_AFTER} = :end",
        "ConditionExpression": condition,
        "ExpressionAttributeValues": {name: {"N": str(n)} for name, n in values.items()},
    }

"""How many tasks a namespace has stored: a row that the relay keeps, for quotas.

The relay adds what it sees in the stream, in one write for a batch. A batch that is repeated after
a crash counts twice, so the number is approximate. If there is no row, the relay counts the tasks
in the listing index; to correct a number, delete its row.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from duetime.aws import schema
from duetime.aws.listing import day_bucket, days_of
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.core.ports import Clock, Shards
from duetime.core.task_filter import TaskFilter
from duetime.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_COUNTING: Millis = 20 * SECOND  # the relay has a minute, and other work

log = logging.getLogger(__name__)


class StoredCounts:
    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        shards: Callable[[Millis], Shards],
        clock: Clock,
    ) -> None:
        self._table = Table(client, table)
        self._shards = shards
        self._clock = clock
        self._parallel = ParallelCalls()

    def add(self, changes: Mapping[str, int]) -> None:
        """Adds the change of each namespace to its number."""
        for namespace, change in changes.items():
            if change and not self._add(namespace, change):
                self._count(namespace)

    def _add(self, namespace: str, change: int) -> bool:
        _, added = self._table.update_if(
            {
                "Key": _key(namespace),
                "UpdateExpression": f"ADD {schema.COUNT} :change",
                "ConditionExpression": f"attribute_exists({schema.PK})",
                "ExpressionAttributeValues": {":change": {"N": str(change)}},
            }
        )
        return added

    def _count(self, namespace: str) -> None:
        """Counts the tasks, newest first. Of two relays that count, the first writes the row; the
        other's number is as good."""
        now, started = self._clock.now(), self._clock.monotonic()
        shards = self._shards(now)
        latest, oldest = days_of(TaskFilter(), shards, now)
        found, day = 0, latest
        while day >= oldest and self._clock.monotonic() - started < MAX_COUNTING:
            buckets = [day_bucket(namespace, day, shard) for shard in range(shards.count)]
            found += sum(self._parallel.each(self._in_bucket, buckets))
            day -= 1
        fields = {"step": "relay", "namespace": namespace, "count": found}
        if day >= oldest:
            log.warning("stored tasks counted in part: too many days", extra=fields)
        row = {**_key(namespace), schema.COUNT: {"N": str(found)}}
        self._table.put_if(row, KEY_IS_FREE, {})
        log.info("stored tasks counted", extra=fields)

    def _in_bucket(self, bucket: str) -> int:
        condition = f"{schema.LISTING_BUCKET} = :bucket"
        return self._table.count(condition, {":bucket": bucket}, IndexName=schema.LISTING_INDEX)


def _key(namespace: str) -> dict[str, dict[str, str]]:
    return {schema.PK: {"S": schema.quota_pk(namespace)}, schema.SK: {"S": schema.STORED}}

"""The workers of all pools in DynamoDB: one row for each, in one partition.

A worker puts its row again every few seconds. DynamoDB removes a row some days after its TTL, so
one that has not been put for LIVE_FOR counts as gone.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.table import Table
from duetime.core.codec import from_json, to_json
from duetime.core.lanes import Lane
from duetime.core.times import HOUR, SECOND, Millis
from duetime.core.workers import LIVE_FOR, Running, WorkerRecord

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEPT_FOR: Millis = HOUR  # after it was seen last
MAX_RUNNING = 1_000  # attempts that a row lists


class DynamoWorkerStore:
    """The WorkerStore of AWS."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._table = Table(client, table)

    def put(self, record: WorkerRecord) -> None:
        remove_after = (record.seen + KEPT_FOR) // SECOND
        self._table.put(
            {
                **_key(record.name),
                schema.UPDATED_AT: {"N": str(record.seen)},
                schema.REMOVE_AFTER: {"N": str(remove_after)},
                schema.TEXT: {"S": to_json(_fields(record))},
            }
        )

    def list(self, now: Millis) -> Sequence[WorkerRecord]:
        rows = self._table.query(f"{schema.PK} = :workers", {":workers": schema.WORKERS})
        live = [row for row in rows if int(row[schema.UPDATED_AT]["N"]) + LIVE_FOR > now]
        return [_record(row) for row in live]

    def remove(self, name: str) -> None:
        self._table.delete([_key(name)])


def _key(name: str) -> dict[str, Any]:
    return {schema.PK: {"S": schema.WORKERS}, schema.SK: {"S": name}}


def _fields(record: WorkerRecord) -> dict[str, Any]:
    return {
        "since": record.since,
        "backend": record.backend,
        "pool": record.pool,
        "lanes": list(record.lanes),
        "handlers": list(record.handlers),
        "concurrency": record.concurrency,
        "running": [list(running) for running in record.running[:MAX_RUNNING]],
        "draining": record.draining,
        "host": record.host,
        "version": record.version,
    }


def _record(row: Any) -> WorkerRecord:
    fields = from_json(row[schema.TEXT]["S"])
    return WorkerRecord(
        name=row[schema.SK]["S"],
        seen=int(row[schema.UPDATED_AT]["N"]),
        since=fields["since"],
        backend=fields["backend"],
        pool=fields["pool"],
        lanes=tuple(Lane(lane) for lane in fields["lanes"]),
        handlers=tuple(fields["handlers"]),
        concurrency=fields["concurrency"],
        running=tuple(Running(*running) for running in fields["running"]),
        draining=fields["draining"],
        host=fields["host"],
        version=fields["version"],
    )

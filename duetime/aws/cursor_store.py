"""The scanner's progress and the shard count: the AWS backend's CursorStore."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from duetime.aws import schema
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item
from duetime.core import codec
from duetime.core.ports import Chain, Clock, CursorStore, Shards, SliceState
from duetime.core.times import MINUTE, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CACHE_TTL: Millis = MINUTE  # of the shard count


class DynamoCursorStore:
    """`shards` is the configured number. A larger number that is stored stays in force."""

    def __init__(self, client: "DynamoDBClient", table: str, *, shards: int) -> None:
        self._table = Table(client, table)
        self._configured = shards

    def shards(self, now: Millis) -> Shards:
        row = self._table.get(*schema.CONFIG) or self._first_config(now)
        if int(row[schema.SHARDS]["N"]) < self._configured:
            row = self._grow()
        return Shards(count=int(row[schema.SHARDS]["N"]), since=int(row[schema.SINCE]["N"]))

    def load(self, slice_number: int) -> SliceState:
        row = self._table.get(schema.slice_pk(slice_number), schema.CURSOR)
        return _read(row) if row else SliceState()

    def save(self, slice_number: int, state: SliceState) -> bool:
        """Of two ticks of one slice the second save loses, even if its tick was frozen before."""
        if state.fence == 1:
            condition, values = KEY_IS_FREE, {}
        else:
            condition = f"{schema.FENCE} = :before"
            values = {":before": {"N": str(state.fence - 1)}}
        row = _row(slice_number, state)
        existing, made = self._table.put_if(row, condition, values)
        return made or (existing is not None and _read(existing) == state)

    def _first_config(self, now: Millis) -> Item:
        """Of two first writers the second uses the row of the first."""
        pk, sk = schema.CONFIG
        row: Item = {
            schema.PK: {"S": pk},
            schema.SK: {"S": sk},
            schema.SHARDS: {"N": str(self._configured)},
            schema.SINCE: {"N": str(now)},
        }
        existing, _ = self._table.put_if(row, KEY_IS_FREE, {})
        return existing or row

    def _grow(self) -> Item:
        """Refused if a writer with a larger number was faster: then that number is in force."""
        pk, sk = schema.CONFIG
        row, _ = self._table.update_if(
            {
                "Key": {schema.PK: {"S": pk}, schema.SK: {"S": sk}},
                "UpdateExpression": f"SET {schema.SHARDS} = :configured",
                "ConditionExpression": f"{schema.SHARDS} < :configured",
                "ExpressionAttributeValues": {":configured": {"N": str(self._configured)}},
            }
        )
        if row is None:
            raise LookupError("the shard count was removed while it was read")
        return row


class CachedShards:
    """The shard count, read again once a minute: a list reads every shard, so a warm function
    must notice when their number has grown."""

    def __init__(self, cursors: CursorStore, clock: Clock) -> None:
        self._cursors = cursors
        self._clock = clock
        self._read_at = clock.now()
        self._shards = cursors.shards(self._read_at)

    def __call__(self) -> Shards:
        now = self._clock.now()
        if now - self._read_at >= CACHE_TTL:
            self._shards = self._cursors.shards(now)
            self._read_at = now
        return self._shards


def _row(slice_number: int, state: SliceState) -> Item:
    body = {
        "cursors": state.cursors,
        "swept": state.swept,
        "paced": state.paced,
        "ticked_at": state.ticked_at,
        "backed_up": state.backed_up,
        "chain": state.chain and asdict(state.chain),
    }
    return {
        schema.PK: {"S": schema.slice_pk(slice_number)},
        schema.SK: {"S": schema.CURSOR},
        schema.FENCE: {"N": str(state.fence)},
        schema.TEXT: {"S": codec.to_json(body)},
    }


def _read(row: Item) -> SliceState:
    body = codec.from_json(row[schema.TEXT]["S"])
    return SliceState(
        fence=int(row[schema.FENCE]["N"]),
        cursors={int(shard): minute for shard, minute in body["cursors"].items()},
        swept=body["swept"],
        paced=body.get("paced", {}),  # absent in rows of earlier versions, as the following
        ticked_at=body.get("ticked_at"),
        backed_up=body.get("backed_up", {}),
        chain=Chain(**chain) if (chain := body.get("chain")) else None,
    )

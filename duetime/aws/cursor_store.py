"""How far the scanner has come: the AWS backend's CursorStore."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from lambdas.aws import schema
from lambdas.aws.items import Item
from lambdas.aws.table import IS_FREE, Table
from lambdas.core import codec
from lambdas.core.ports import Chain, Shards, SliceState
from lambdas.core.times import Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoCursorStore:
    """`shards` is the configured number; one that was larger once stays in force."""

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
        """A tick that was overtaken loses; so does one frozen since before another's save."""
        if state.fence == 1:
            condition, values = IS_FREE, {}
        else:
            condition = f"{schema.FENCE} = :before"
            values = {":before": {"N": str(state.fence - 1)}}
        row = _row(slice_number, state)
        standing, made = self._table.put_if(row, condition, values)
        return made or (standing is not None and _read(standing) == state)

    def _first_config(self, now: Millis) -> Item:
        """Whoever comes second takes the first one's row."""
        pk, sk = schema.CONFIG
        row: Item = {
            schema.PK: {"S": pk},
            schema.SK: {"S": sk},
            schema.SHARDS: {"N": str(self._configured)},
            schema.SINCE: {"N": str(now)},
        }
        standing, _ = self._table.put_if(row, IS_FREE, {})
        return standing or row

    def _grow(self) -> Item:
        """Refused when somebody configured with more came first: then theirs is in force."""
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
        paced=body.get("paced", {}),  # rows of earlier versions have none, nor what follows
        ticked_at=body.get("ticked_at"),
        backed_up=body.get("backed_up", {}),
        chain=Chain(**chain) if (chain := body.get("chain")) else None,
    )

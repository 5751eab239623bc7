"""The index of dead tasks. It is sparse: only dead tasks are written to it and read from it."""

from typing import Any

from duetime.aws import schema
from duetime.aws.listing import Keys, merge_shards, newest_rows
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import Table
from duetime.core.dead_letters import Death, Deaths, death_of
from duetime.core.times import Millis
from duetime.core.wakes import shard_of


def death_attributes(task_id: str, died_at: Millis, shards: int) -> dict[str, dict[str, Any]]:
    return {
        schema.DEAD_BUCKET: {"S": _bucket(shard_of(task_id, shards))},
        schema.DEATH: {"S": Death(died_at, task_id).key},
    }


def read_deaths(
    table: Table, parallel: ParallelCalls, shards: int, below: Death, last: Death, wanted: int
) -> Deaths:
    share = wanted // shards + 2  # two more: one row may be `below` itself
    keys, more = merge_shards(
        parallel.each(lambda shard: _keys(table, shard, below, last, share), range(shards))
    )
    return [death_of(key) for key in keys], more


def _keys(table: Table, shard: int, below: Death, last: Death, limit: int) -> Keys:
    rows, more = newest_rows(
        table,
        schema.DEAD_INDEX,
        f"{schema.DEAD_BUCKET} = :bucket AND {schema.DEATH} BETWEEN :last AND :below",
        {":bucket": _bucket(shard), ":last": last.key, ":below": below.key},
        limit,
    )
    keys: list[str] = [row[schema.DEATH]["S"] for row in rows]
    return [key for key in keys if key < below.key], more


def _bucket(shard: int) -> str:
    return f"dead#{shard:02d}"

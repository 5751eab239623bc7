"""Runs as DynamoDB items.

The spec of a run never changes, so only the first write has it; a spec that does not fit the item
gets a row of its own. Every later write updates the hot attributes alone.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.item_reader import ItemReader, pk_of, texts_of
from duetime.aws.listing import day_bucket
from duetime.aws.overflow import Texts, digest, fits, references, resolve
from duetime.aws.revised_items import SEEN, present, seen_value
from duetime.aws.task_items import Attributes, Item, wake_attributes, wake_in
from duetime.aws.update_expressions import assignments
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import shard_of
from duetime.core.workflows.run import Run, RunStatus
from duetime.core.workflows.run_codec import (
    decode_run_spec,
    decode_run_state,
    encode_run_spec,
    encode_run_state,
)

log = logging.getLogger(__name__)

SPEC_LIMIT = 256  # so that the row of a run of 300 steps stays below 1 KB


@value(frozen=True, kw_only=True, slots=True)
class RunWrite:
    """A run to be written."""

    id: str
    seen: int  # the revision that it replaces; 0 if it is new
    hot: Attributes  # the attributes that every write replaces
    cold: dict[str, dict[str, Any]]
    overflow: dict[str, str]  # the long spec by the sort key of its row, if any

    @property
    def item(self) -> dict[str, dict[str, Any]]:
        return run_key(self.id) | self.cold | present(self.hot)

    def update(self) -> dict[str, Any]:
        """Returns the parameters of an update that replaces the revision that was read."""
        expression, values = assignments(self.hot)
        return {
            "Key": run_key(self.id),
            "ConditionExpression": SEEN,
            "UpdateExpression": expression,
            "ExpressionAttributeValues": values | seen_value(self.seen),
        }


def run_write(run: Run, *, shards: int, retention: Millis) -> RunWrite:
    spec = encode_run_spec(run.spec)
    row = None if fits(spec, SPEC_LIMIT) else f"{schema.INPUT_PREFIX}{digest(spec)}"
    until = None if run.kept_from is None else (run.kept_from + retention) // SECOND + 1
    bucket = listing_bucket(run, shards)
    cold: Attributes = {
        schema.SPEC: {"S": spec if row is None else f"@{row}"},
        schema.CREATED_AT: {"N": str(run.created_at)},
        schema.LISTING_BUCKET: None if bucket is None else {"S": bucket},
    }
    return RunWrite(
        id=run.id,
        seen=run.revision - 1,
        hot={
            schema.STATUS: {"S": run.status.value},
            schema.REVISION: {"N": str(run.revision)},
            schema.UPDATED_AT: {"N": str(run.updated_at)},
            schema.STATE: {"S": encode_run_state(run)},
            schema.REMOVE_AFTER: None if until is None else {"N": str(until)},
            **wake_attributes(run.wake),
        },
        cold=present(cold),
        overflow={} if row is None else {row: spec},
    )


def listing_bucket(run: Run, shards: int) -> str | None:
    """Returns None for the run of a map: the run that it belongs to shows it."""
    if run.spec.map:
        return None
    return run_bucket(run.spec.namespace, run.created_at // DAY, shard_of(run.id, shards))


def run_bucket(namespace: str, day: int, shard: int) -> str:
    """It cannot collide with a bucket of tasks: no namespace contains a `#`."""
    return day_bucket(f"{namespace}#runs", day, shard)


def run_key(run_id: str) -> dict[str, dict[str, Any]]:
    return {schema.PK: {"S": schema.run_pk(run_id)}, schema.SK: {"S": schema.RUN}}


def decode_run(item: Item, texts: Texts) -> Run | Corrupt:
    pk = pk_of(item)
    try:
        return Run(
            id=schema.run_id_of(pk),
            spec=decode_run_spec(resolve(item[schema.SPEC]["S"], texts)),
            status=RunStatus(item[schema.STATUS]["S"]),
            revision=int(item[schema.REVISION]["N"]),
            created_at=int(item[schema.CREATED_AT]["N"]),
            updated_at=int(item[schema.UPDATED_AT]["N"]),
            wake=wake_in(item),
            **decode_run_state(item[schema.STATE]["S"]),
        )
    except UNREADABLE as error:
        return Corrupt(pk, repr(error))


class RunReader(ItemReader):
    def readable(self, run_ids: Iterable[str]) -> dict[str, Run]:
        """Returns the runs that can be read, and logs the others."""
        found = self.decoded(list(self._items(run_ids)))
        for run_id, run in found.items():
            if isinstance(run, Corrupt):
                log.error("run skipped: unreadable", extra={"run_id": run_id, "reason": str(run)})
        return {i: run for i, run in found.items() if isinstance(run, Run)}

    def existing(self, run_ids: Iterable[str]) -> set[str]:
        return {schema.run_id_of(pk_of(item)) for item in self._items(run_ids)}

    def decoded(self, items: Sequence[Item]) -> dict[str, Run | Corrupt]:
        keys = [(pk_of(item), sk) for item in items for sk in _references(item)]
        texts = self.texts(dict.fromkeys(keys)) if keys else {}
        return {
            schema.run_id_of(pk_of(item)): decode_run(
                item, texts_of(item, _references(item), texts)
            )
            for item in items
        }

    def _items(self, run_ids: Iterable[str]) -> Iterator[Item]:
        keys = [(schema.run_pk(i), schema.RUN) for i in dict.fromkeys(run_ids)]
        return self.items(keys, consistent=True)


def _references(item: Item) -> list[str]:
    return references([item.get(schema.SPEC, {}).get("S", "")])

"""Tasks in DynamoDB: the AWS backend's TaskStore.

A change is one conditional UpdateItem. Every conditional write asks for the item that failed its
condition, so a refusal needs no second read. It also shows when the SDK has repeated a write that
had already succeeded: the stored item then has what the write sets.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from duetime.aws import schema
from duetime.aws.dead_letters import death_attributes, read_deaths
from duetime.aws.due_counts import DueCounter
from duetime.aws.ended_tasks import ended_page, removal_parameters
from duetime.aws.item_reader import TaskReader
from duetime.aws.listing import Lister, listing_bucket
from duetime.aws.namespaces import Namespaces
from duetime.aws.overflow import text_row
from duetime.aws.parallel import ParallelCalls
from duetime.aws.related_rows import (
    attempt_row,
    key_row,
    read_attempt,
    read_reservation,
    removal_attributes,
    unique_row,
)
from duetime.aws.soonest import SoonestLister
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import encode_task
from duetime.aws.update_expressions import update
from duetime.aws.wake_index import read_bucket, read_few
from duetime.core.change import Answer, Applied, Change, Refused, Unknown, Unreadable
from duetime.core.dead_letters import dead_page
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.forecast import DueCounts, DueSpan
from duetime.core.lifecycle import Status
from duetime.core.listings import DeadListing, EndedListing, Listing, ListOrder, Page
from duetime.core.ports import Clock, Reservation, Shards, UniqueKey
from duetime.core.retention import RETENTION
from duetime.core.steps.remove import Removal
from duetime.core.task import Attempt, Task
from duetime.core.times import Millis
from duetime.core.wakes import Wake, WakeKind, bucket_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

T = TypeVar("T", Task, Change, Removal)

WAKES_PER_QUERY = 1_000


class DynamoTaskStore:
    """`shards` returns the current shard count; every list calls it. Writes use the count at the
    start: a shard that was ever in use is always read, so an older count is safe."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        shards: Callable[[], Shards],
        clock: Clock,
        retention: Millis = RETENTION,
        parallel: ParallelCalls | None = None,
        wakes_per_query: int = WAKES_PER_QUERY,
    ) -> None:
        self._table = Table(client, table)
        self._shards = shards
        self._write_shards = shards().count
        self._clock = clock
        self._retention = retention
        self._parallel = parallel or ParallelCalls()
        self._wakes_per_query = wakes_per_query
        self._reader = TaskReader(client, table)
        self._namespaces = Namespaces(self._table)
        self._lister = Lister(self._table, self._parallel, self._reader)
        self._soonest = SoonestLister(self._table, self._parallel, self._reader)
        self._due = DueCounter(self._table, self._parallel, self._soonest)

    def close(self) -> None:
        self._parallel.close()

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self._parallel.each(_to_answer(self._put), tasks)

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        return self._reader.tasks(task_ids)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return self._parallel.each(_to_answer(self._apply), changes)

    def set_aside(self, change: Change) -> None:
        self._table.update_if(update(change, self._write_shards, self._retention).parameters)

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        return read_bucket(self._table, bucket_of(minute, shard), kind, self._wakes_per_query)

    def few_wakes(self, limit: int) -> list[Wake] | None:
        return read_few(self._table, limit)

    def due_counts(self, span: DueSpan) -> DueCounts:
        shards, now = self._shards().count, self._clock.now()
        if span.namespace is not None and self._namespaces.read() == [span.namespace]:
            span = replace(span, namespace=None)  # counting the keys of the index is cheaper
        return self._due.count(span, shards=shards, now=now)

    def page(self, listing: Listing) -> Page:
        shards, now = self._shards(), self._clock.now()
        if listing.order is ListOrder.SOONEST:
            return self._soonest.page(listing, shards=shards.count, now=now)
        name = listing.filter.namespace
        namespaces = self._namespaces.read() if name is None else [name]
        return self._lister.page(listing, namespaces, shards=shards, now=now)

    def dead(self, listing: DeadListing) -> Page:
        read = partial(read_deaths, self._table, self._parallel, self._shards().count)
        return dead_page(listing, read, self._reader.readable)

    def ended(self, listing: EndedListing) -> Page:
        return ended_page(self._table, listing, self._reader.readable)

    def remove(self, removals: Sequence[Removal]) -> list[Answer]:
        return self._parallel.each(_to_answer(self._remove), removals)

    def keep_attempt(self, task_id: str, attempt: Attempt) -> None:
        self._table.put(attempt_row(task_id, attempt))

    def attempts(self, task_id: str) -> list[Attempt]:
        rows = self._table.query(
            f"{schema.PK} = :task AND begins_with({schema.SK}, :attempt)",
            {":task": schema.task_pk(task_id), ":attempt": schema.ATTEMPT_PREFIX},
            ConsistentRead=True,
        )
        return [read_attempt(row) for row in rows]

    def reserve(self, reservations: Sequence[Reservation], now: Millis) -> list[Reservation]:
        return self._parallel.each(lambda wanted: self._reserve(wanted, now), reservations)

    def take_keys(self, keys: Sequence[UniqueKey]) -> list[str]:
        return self._parallel.each(self._take_key, keys)

    def _put(self, task: Task) -> Answer:
        """Of two writers of one id the first wins; the second learns which task is stored."""
        item, overflow = encode_task(task, listing_bucket(task, self._write_shards))
        if task.status is Status.DEAD:
            item |= death_attributes(task.id, task.updated_at, self._write_shards)
        item |= removal_attributes(task, self._retention)
        self._namespaces.note(task.spec.namespace)
        self._put_texts(task.id, overflow)
        existing, made = self._table.put_if(item, KEY_IS_FREE, {})
        if made:
            return Applied(task)
        if existing is None:
            return Refused(None)
        [stored] = self._reader.decode([existing])
        return Applied(stored) if stored.token == task.token else Refused(stored)

    def _apply(self, change: Change) -> Answer:
        wanted = update(change, self._write_shards, self._retention)
        self._put_texts(change.task_id, wanted.overflow)
        item, made = self._table.update_if(wanted.parameters)
        if item is None:
            return Refused(None)
        [task] = self._reader.decode([item])
        return Applied(task) if made or change.already_in(task) else Refused(task)

    def _remove(self, removal: Removal) -> Answer:
        """Deletes the item alone. The relay archives the task and deletes its dependent rows: the
        stream keeps the item until the relay has done so."""
        item, made = self._table.delete_if(removal_parameters(removal))
        if made:
            return Applied(removal.task)
        if item is None:
            return Refused(None)
        [stored] = self._reader.decode([item])
        return Refused(stored)

    def _put_texts(self, task_id: str, overflow: Mapping[str, str]) -> None:
        """Store texts before the item that refers to them, so that a reader always finds them."""
        if not overflow:
            return
        pk = schema.task_pk(task_id)
        for sk, text in overflow.items():
            self._table.put(text_row(pk, sk, text))
        self._reader.remember(pk, overflow)

    def _reserve(self, wanted: Reservation, now: Millis) -> Reservation:
        """Of two submissions with one key the second learns the task id of the first."""
        existing, made = self._table.put_if(
            key_row(wanted),
            f"{KEY_IS_FREE} OR {schema.EXPIRES_AT} <= :now",
            {":now": {"N": str(now)}},
        )
        if made:
            return wanted
        if existing is None:  # DynamoDB has just removed the expired row
            return self._reserve(wanted, now)
        return read_reservation(wanted.namespace, wanted.key, existing)

    def _take_key(self, wanted: UniqueKey) -> str:
        """Of two submissions that take a key the second learns the task id of the first."""
        condition, values = KEY_IS_FREE, {}
        if wanted.instead_of is not None:
            condition += f" OR {schema.TASK_ID} = :instead"
            values = {":instead": {"S": wanted.instead_of}}
        existing, made = self._table.put_if(unique_row(wanted), condition, values)
        if made:
            return wanted.task_id
        if existing is None:  # the relay has just deleted the row
            return self._take_key(wanted)
        task_id: str = existing[schema.TASK_ID]["S"]
        return task_id


def _to_answer(write: Callable[[T], Answer]) -> Callable[[T], Answer]:
    """Turns the failure of one write into its answer, because the caller must learn which other
    writes of the batch were made. An Unreadable task may have been written all the same."""

    def answer(value: T) -> Answer:
        try:
            return write(value)
        except Corrupt as error:
            return Unreadable(str(error))
        except Unavailable as error:
            task_id = _id_of(value)
            fields = {"task_id": task_id, "reason": str(error)}
            log.warning("write unanswered", extra=fields)
            return Unknown(str(error))

    return answer


def _id_of(written: Task | Change | Removal) -> str:
    match written:
        case Task():
            return written.id
        case Removal():
            return written.task.id
    return written.task_id

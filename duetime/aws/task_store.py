"""Tasks in DynamoDB: the AWS backend's TaskStore.

A change is one conditional UpdateItem. Every conditional write asks for the item that stood in
its way, so that a refusal needs no second read, and an SDK's repetition of a write that had
succeeded is known by its own traces.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lambdas.aws import schema, texts
from lambdas.aws.dead import death_attributes, read_deaths
from lambdas.aws.expressions import update
from lambdas.aws.fan_out import FanOut
from lambdas.aws.items import encode_task
from lambdas.aws.listing import Lister, listing_bucket
from lambdas.aws.reader import TaskReader
from lambdas.aws.retention import removal_attributes
from lambdas.aws.rows import attempt_row, key_row, read_attempt, read_reservation
from lambdas.aws.table import IS_FREE, Table
from lambdas.aws.wake_index import read_bucket, read_few
from lambdas.core.change import Answer, Applied, Change, Refused, Unknown, Unreadable
from lambdas.core.dead import dead_page
from lambdas.core.errors import Corrupt, Unavailable
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Clock, DeadListing, Listing, Page, Reservation, Shards
from lambdas.core.retention import RETENTION
from lambdas.core.task import Attempt, Task
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind, bucket_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

T = TypeVar("T")

WAKES_PER_QUERY = 1_000


class DynamoTaskStore:
    """`shards` is asked by every list. Who writes stays with the count of the beginning: whatever
    was once a shard is read for ever."""

    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        shards: Callable[[], Shards],
        clock: Clock,
        retention: Millis = RETENTION,
        fan_out: FanOut | None = None,
        wakes_per_query: int = WAKES_PER_QUERY,
    ) -> None:
        self._table = Table(client, table)
        self._shards = shards
        self._spread = shards().count  # over which shards it writes
        self._clock = clock
        self._retention = retention
        self._fan_out = fan_out or FanOut()
        self._wakes_per_query = wakes_per_query
        self._reader = TaskReader(client, table)
        self._lister = Lister(self._table, self._fan_out, self._reader.readable)

    def close(self) -> None:
        self._fan_out.close()

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self._fan_out.each(_answered(self._put), tasks)

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        return self._reader.tasks(task_ids)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return self._fan_out.each(_answered(self._apply), changes)

    def set_aside(self, change: Change) -> None:
        self._table.update_if(update(change, self._spread, self._retention).parameters)

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        return read_bucket(self._table, bucket_of(minute, shard), kind, self._wakes_per_query)

    def few_wakes(self, limit: int) -> list[Wake] | None:
        return read_few(self._table, limit)

    def page(self, listing: Listing) -> Page:
        return self._lister.page(listing, shards=self._shards(), now=self._clock.now())

    def dead(self, listing: DeadListing) -> Page:
        read = partial(read_deaths, self._table, self._fan_out, self._shards().count)
        return dead_page(listing, read, self._reader.readable)

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
        return self._fan_out.each(lambda wanted: self._reserve(wanted, now), reservations)

    def _put(self, task: Task) -> Answer:
        """The first to name an id keeps it; the loser learns what stands there."""
        item, beside = encode_task(task, listing_bucket(task, self._spread))
        if task.status is Status.DEAD:
            item |= death_attributes(task.id, task.updated_at, self._spread)
        item |= removal_attributes(task, self._retention)
        self._put_texts(task.id, beside)
        standing, made = self._table.put_if(item, IS_FREE, {})
        if made:
            return Applied(task)
        if standing is None:
            return Refused(None)
        [there] = self._reader.decode([standing])
        return Applied(there) if there.token == task.token else Refused(there)

    def _apply(self, change: Change) -> Answer:
        wanted = update(change, self._spread, self._retention)
        self._put_texts(change.task_id, wanted.beside)
        item, made = self._table.update_if(wanted.parameters)
        if item is None:
            return Refused(None)
        [task] = self._reader.decode([item])
        return Applied(task) if made or change.stands_in(task) else Refused(task)

    def _put_texts(self, task_id: str, beside: Mapping[str, str]) -> None:
        """Before the item that refers to them: a reader never finds a reference to nothing."""
        if not beside:
            return
        pk = schema.task_pk(task_id)
        for sk, text in beside.items():
            self._table.put(texts.row(pk, sk, text))
        self._reader.remember(pk, beside)

    def _reserve(self, wanted: Reservation, now: Millis) -> Reservation:
        """Of two submissions with one key the second learns the first one's task id."""
        standing, made = self._table.put_if(
            key_row(wanted),
            f"{IS_FREE} OR {schema.EXPIRES_AT} <= :now",
            {":now": {"N": str(now)}},
        )
        if made:
            return wanted
        if standing is None:  # it has just been removed as expired
            return self._reserve(wanted, now)
        return read_reservation(wanted.namespace, wanted.key, standing)


def _answered(write: Callable[[T], Answer]) -> Callable[[T], Answer]:
    """Whatever ails one write is its own answer: the others of its batch were made, and who
    asked for them must learn so. A task that cannot be read may have been written all the same."""

    def answer(value: T) -> Answer:
        try:
            return write(value)
        except Corrupt as error:
            return Unreadable(str(error))
        except Unavailable as error:
            log.warning("no answer: %s", error)
            return Unknown(str(error))

    return answer

"""Tasks newest first: UTC day by day backwards, each day merged from its shards."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from lambdas.aws import schema
from lambdas.aws.fan_out import FanOut
from lambdas.aws.items import Item
from lambdas.aws.newest import Keys, merged, newest_rows
from lambdas.aws.table import Table
from lambdas.core.ids import is_id
from lambdas.core.ports import Listing, Page, Shards
from lambdas.core.task import Task
from lambdas.core.times import DAY, MINUTE, SECOND, Millis
from lambdas.core.values import value
from lambdas.core.wakes import shard_of

MOST_ROUNDS = 32  # of queries that one page may make
MOST_TASKS = 500  # that one page may look at
SKEW: Millis = 5 * MINUTE  # between the clocks of those who write


def listing_bucket(task: Task, shards: int) -> str:
    return _bucket(task.spec.namespace, task.created_at // DAY, shard_of(task.id, shards))


@value(frozen=True, kw_only=True, slots=True)
class Place:
    """How far a list has been read: down to a day, and there down to an id."""

    day: int
    below: str | None = None

    def cursor(self) -> str:
        return urlsafe_b64encode(f"{self.day}/{self.below or ''}".encode()).decode()


def place_of(cursor: str, *, latest: int) -> Place:
    try:
        day, _, below = urlsafe_b64decode(cursor.encode()).decode().partition("/")
        place = Place(day=int(day), below=below or None)
    except ValueError:
        raise ValueError("not a cursor of this list") from None
    known = place.below is None or is_id(place.below)
    if not known or place.cursor() != cursor or not 0 <= place.day <= latest:
        raise ValueError("not a cursor of this list")
    return place


class Lister:
    def __init__(
        self, table: Table, fan_out: FanOut, load: Callable[[Sequence[str]], Mapping[str, Task]]
    ) -> None:
        self._table = table
        self._fan_out = fan_out
        self._load = load

    def page(self, listing: Listing, *, shards: Shards, now: Millis) -> Page:
        latest, oldest = (now + SKEW) // DAY, (shards.since - SKEW) // DAY
        place = place_of(listing.cursor, latest=latest) if listing.cursor else Place(day=latest)
        found: list[Task] = []
        looked_at = 0
        for _ in range(MOST_ROUNDS):
            if place.day < oldest:
                return Page(tasks=found, cursor=None)
            ids, more = self._ids(listing, place, shards.count)
            tasks = self._load(ids)
            looked_at += len(ids)
            for task_id in ids:
                place = Place(day=place.day, below=task_id)
                task = tasks.get(task_id)
                if task is not None and listing.wants(task):
                    found.append(task)
                if len(found) == listing.limit:
                    return Page(tasks=found, cursor=place.cursor())
            if not more:
                place = Place(day=place.day - 1)
            if looked_at >= MOST_TASKS:
                break
        return Page(tasks=found, cursor=place.cursor())

    def _ids(self, listing: Listing, place: Place, shards: int) -> Keys:
        """The next ids of a day, newest first, and whether the day may hold more."""
        share = listing.limit // shards + 2
        # A run that was put before midnight for a time after it is in the bucket of the day before.
        below = min((i for i in (place.below, listing.below) if i is not None), default=None)
        return merged(
            self._fan_out.each(
                lambda shard: self._shard_ids(
                    _bucket(listing.namespace, place.day, shard), below, share
                ),
                range(shards),
            )
        )

    def _shard_ids(self, bucket: str, below: str | None, share: int) -> Keys:
        condition, values = f"{schema.LISTING_BUCKET} = :bucket", {":bucket": bucket}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.task_pk(below)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, share)
        return [_id(row) for row in rows], more


def _bucket(namespace: str, day: int, shard: int) -> str:
    return f"{namespace}#{datetime.fromtimestamp(day * DAY // SECOND, UTC):%Y%m%d}#{shard:02d}"


def _id(row: Item) -> str:
    return schema.task_id_of(row[schema.PK]["S"])

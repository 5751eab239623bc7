"""Schedules in DynamoDB: the AWS backend's ScheduleStore.

A step of a schedule is one conditional UpdateItem that leaves the plan alone, so that it costs the
same whatever the payload. Only if another plan stands there the item is put as a whole.
"""

import logging
from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from lambdas.aws import schema, texts
from lambdas.aws.attributes import wake_attributes
from lambdas.aws.expressions import assigned
from lambdas.aws.fan_out import FanOut
from lambdas.aws.items import Item
from lambdas.aws.ledger_rows import read_page, write_entry
from lambdas.aws.newest import newest_rows
from lambdas.aws.schedule_items import (
    SEEN,
    Written,
    listing_bucket,
    plan_references,
    revision_of,
    schedule_key,
    written,
)
from lambdas.aws.schedule_reader import ScheduleReader
from lambdas.aws.table import IS_FREE, Table
from lambdas.core.change import Unknown, Unreadable
from lambdas.core.errors import Corrupt, Unavailable
from lambdas.core.ids import is_id
from lambdas.core.ports import Clock
from lambdas.core.schedules.ledger import Entry, LedgerPage
from lambdas.core.schedules.ports import (
    Differs,
    ScheduleAnswer,
    ScheduleListing,
    SchedulePage,
    Stands,
)
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

STILL_THERE = f"{schema.WAKE_BUCKET} = :bucket AND {schema.WAKE_KEY} = :key"
MOST_ROUNDS = 10  # of queries that one page may make
MOST_DELETED = 1_000  # rows of a ledger at once; time removes the rest


class DynamoScheduleStore:
    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        clock: Clock,
        fan_out: FanOut | None = None,
    ) -> None:
        self._table = Table(client, table)
        self._clock = clock
        self._fan_out = fan_out or FanOut()
        self._reader = ScheduleReader(client, table)

    def close(self) -> None:
        self._fan_out.close()

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        return self._fan_out.each(_answered(self._put), schedules)

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        return self._reader.readable(schedule_ids)

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        return self._reader.existing(schedule_ids)

    def delete(self, schedule_id: str) -> None:
        self._table.delete([schedule_key(schedule_id)])
        self._clear(f"what schedule {schedule_id} left", lambda: self._rows_beside(schedule_id))

    def set_aside(self, found: Wake, later: Wake) -> None:
        """Whoever moved the wake first knew better."""
        expression, values = assigned(wake_attributes(later))
        self._table.update_if(
            {
                "Key": schedule_key(found.task_id),
                "ConditionExpression": STILL_THERE,
                "UpdateExpression": expression,
                "ExpressionAttributeValues": values
                | {":bucket": {"S": found.bucket}, ":key": {"S": found.key}},
            }
        )

    def page(self, listing: ScheduleListing) -> SchedulePage:
        if listing.cursor is not None and not is_id(listing.cursor):
            raise ValueError("not a cursor of this list")
        below, found = listing.cursor, list[Schedule]()
        for _ in range(MOST_ROUNDS):
            ids, more = self._ids(listing.namespace, below, listing.limit)
            schedules = self._reader.readable(ids, status=listing.status)
            for schedule_id in ids:
                below = schedule_id
                if schedule_id in schedules:
                    found.append(schedules[schedule_id])
                if len(found) == listing.limit:
                    return SchedulePage(schedules=found, cursor=below)
            if not more:
                return SchedulePage(schedules=found, cursor=None)
        return SchedulePage(schedules=found, cursor=below)

    def note(self, entries: Sequence[Entry], now: Millis) -> None:
        self._fan_out.each(lambda entry: write_entry(self._table, entry, now), entries)

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        return read_page(self._table, schedule_id, below, limit, self._clock.now())

    def _put(self, schedule: Schedule) -> ScheduleAnswer:
        """Of two that replace the same revision the second learns what stands there."""
        wanted = written(schedule)
        if wanted.seen == 0:
            return self._put_whole(schedule, wanted, IS_FREE)
        standing, made = self._table.update_if(wanted.advance())
        if made:
            return Stands(schedule)
        if standing is None or wanted.stands_in(standing) or revision_of(standing) != wanted.seen:
            return self._answer(schedule, wanted, standing)
        answer = self._put_whole(schedule, wanted, SEEN)
        if isinstance(answer, Stands):
            self._clear("a plan that was replaced", lambda: _plan_rows(standing))
        return answer

    def _put_whole(self, schedule: Schedule, wanted: Written, condition: str) -> ScheduleAnswer:
        if wanted.beside is not None:  # before the item that refers to it
            pk = schema.schedule_pk(schedule.id)
            self._table.put(texts.row(pk, wanted.row, wanted.beside))
            self._reader.remember(pk, {wanted.row: wanted.beside})
        values = wanted.seen_value() if condition is SEEN else {}
        standing, made = self._table.put_if(wanted.item(), condition, values)
        return Stands(schedule) if made else self._answer(schedule, wanted, standing)

    def _answer(self, schedule: Schedule, wanted: Written, standing: Item | None) -> ScheduleAnswer:
        """To one who was refused."""
        if standing is None:
            return Differs(None)
        if wanted.stands_in(standing):
            return Stands(schedule)
        found = self._reader.decoded(standing)
        return Unreadable(str(found)) if isinstance(found, Corrupt) else Differs(found)

    def _ids(self, namespace: str, below: str | None, limit: int) -> tuple[list[str], bool]:
        condition = f"{schema.LISTING_BUCKET} = :bucket"
        values = {":bucket": listing_bucket(namespace)}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.schedule_pk(below)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, limit)
        return [schema.schedule_id_of(row[schema.PK]["S"]) for row in rows], more

    def _rows_beside(self, schedule_id: str) -> list[Item]:
        plans, ledger = (
            self._table.query(
                f"{schema.PK} = :schedule AND begins_with({schema.SK}, :kind)",
                {":schedule": schema.schedule_pk(schedule_id), ":kind": kind},
                ProjectionExpression=f"{schema.PK}, {schema.SK}",
                ConsistentRead=True,
            )
            for kind in (schema.PLAN_PREFIX, schema.LEDGER_PREFIX)
        )
        return list(chain(plans, islice(ledger, MOST_DELETED)))

    def _clear(self, what: str, rows: Callable[[], Sequence[Item]]) -> None:
        """Nobody refers to it any more, so nobody is harmed if it stays."""
        try:
            self._table.delete(rows())
        except Unavailable as error:
            log.warning("%s stays: %s", what, error)


def _plan_rows(item: Item) -> list[Item]:
    return [{schema.PK: item[schema.PK], schema.SK: {"S": sk}} for sk in plan_references(item)]


def _answered(write: Callable[[Schedule], ScheduleAnswer]) -> Callable[[Schedule], ScheduleAnswer]:
    """Whatever ails one write is its own answer: the others of its batch were made."""

    def answer(schedule: Schedule) -> ScheduleAnswer:
        try:
            return write(schedule)
        except Unavailable as error:
            log.warning("no answer: %s", error)
            return Unknown(str(error))

    return answer

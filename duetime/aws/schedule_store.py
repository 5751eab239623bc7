"""Schedules in DynamoDB: the AWS backend's ScheduleStore.

A step of a schedule is one conditional UpdateItem that leaves the plan alone, so its cost does not
depend on the payload. Only if the stored plan is another one the whole item is put.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.app_items import Fence, apps_in, apps_item, generations_item
from duetime.aws.ledger_rows import read_page, write_entry
from duetime.aws.listing import Keys, merge_shards, newest_rows
from duetime.aws.namespaces import Namespaces
from duetime.aws.overflow import text_row
from duetime.aws.parallel import ParallelCalls
from duetime.aws.revised_items import SEEN, move_wake, revision_of, seen_value, to_answer
from duetime.aws.schedule_items import (
    ScheduleReader,
    ScheduleWrite,
    listing_bucket,
    plan_references,
    revision_in,
    schedule_key,
    schedule_write,
)
from duetime.aws.table import KEY_IS_FREE, CheckFailed, Table
from duetime.aws.task_items import Item
from duetime.core.change import Applied, Refused, Unreadable
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.ids import is_id
from duetime.core.ports import Clock
from duetime.core.schedules.apps import Apps, Superseded
from duetime.core.schedules.ledger import Entry, LedgerPage
from duetime.core.schedules.ports import ScheduleAnswer, ScheduleListing, SchedulePage
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.wakes import Wake

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

MAX_QUERY_ROUNDS = 10  # of queries for one page
MAX_LEDGER_DELETES = 1_000  # with the schedule; DynamoDB removes the rest by their TTL


class DynamoScheduleStore:
    def __init__(
        self,
        client: "DynamoDBClient",
        table: str,
        *,
        clock: Clock,
        parallel: ParallelCalls | None = None,
    ) -> None:
        self._table = Table(client, table)
        self._clock = clock
        self._parallel = parallel or ParallelCalls()
        self._reader = ScheduleReader(client, table)
        self._namespaces = Namespaces(self._table)

    def close(self) -> None:
        self._parallel.close()

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        return self._parallel.each(to_answer("schedule", self._put), schedules)

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        return self._reader.readable(schedule_ids)

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        return self._reader.existing(schedule_ids)

    def delete(self, schedule_id: str) -> None:
        rows = self._rows_beside(schedule_id)
        self._table.delete([schedule_key(schedule_id)])
        self._clear(schedule_id, lambda: rows)

    def put_declared(self, schedule: Schedule) -> ScheduleAnswer:
        """The check and the write are one transaction, so of two generations of an app only the
        newer can write, from the moment it begins."""
        declared = schedule.plan.declared
        if declared is None:
            raise ValueError(f"schedule {schedule.id} is not declared in code")
        fence = Fence(app=declared.app, generation=declared.generation)

        def put(schedule: Schedule) -> ScheduleAnswer:
            return self._put_fenced(schedule, fence)

        return to_answer("schedule", put)(schedule)

    def delete_declared(self, schedule: Schedule, generation: int) -> ScheduleAnswer:
        app = schedule.plan.declared.app if schedule.plan.declared else ""
        fence = Fence(app=app, generation=generation)
        parameters = {
            "Key": schedule_key(schedule.id),
            "ConditionExpression": f"{SEEN} OR {KEY_IS_FREE}",
            "ExpressionAttributeValues": seen_value(schedule.revision),
        }

        def delete(schedule: Schedule) -> ScheduleAnswer:
            rows = self._rows_beside(schedule.id)
            existing, made = self._fenced(fence, "Delete", parameters)
            if not made and existing is not None:
                return self._refuse(existing)
            self._clear(schedule.id, lambda: rows)
            return Applied(schedule)

        return to_answer("schedule", delete)(schedule)

    def apps(self) -> Apps:
        item = self._table.get(*schema.APPS)
        return Apps() if item is None else apps_in(item)

    def put_apps(self, apps: Apps) -> bool:
        """Of two writers that replace the same revision the second has to read again."""
        parameters: dict[str, Any] = {"Item": apps_item(apps), "ConditionExpression": KEY_IS_FREE}
        if apps.revision > 1:
            parameters["ConditionExpression"] = SEEN
            parameters["ExpressionAttributeValues"] = seen_value(apps.revision - 1)
        generations = {"Put": {"Item": generations_item(apps)}}
        existing, made = self._table.transact(generations, "Put", parameters)
        return made or (existing is not None and apps_in(existing) == apps)

    def _fenced(
        self, fence: Fence, verb: str, parameters: dict[str, Any]
    ) -> tuple[Item | None, bool]:
        try:
            return self._table.transact(fence.check, verb, parameters)
        except CheckFailed:
            raise Superseded(fence.app, fence.generation) from None

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._table.update_if(move_wake(schedule_key(found.task_id), found, later))

    def page(self, listing: ScheduleListing) -> SchedulePage:
        if listing.cursor is not None and not is_id(listing.cursor):
            raise ValueError("not a cursor of this list")
        below, found = listing.cursor, list[Schedule]()
        name = listing.namespace
        names = self._namespaces.read() if name is None else [name]
        for _ in range(MAX_QUERY_ROUNDS):
            ids, more = self._ids(names, below, listing.limit)
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

    def write_ledger(self, entries: Sequence[Entry], now: Millis) -> None:
        self._parallel.each(lambda entry: write_entry(self._table, entry, now), entries)

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        return read_page(self._table, schedule_id, below, limit, self._clock.now())

    def _put(self, schedule: Schedule) -> ScheduleAnswer:
        """Of two writers that replace the same revision the second learns what is stored."""
        wanted = schedule_write(schedule)
        if wanted.seen == 0:
            self._namespaces.note(schedule.plan.namespace)
            return self._put_whole(schedule, wanted, KEY_IS_FREE)
        existing, made = self._table.update_if(wanted.advance())
        if made:
            return Applied(schedule)
        if existing is None or wanted.already_in(existing) or revision_of(existing) != wanted.seen:
            return self._answer(schedule, wanted, existing)
        answer = self._put_whole(schedule, wanted, SEEN)
        if isinstance(answer, Applied):
            self._clear(schedule.id, lambda: _plan_rows(existing))
        return answer

    def _put_fenced(self, schedule: Schedule, fence: Fence) -> ScheduleAnswer:
        wanted = schedule_write(schedule)
        if wanted.seen == 0:
            self._namespaces.note(schedule.plan.namespace)
        self._put_overflow(wanted)
        parameters: dict[str, Any] = {"Item": wanted.item(), "ConditionExpression": KEY_IS_FREE}
        if wanted.seen:
            parameters["ConditionExpression"] = SEEN
            parameters["ExpressionAttributeValues"] = seen_value(wanted.seen)
        existing, made = self._fenced(fence, "Put", parameters)
        if not made:
            return self._answer(schedule, wanted, existing)
        if wanted.seen:
            self._clear(schedule.id, lambda: self._plans_before(wanted))
        return Applied(schedule)

    def _put_whole(
        self, schedule: Schedule, wanted: ScheduleWrite, condition: str
    ) -> ScheduleAnswer:
        self._put_overflow(wanted)
        values = seen_value(wanted.seen) if condition is SEEN else {}
        existing, made = self._table.put_if(wanted.item(), condition, values)
        return Applied(schedule) if made else self._answer(schedule, wanted, existing)

    def _put_overflow(self, wanted: ScheduleWrite) -> None:
        """Puts a long plan, before the item that refers to it."""
        if wanted.overflow is not None:
            pk = schema.schedule_pk(wanted.id)
            self._table.put(text_row(pk, wanted.row, wanted.overflow))
            self._reader.remember(pk, {wanted.row: wanted.overflow})

    def _answer(
        self, schedule: Schedule, wanted: ScheduleWrite, existing: Item | None
    ) -> ScheduleAnswer:
        """Answers a write that failed its condition; Applied if it had been made before."""
        if existing is None:
            return Refused(None)
        if wanted.already_in(existing):
            return Applied(schedule)
        return self._refuse(existing)

    def _refuse(self, existing: Item) -> ScheduleAnswer:
        found = self._reader.decoded(existing)
        return Unreadable(str(found)) if isinstance(found, Corrupt) else Refused(found)

    def _ids(self, namespaces: Sequence[str], below: str | None, limit: int) -> Keys:
        """Returns the next ids, newest first, and whether there may be more."""
        share = limit if len(namespaces) == 1 else limit // len(namespaces) + 2
        return merge_shards(
            self._parallel.each(lambda name: self._ids_in(name, below, share), namespaces)
        )

    def _ids_in(self, namespace: str, below: str | None, limit: int) -> Keys:
        condition = f"{schema.LISTING_BUCKET} = :bucket"
        values = {":bucket": listing_bucket(namespace)}
        if below is not None:
            condition += f" AND {schema.PK} < :below"
            values[":below"] = schema.schedule_pk(below)
        rows, more = newest_rows(self._table, schema.LISTING_INDEX, condition, values, limit)
        return [schema.schedule_id_of(row[schema.PK]["S"]) for row in rows], more

    def _rows_beside(self, schedule_id: str) -> list[Item]:
        """Returns the rows to delete with a schedule. They are read before it is deleted: a new
        schedule may get the same id, and its rows stay. If this fails they only cost storage."""
        plans = self._rows_of_kind(schedule_id, schema.PLAN_PREFIX)
        ledger = self._rows_of_kind(schedule_id, schema.LEDGER_PREFIX)
        try:
            return list(chain(plans, islice(ledger, MAX_LEDGER_DELETES)))
        except Unavailable as error:
            fields = {"schedule_id": schedule_id, "reason": str(error)}
            log.warning("rows not deleted", extra=fields)
            return []

    def _rows_of_kind(self, schedule_id: str, kind: str) -> Iterator[Item]:
        return self._table.query(
            f"{schema.PK} = :schedule AND begins_with({schema.SK}, :kind)",
            {":schedule": schema.schedule_pk(schedule_id), ":kind": kind},
            ProjectionExpression=f"{schema.PK}, {schema.SK}",
            ConsistentRead=True,
        )

    def _plans_before(self, wanted: ScheduleWrite) -> list[Item]:
        """Returns the rows of plans that this write has replaced: nothing refers to them again."""
        return [
            row
            for row in self._rows_of_kind(wanted.id, schema.PLAN_PREFIX)
            if revision_in(row[schema.SK]["S"]) <= wanted.seen
        ]

    def _clear(self, schedule_id: str, rows: Callable[[], Sequence[Item]]) -> None:
        """Delete rows that nothing refers to any more; if this fails they only cost storage."""
        try:
            self._table.delete(rows())
        except Unavailable as error:
            fields = {"schedule_id": schedule_id, "reason": str(error)}
            log.warning("rows not deleted", extra=fields)


def _plan_rows(item: Item) -> list[Item]:
    return [{schema.PK: item[schema.PK], schema.SK: {"S": sk}} for sk in plan_references(item)]

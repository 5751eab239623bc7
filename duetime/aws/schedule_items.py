"""Schedules as DynamoDB items.

A plan seldom changes and may be long, so it is written only when it changes; a plan that does not
fit the item gets a row of its own. The row's name contains a digest of the plan, the revision that
wrote it, and when the schedule was created. So the name shows whether the plan is still the same,
and nothing refers to the row of a replaced plan ever again: it can be deleted.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.item_reader import ItemReader, pk_of, texts_of
from duetime.aws.overflow import Texts, digest, fits, references, resolve
from duetime.aws.revised_items import SEEN, present, seen_value
from duetime.aws.task_items import Attributes, Item, number_in, wake_attributes, wake_in
from duetime.aws.update_expressions import assignments
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.schedules.codec import decode_plan, decode_state, encode_plan, encode_state
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.value import value

log = logging.getLogger(__name__)

PLAN_LIMIT = 512  # so that an ordinary schedule stays below 1 KB


@value(frozen=True, kw_only=True, slots=True)
class ScheduleWrite:
    """A schedule to be written."""

    id: str
    seen: int  # the revision that it replaces; 0 if it is new
    hot: Attributes  # the attributes that every step writes
    cold: dict[str, dict[str, Any]]  # the attributes that only a new plan changes
    plan: str  # in the item; the revision of an overflow row is missing
    overflow: str | None  # the plan, if it gets a row of its own

    @property
    def key(self) -> dict[str, dict[str, Any]]:
        return schedule_key(self.id)

    @property
    def row(self) -> str:
        """The sort key of the row of a new, long plan. A schedule that is created again under the
        id of a deleted one has another time of creation, and so another row."""
        return f"{self.plan[1:]}{self.seen + 1}.{self.cold[schema.CREATED_AT]['N']}"

    def already_in(self, item: Item) -> bool:
        rest = {name: value for name, value in item.items() if name != schema.PLAN}
        return rest == self.key | self.cold | present(self.hot) and self.has_same_plan(item)

    def has_same_plan(self, item: Item) -> bool:
        """A prefix is enough: of two JSON objects neither can be a proper prefix of the other."""
        return bool(item[schema.PLAN]["S"].startswith(self.plan))

    def item(self) -> dict[str, dict[str, Any]]:
        """Returns the whole item, with a new plan."""
        plan = self.plan if self.overflow is None else f"@{self.row}"
        return self.key | self.cold | present(self.hot) | {schema.PLAN: {"S": plan}}

    def advance(self) -> dict[str, Any]:
        """Returns the parameters of an update that requires the same plan and leaves it alone."""
        expression, values = assignments(self.hot)
        return {
            "Key": self.key,
            "ConditionExpression": f"{SEEN} AND begins_with({schema.PLAN}, :plan)",
            "UpdateExpression": expression,
            "ExpressionAttributeValues": values
            | seen_value(self.seen)
            | {":plan": {"S": self.plan}},
        }


def schedule_write(schedule: Schedule) -> ScheduleWrite:
    plan = encode_plan(schedule.plan)
    short = fits(plan, PLAN_LIMIT)
    next_at = None if schedule.next_at is None else {"N": str(schedule.next_at)}
    return ScheduleWrite(
        id=schedule.id,
        seen=schedule.revision - 1,
        hot={
            schema.STATUS: {"S": schedule.status.value},
            schema.VERSION: {"N": str(schedule.version)},
            schema.REVISION: {"N": str(schedule.revision)},
            schema.UPDATED_AT: {"N": str(schedule.updated_at)},
            schema.NEXT_AT: next_at,
            schema.STATE: {"S": encode_state(schedule)},
            **wake_attributes(schedule.wake),
        },
        cold={
            schema.LISTING_BUCKET: {"S": listing_bucket(schedule.plan.namespace)},
            schema.CREATED_AT: {"N": str(schedule.created_at)},
        },
        plan=plan if short else f"@{schema.PLAN_PREFIX}{digest(plan)}#",
        overflow=None if short else plan,
    )


def listing_bucket(namespace: str) -> str:
    """One bucket for all schedules of a namespace: few are created. It cannot collide with a bucket
    of tasks, which ends with a day and a shard: no namespace contains a `#`."""
    return f"{namespace}#schedules"


def schedule_key(schedule_id: str) -> dict[str, dict[str, Any]]:
    pk = schema.schedule_pk(schedule_id)
    return {schema.PK: {"S": pk}, schema.SK: {"S": schema.SCHEDULE}}


def revision_in(row: str) -> int:
    """Returns the revision that wrote the row of a plan. Earlier releases wrote only that."""
    return int(row.rpartition("#")[2].partition(".")[0])


def status_of(item: Item) -> str | None:
    return item[schema.STATUS]["S"] if schema.STATUS in item else None


def plan_references(item: Item) -> list[str]:
    return references([item.get(schema.PLAN, {}).get("S", "")])


def decode_schedule(item: Item, texts: Texts) -> Schedule:
    pk = item[schema.PK]["S"]
    try:
        return Schedule(
            id=schema.schedule_id_of(pk),
            plan=decode_plan(resolve(item[schema.PLAN]["S"], texts)),
            status=ScheduleStatus(item[schema.STATUS]["S"]),
            version=int(item[schema.VERSION]["N"]),
            revision=int(item[schema.REVISION]["N"]),
            created_at=int(item[schema.CREATED_AT]["N"]),
            updated_at=int(item[schema.UPDATED_AT]["N"]),
            next_at=number_in(item, schema.NEXT_AT),
            wake=wake_in(item),
            **decode_state(item[schema.STATE]["S"]),
        )
    except UNREADABLE as error:
        raise Corrupt(pk, repr(error)) from error


class ScheduleReader(ItemReader):
    def readable(
        self, schedule_ids: Iterable[str], status: ScheduleStatus | None = None
    ) -> dict[str, Schedule]:
        """Returns the schedules that can be read, in one status or in any, and logs the others."""
        found = self._read(dict.fromkeys(schedule_ids), status)
        for schedule_id, schedule in found.items():
            if isinstance(schedule, Corrupt):
                fields = {"schedule_id": schedule_id, "reason": str(schedule)}
                log.error("schedule skipped: unreadable", extra=fields)
        return {i: s for i, s in found.items() if isinstance(s, Schedule)}

    def existing(self, schedule_ids: Iterable[str]) -> set[str]:
        return {schema.schedule_id_of(pk_of(item)) for item in self._items(schedule_ids)}

    def decoded(self, item: Item) -> Schedule | Corrupt | None:
        """Decodes an item; if its plan is missing, reads the schedule that has replaced it."""
        [(schedule_id, found)] = self._decode([item]).items()
        if isinstance(found, Corrupt) and plan_references(item):
            return self._read([schedule_id]).get(schedule_id)
        return found

    def _read(
        self, ids: Iterable[str], status: ScheduleStatus | None = None
    ) -> dict[str, Schedule | Corrupt]:
        """Reads schedules that seem to lack their plan a second time: the plan may have been
        replaced between the read of the item and the read of the plan."""
        found = self._read_once(ids, status)
        broken = [i for i, schedule in found.items() if isinstance(schedule, Corrupt)]
        again = self._read_once(broken, status)
        return {i: s for i, s in found.items() if i not in broken} | again

    def _read_once(
        self, ids: Iterable[str], status: ScheduleStatus | None
    ) -> dict[str, Schedule | Corrupt]:
        items = self._items(ids)
        return self._decode([item for item in items if status in (None, status_of(item))])

    def _items(self, ids: Iterable[str]) -> Iterator[Item]:
        keys = [(schema.schedule_pk(i), schema.SCHEDULE) for i in dict.fromkeys(ids)]
        return self.items(keys, consistent=True)

    def _decode(self, items: Sequence[Item]) -> dict[str, Schedule | Corrupt]:
        keys = [(pk_of(item), sk) for item in items for sk in plan_references(item)]
        texts = self.texts(dict.fromkeys(keys)) if keys else {}
        return {
            schema.schedule_id_of(pk_of(item)): _try_decoding(
                item, texts_of(item, plan_references(item), texts)
            )
            for item in items
        }


def _try_decoding(item: Item, texts: Mapping[str, str]) -> Schedule | Corrupt:
    try:
        return decode_schedule(item, texts)
    except Corrupt as error:
        return error

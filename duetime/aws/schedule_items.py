"""A schedule as a DynamoDB item.

Its plan seldom changes and may be long, so it is written only when it does: as a row of its own if
it does not fit. That row is named by its text and by the revision that brought it. So a schedule
tells by the name whether its plan is still the one it was given, and once a plan has been replaced
nothing can ever refer to its row again: it may be deleted.
"""

from typing import Any

from lambdas.aws import schema
from lambdas.aws.attributes import Attributes, wake_attributes
from lambdas.aws.expressions import assigned
from lambdas.aws.items import Item, number_in, wake_in
from lambdas.aws.texts import Texts, digest, fits, references, whole
from lambdas.core.errors import UNREADABLE, Corrupt
from lambdas.core.schedules.codec import decode_plan, decode_state, encode_plan, encode_state
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.values import value

PLAN_LIMIT = 512  # an ordinary schedule stays below 1 KB
SEEN = f"{schema.REVISION} = :seen"


@value(frozen=True, kw_only=True, slots=True)
class Written:
    """A schedule, as it is to stand."""

    id: str
    seen: int  # the revision that it replaces; 0: nothing
    hot: Attributes  # what every step writes
    cold: dict[str, dict[str, Any]]  # what follows from the plan, or never changes
    plan: str  # what stands for it in the item, but for the revision of a row of its own
    beside: str | None  # the plan, if that is a row of its own

    @property
    def key(self) -> dict[str, dict[str, Any]]:
        return schedule_key(self.id)

    @property
    def row(self) -> str:
        """The sort key of a plan that is new, and long."""
        return f"{self.plan[1:]}{self.seen + 1}"

    def stands_in(self, item: Item) -> bool:
        rest = {name: value for name, value in item.items() if name != schema.PLAN}
        return rest == self.key | self.cold | _present(self.hot) and self.keeps_plan(item)

    def keeps_plan(self, item: Item) -> bool:
        """A text that begins with another, and both are JSON objects: they are the same."""
        return bool(item[schema.PLAN]["S"].startswith(self.plan))

    def item(self) -> dict[str, dict[str, Any]]:
        """With a plan that is new."""
        plan = self.plan if self.beside is None else f"@{self.row}"
        return self.key | self.cold | _present(self.hot) | {schema.PLAN: {"S": plan}}

    def advance(self) -> dict[str, Any]:
        """The parameters of an update of everything but the plan, provided that it is the same."""
        expression, values = assigned(self.hot)
        return {
            "Key": self.key,
            "ConditionExpression": f"{SEEN} AND begins_with({schema.PLAN}, :plan)",
            "UpdateExpression": expression,
            "ExpressionAttributeValues": values | self.seen_value() | {":plan": {"S": self.plan}},
        }

    def seen_value(self) -> dict[str, dict[str, str]]:
        return {":seen": {"N": str(self.seen)}}


def written(schedule: Schedule) -> Written:
    plan = encode_plan(schedule.plan)
    short = fits(plan, PLAN_LIMIT)
    next_at = None if schedule.next_at is None else {"N": str(schedule.next_at)}
    return Written(
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
        beside=None if short else plan,
    )


def listing_bucket(namespace: str) -> str:
    """All of a namespace: they are made seldom. The bucket of a task ends with a day and a shard,
    and no namespace has a `#` in it."""
    return f"{namespace}#schedules"


def schedule_key(schedule_id: str) -> dict[str, dict[str, Any]]:
    pk = schema.schedule_pk(schedule_id)
    return {schema.PK: {"S": pk}, schema.SK: {"S": schema.SCHEDULE}}


def revision_of(item: Item) -> int | None:
    return number_in(item, schema.REVISION)


def status_of(item: Item) -> str | None:
    return item[schema.STATUS]["S"] if schema.STATUS in item else None


def plan_references(item: Item) -> list[str]:
    return references([item.get(schema.PLAN, {}).get("S", "")])


def decode_schedule(item: Item, texts: Texts) -> Schedule:
    pk = item[schema.PK]["S"]
    try:
        return Schedule(
            id=schema.schedule_id_of(pk),
            plan=decode_plan(whole(item[schema.PLAN]["S"], texts)),
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


def _present(attributes: Attributes) -> dict[str, dict[str, Any]]:
    return {name: value for name, value in attributes.items() if value is not None}

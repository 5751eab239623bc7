"""Items that a writer replaces if it has read the stored revision: schedules, runs, workflows."""

import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from duetime.aws import schema
from duetime.aws.task_items import Attributes, Item, number_in, wake_attributes
from duetime.aws.update_expressions import assignments
from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.wakes import Wake

log = logging.getLogger(__name__)

SEEN = f"{schema.REVISION} = :seen"
STILL_THERE = f"{schema.WAKE_BUCKET} = :bucket AND {schema.WAKE_KEY} = :key"

Key = dict[str, dict[str, Any]]
A = TypeVar("A")


class Row(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=Row)


def seen_value(revision: int) -> dict[str, dict[str, str]]:
    """Returns the value that SEEN compares."""
    return {":seen": {"N": str(revision)}}


def revision_of(item: Item) -> int | None:
    return number_in(item, schema.REVISION)


def present(attributes: Attributes) -> dict[str, dict[str, Any]]:
    return {name: value for name, value in attributes.items() if value is not None}


def move_wake(key: Key, found: Wake, later: Wake) -> dict[str, Any]:
    """Returns the parameters of an update that moves a wake without reading its item. It is refused
    if the wake has been moved since it was read: then it is up to date."""
    expression, values = assignments(wake_attributes(later))
    return {
        "Key": key,
        "ConditionExpression": STILL_THERE,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": values
        | {":bucket": {"S": found.bucket}, ":key": {"S": found.key}},
    }


def to_answer(kind: str, write: Callable[[R], A]) -> Callable[[R], A | Unknown]:
    """Turns the failure of one write into its answer: the other writes of its batch were made."""

    def answer(row: R) -> A | Unknown:
        try:
            return write(row)
        except Unavailable as error:
            fields = {f"{kind}_id": row.id, "reason": str(error)}
            log.warning(f"{kind} write unanswered", extra=fields)
            return Unknown(str(error))

    return answer

"""An occurrence: one fire time of a schedule, turned into exactly one task."""

from enum import StrEnum
from hashlib import blake2b

from lambdas.core.ids import RANDOM_BITS, new_id
from lambdas.core.times import Millis
from lambdas.core.values import value


class OverlapPolicy(StrEnum):
    """What becomes of a run whose predecessor is not over yet."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"  # one waits
    CANCEL = "cancel"  # the older run


@value(frozen=True, kw_only=True, slots=True)
class Occurrence:
    """What a task keeps of the schedule that it comes from."""

    schedule_id: str
    scheduled_for: Millis
    version: int | None  # it starts only while the schedule stands in it; None: outside the rule
    overlap: OverlapPolicy = OverlapPolicy.ALLOW
    owes: bool = False  # whether something follows from its end: see core.schedules.ended
    name: str | None = None  # of the schedule
    open: bool = False  # whether names of the previous run are to be filled in when it starts


def occurrence_id(schedule_id: str, maker: str, fire_time: Millis) -> str:
    """The same id for the same fire time, whoever puts it and however often. `maker` tells apart
    the versions of the rule, and every backfill. It sorts by its fire time."""
    text = f"{schedule_id}/{maker}/{fire_time}"
    digest = blake2b(text.encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(fire_time, int.from_bytes(digest))

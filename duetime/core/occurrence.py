"""An occurrence: one fire time of a schedule, turned into exactly one task."""

from enum import StrEnum
from hashlib import blake2b

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.times import Millis
from duetime.core.value import value


class OverlapPolicy(StrEnum):
    """What happens to a run that comes due while an earlier run is still active."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"  # at most one run waits
    CANCEL = "cancel"  # the older run is cancelled


@value(frozen=True, kw_only=True, slots=True)
class Occurrence:
    """What a task stores about the schedule that created it."""

    schedule_id: str
    scheduled_for: Millis
    version: int | None  # it starts only in this version of the schedule; None: outside the rule
    overlap: OverlapPolicy = OverlapPolicy.ALLOW
    has_follow_up: bool = False  # see core.schedules.run_ended
    name: str | None = None  # of the schedule
    open: bool = False  # its template names the previous run, and is filled in at the start


def occurrence_id(schedule_id: str, maker: str, fire_time: Millis) -> str:
    """Returns the same id for the same fire time, so that only one task exists for it no matter
    how many roles put it how often. `maker` is the version of the rule or a backfill. Ids sort
    by fire time."""
    text = f"{schedule_id}/{maker}/{fire_time}"
    digest = blake2b(text.encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(fire_time, int.from_bytes(digest))

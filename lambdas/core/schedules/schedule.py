"""A schedule: its plan, and where it stands."""

from enum import StrEnum

from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.rules import Rules
from lambdas.core.schedules.plan import Plan
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind


class ScheduleStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    BROKEN = "broken"  # it cannot be evaluated
    FINISHED = "finished"  # it never fires again


MISSED = ""  # the span of the rule's own fire times; every other is a backfill


@value(frozen=True, kw_only=True, slots=True)
class Span:
    """Fire times that are run beside the ordinary course, at a pace: a backfill, or what was
    missed and is made up for."""

    id: str
    next_at: Millis  # no fire time before this is left
    until: Millis  # nor is one from here on part of it
    due_at: Millis  # when the next of them is to run
    interval: Millis  # between one and the next
    overlap: OverlapPolicy


@value(frozen=True, kw_only=True, slots=True)
class Schedule:
    id: str
    plan: Plan
    status: ScheduleStatus
    version: int  # of the rule: what has not started in an older one starts no more
    revision: int  # counts every write of the row
    created_at: Millis
    updated_at: Millis  # by a person: the scanner's own writes leave it alone
    since: Millis  # when its version began: fire times after that are this version's
    next_at: Millis | None  # the oldest fire time that is not settled; of a delay, None while a
    # run is awaited
    wake: Wake | None = None
    put_at: tuple[Millis, ...] = ()  # the last two fire times that became tasks
    runs: int = 0
    active: str | None = None  # the task that runs, if runs must not overlap; it may be over
    waiting: str | None = None  # the one that waits for it
    awaited: str | None = None  # the task after whose end a delay counts
    dead_runs: tuple[str, ...] = ()  # in a row, if they are counted
    spans: tuple[Span, ...] = ()
    note: str | None = None  # why it was paused
    last_error: str | None = None

    @property
    def due_at(self) -> Millis | None:
        """When the next occurrence is to run that is not yet a task."""
        times = [span.due_at for span in self.spans]
        if self.status is ScheduleStatus.ACTIVE and self.next_at is not None:
            times.append(self.next_at)
        return min(times, default=None)


def placed(rules: Rules, schedule: Schedule, now: Millis) -> Wake | None:
    """It wakes a horizon before its next occurrence, so that the occurrence becomes a task that
    is sent at once; never in the past, which would make it overdue."""
    if schedule.due_at is None:
        return None
    at = max(schedule.due_at - rules.horizon, now)
    return rules.wake(WakeKind.SCHEDULE, schedule.id, schedule.plan.lane, at, now=now)

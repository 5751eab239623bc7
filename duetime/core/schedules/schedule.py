"""A schedule: its plan, and where it stands."""

from dataclasses import replace
from enum import StrEnum

from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.rules import Rules
from lambdas.core.schedules.plan import Plan
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind


class ScheduleStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    BROKEN = "broken"  # it cannot be evaluated
    FINISHED = "finished"  # it never fires again


MISSED = ""  # the span of the rule's own fire times that never became tasks
LATE = "late"  # the span of those that did, and could not start in time; any other is a backfill
CHECKED_AFTER: Millis = 5 * MINUTE  # if nobody reports the end of a span's run, the scanner looks


@value(frozen=True, kw_only=True, slots=True)
class Span:
    """Fire times that run beside the ordinary course, at a pace: a backfill, or what was missed
    and is made up for. A serial span runs them one after another, in order."""

    id: str
    next_at: Millis  # no fire time before this is left
    until: Millis  # nor is one from here on part of it
    due_at: Millis  # when the next of them is to run; while one does, when to look after it
    interval: Millis  # between one start and the next
    overlap: OverlapPolicy  # ALLOW: not serial
    running: str | None = None  # of a serial span: the task whose end the next one waits for

    @property
    def own(self) -> bool:
        """Whether its fire times are the rule's own, and not those of a backfill."""
        return self.id in (MISSED, LATE)

    @property
    def serial(self) -> bool:
        return self.overlap is not OverlapPolicy.ALLOW

    def covers(self, fire_time: Millis) -> bool:
        return self.next_at <= fire_time < self.until

    def begun(self, task_id: str, now: Millis) -> "Span":
        return replace(self, running=task_id, due_at=now + CHECKED_AFTER)

    def freed(self, ended: Task | None, now: Millis) -> "Span":
        """Its run is over: the next one starts at the pace, counted from the start of that run."""
        started_at = ended.current.started_at if ended and ended.current else 0
        return replace(self, running=None, due_at=max(now, started_at + self.interval))


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
    active_since: Millis | None = None  # when it was let in
    waiting: tuple[str, ...] = ()  # the tasks that wait for its end, in the order of their turns
    awaited: str | None = None  # the task after whose end a delay counts
    dead_runs: tuple[str, ...] = ()  # in a row, if they are counted
    spans: tuple[Span, ...] = ()
    settled_until: Millis = (
        0  # with run_once, a fire time before this starts only if its span says so
    )
    note: str | None = None  # why it was paused
    last_error: str | None = None

    @property
    def turns(self) -> tuple[Span, ...]:
        """The spans whose turn it is: of those with the rule's own fire times, the first."""
        own = next((span for span in self.spans if span.own), None)
        return tuple(span for span in self.spans if span is own or not span.own)


def placed(rules: Rules, schedule: Schedule, now: Millis) -> Wake | None:
    """The wake comes a horizon before the next occurrence, so that the occurrence becomes a task
    that is sent at once; never in the past, which would make it overdue."""
    times = [s.due_at if s.running else s.due_at - rules.horizon for s in schedule.turns]
    if schedule.status is ScheduleStatus.ACTIVE and schedule.next_at is not None:
        times.append(schedule.next_at - rules.horizon)
    if not times:
        return None
    at = max(min(times), now)
    return rules.wake(WakeKind.SCHEDULE, schedule.id, schedule.plan.lane, at, now=now)

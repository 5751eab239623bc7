"""A schedule: its plan, and its state."""

from dataclasses import replace
from enum import StrEnum

from duetime.core.occurrence import OverlapPolicy
from duetime.core.schedules.plan import Plan
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind


class ScheduleStatus(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    BROKEN = "broken"  # its rule cannot be evaluated
    FINISHED = "finished"  # it never fires again


# Span ids. An occurrence of the rule itself belongs to OWN_RULE; a span with that id has the rule's
# fire times that never became tasks. Any id but these two is a backfill.
OWN_RULE = ""
LATE = "late"  # the rule's fire times that became tasks, but could not start in time
SPAN_CHECK_DELAY: Millis = 5 * MINUTE  # until the scanner checks a run whose end was not reported


@value(frozen=True, kw_only=True, slots=True)
class Span:
    """Fire times that run apart from the ordinary ones, at a pace: a backfill, or missed fire times
    that are caught up on. A serial span runs them one after another, in order."""

    id: str
    next_at: Millis  # the first fire time that is left, or before it
    until: Millis  # the end of the span, exclusive
    due_at: Millis  # when the next run starts; during a run, when the scanner checks it
    interval: Millis  # between two starts
    overlap: OverlapPolicy  # ALLOW: not serial
    running: str | None = None  # of a serial span: the task that the next run waits for

    @property
    def own(self) -> bool:
        """Whether its fire times are the rule's own, not a backfill's."""
        return self.id in (OWN_RULE, LATE)

    @property
    def serial(self) -> bool:
        return self.overlap is not OverlapPolicy.ALLOW

    def covers(self, fire_time: Millis) -> bool:
        return self.next_at <= fire_time < self.until

    def with_run(self, task_id: str, now: Millis) -> "Span":
        return replace(self, running=task_id, due_at=now + SPAN_CHECK_DELAY)

    def without_run(self, ended: Task | None, now: Millis) -> "Span":
        """Returns the span after the end of its run: the next run starts one interval after the
        start of that run, but not before now."""
        started_at = ended.current.started_at if ended and ended.current else 0
        return replace(self, running=None, due_at=max(now, started_at + self.interval))


@value(frozen=True, kw_only=True, slots=True)
class Schedule:
    id: str
    plan: Plan
    status: ScheduleStatus
    version: int  # of the rule: a run of an older version that has not started is not started
    revision: int  # counts the writes of the row
    created_at: Millis
    updated_at: Millis  # by a person; the scanner's writes do not change it
    since: Millis  # when the version began: it has the fire times after that
    next_at: Millis | None  # the oldest fire time not handled yet; None while a delay awaits a run
    wake: Wake | None = None
    put_at: tuple[Millis, ...] = ()  # the last two fire times that became tasks
    runs: int = 0
    active: str | None = None  # the running task, if runs must not overlap; it may have ended
    active_since: Millis | None = None  # when it was allowed to start
    waiting: tuple[str, ...] = ()  # the tasks that wait for the active one, in order
    awaited: str | None = None  # the task after whose end a delay counts
    dead_runs: tuple[str, ...] = ()  # in a row, if the plan counts them
    spans: tuple[Span, ...] = ()
    # With run_once, a fire time before this starts only if its span releases it.
    settled_until: Millis = 0
    note: str | None = None  # why it was paused
    paused_at: Millis | None = None
    paused_by: str | None = None  # None if Duetime paused it, or the caller is not known
    last_error: str | None = None

    @property
    def turns(self) -> tuple[Span, ...]:
        """The spans that may run now: the backfills, and the first of the rule's own spans."""
        own = next((span for span in self.spans if span.own), None)
        return tuple(span for span in self.spans if span is own or not span.own)


def next_wake(wake_policy: WakePolicy, schedule: Schedule, now: Millis) -> Wake | None:
    """Returns the wake of a schedule: a horizon before its next occurrence, so that the occurrence
    becomes a task that is enqueued at once. Never in the past, which would make the wake
    overdue."""
    times = [s.due_at if s.running else s.due_at - wake_policy.horizon for s in schedule.turns]
    if schedule.status is ScheduleStatus.ACTIVE and schedule.next_at is not None:
        times.append(schedule.next_at - wake_policy.horizon)
    if not times:
        return None
    at = max(min(times), now)
    return wake_policy.wake(WakeKind.SCHEDULE, schedule.id, schedule.plan.lane, at, now=now)

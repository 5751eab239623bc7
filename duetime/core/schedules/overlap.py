"""Overlap: whether an occurrence may start when an executor receives it.

The executor decides at the start, so that the decision depends on what is really running. A
schedule whose runs must not overlap names the active run, and the runs that wait for it, in order.
The overlap policy applies between ordinary runs of the rule: a triggered, backfilled or catch-up
run is never dropped, nor is a run that meets another only because both are late. These wait."""

from collections.abc import Mapping
from dataclasses import replace

from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.schedules.late_runs import decide_late_run
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.schedules.start_decisions import (
    CHANGED,
    DELETED,
    OVERLAP,
    PAUSED,
    Decision,
    Park,
    Skip,
    Start,
    Wait,
)
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value

MAX_WAITING = 100  # of one schedule; further runs check again later

Tasks = Mapping[str, Task]


def stale_reason(schedule: Schedule | None, occurrence: Occurrence) -> str | None:
    """Returns why an occurrence that has not started may not start any more; None if it may."""
    if schedule is None:
        return DELETED
    if occurrence.version in (None, schedule.version):
        return None
    return PAUSED if schedule.status is ScheduleStatus.PAUSED else CHANGED


@value(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An occurrence that is about to start."""

    task_id: str
    occurrence: Occurrence
    due_at: Millis
    starts_at: Millis  # when it would start, if it starts now
    horizon: Millis

    def decide(self, schedule: Schedule | None, tasks: Tasks) -> Decision:
        """Decides whether it starts. `tasks` has those that the schedule names, if they exist."""
        reason = stale_reason(schedule, self.occurrence)
        if schedule is None or reason is not None:
            return Skip(reason=reason or DELETED)
        if self._may_be_missed(schedule):
            missed = decide_late_run(schedule, self.occurrence, self.starts_at, self.horizon)
            if missed is not None:
                return self._give_up_place(schedule, missed)
        if self.occurrence.overlap is OverlapPolicy.ALLOW or schedule.active == self.task_id:
            return Start()
        return self._start_or_wait(schedule, tasks)

    def starts_freely(self, schedule: Schedule | None) -> bool:
        """Whether it may start by the schedule alone, and nothing has to be written."""
        allowed = self.occurrence.overlap is OverlapPolicy.ALLOW
        return allowed and self.decide(schedule, {}) == Start()

    def _may_be_missed(self, schedule: Schedule) -> bool:
        """Whether the misfire policy applies. It does not to a run outside the rule, to a run whose
        span has released it, to a catch-up run, or to a run that was in time and waits, as its
        overlap policy allows."""
        if _is_protected(schedule, self.task_id, self.occurrence) or self._is_catch_up(schedule):
            return False
        waits = self.task_id == schedule.active or self.task_id in schedule.waiting
        queues = self.occurrence.overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        return not (waits and queues)

    def _is_catch_up(self, schedule: Schedule) -> bool:
        """Whether it was put late on purpose, at the pace of a span that is not serial."""
        plan = schedule.plan
        late = self.due_at > self.occurrence.scheduled_for + plan.lateness
        return late and not plan.catches_up_in_order

    def _give_up_place(self, schedule: Schedule, missed: Skip | Park | Wait | Start) -> Decision:
        """Returns the decision about a missed run, without its place in the schedule."""
        left = _without(missed.schedule or schedule, self.task_id)
        return missed if left == schedule else replace(missed, schedule=left)

    def _start_or_wait(self, schedule: Schedule, tasks: Tasks) -> Decision:
        active = tasks.get(schedule.active or "")
        line = [t for i in schedule.waiting if (t := tasks.get(i)) and not t.status.finished]
        waiting = tuple(task.id for task in line)
        if active is not None and not active.status.finished:
            return self._meet_active(schedule, active, line)
        if not line or line[0].id == self.task_id:
            return Start(schedule=self._named(schedule, self.task_id, waiting))
        first = line[0]  # it has waited longer, and has not been enqueued yet
        full = len(waiting) > MAX_WAITING
        named = self._named(schedule, first.id, waiting if full else self._joined(waiting))
        return Wait(schedule=named, wakes=first.id, polls=full or not _reports_its_end(first))

    def _meet_active(self, schedule: Schedule, active: Task, line: list[Task]) -> Decision:
        """Decides while another run is active."""
        polls = not _reports_its_end(active)
        waiting = tuple(task.id for task in line)
        if self.task_id in waiting:
            return Wait(polls=polls)
        rivals = [task for task in line if self._is_rival(schedule, task)]
        cancels: tuple[str, ...] = ()
        if not self._has_to_wait(schedule):
            match self.occurrence.overlap:
                case OverlapPolicy.CANCEL:
                    going = [active] if self._is_rival(schedule, active) else []
                    cancels = tuple(task.id for task in (*going, *rivals))
                case OverlapPolicy.QUEUE if not rivals:
                    pass
                case _:
                    return Skip(reason=OVERLAP)
        if len(waiting) - len(cancels) >= MAX_WAITING:
            return Wait(polls=True)
        left = tuple(i for i in waiting if i not in cancels)
        joined = replace(schedule, waiting=self._joined(left))
        return Wait(schedule=joined, cancels=cancels, polls=polls)

    def _has_to_wait(self, schedule: Schedule) -> bool:
        """Whether it waits and is not dropped: it is protected, or the two runs would not have met
        if both had been in time."""
        protected = _is_protected(schedule, self.task_id, self.occurrence)
        since = schedule.active_since
        return protected or (since is not None and since >= self.due_at)

    def _is_rival(self, schedule: Schedule, other: Task) -> bool:
        """Whether the overlap policy decides between the two: the other is an ordinary run of the
        rule with an earlier fire time."""
        of = other.spec.occurrence
        if of is None or _is_protected(schedule, other.id, of):
            return False
        return of.scheduled_for < self.occurrence.scheduled_for

    def _named(self, schedule: Schedule, active: str, waiting: tuple[str, ...]) -> Schedule:
        rest = tuple(task_id for task_id in waiting if task_id != active)
        return replace(schedule, active=active, active_since=self.starts_at, waiting=rest)

    def _joined(self, waiting: tuple[str, ...]) -> tuple[str, ...]:
        return waiting if self.task_id in waiting else (*waiting, self.task_id)


def _is_protected(schedule: Schedule, task_id: str, occurrence: Occurrence) -> bool:
    """Whether a run is never dropped: it was triggered or backfilled, or it catches up on a missed
    fire time."""
    return occurrence.version is None or any(s.running == task_id for s in schedule.spans)


def _reports_its_end(task: Task) -> bool:
    return task.spec.occurrence is not None and task.spec.occurrence.has_follow_up


def _without(schedule: Schedule, task_id: str) -> Schedule:
    waiting = tuple(i for i in schedule.waiting if i != task_id)
    if schedule.active == task_id:
        return replace(schedule, active=None, active_since=None, waiting=waiting)
    return replace(schedule, waiting=waiting)

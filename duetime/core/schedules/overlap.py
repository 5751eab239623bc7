"""overlap: whether an occurrence may start, now that its time has come.

The executor decides at the start, so that what counts is what really goes on. A schedule whose runs
must not overlap names the run that goes on, and the runs that wait for its end, in line. Overlap is
a matter between runs of the rule: a run that was triggered, backfilled or made up for is never
dropped for it, and neither is a run that only meets another because both come late. These wait.
"""

from collections.abc import Mapping
from dataclasses import replace

from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.decisions import (
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
from lambdas.core.schedules.late import judge
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value

MOST_WAITING = 100  # in line; any more look again after a while

Tasks = Mapping[str, Task]


def stale(schedule: Schedule | None, occurrence: Occurrence) -> str | None:
    """Why an occurrence that has not started may start no more."""
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
    starts_at: Millis  # when it would start
    horizon: Millis

    def decide(self, schedule: Schedule | None, tasks: Tasks) -> Decision:
        """`tasks`: those that the schedule names, as far as they exist."""
        reason = stale(schedule, self.occurrence)
        if schedule is None or reason is not None:
            return Skip(reason=reason or DELETED)
        if self._may_be_missed(schedule):
            missed = judge(schedule, self.occurrence, self.starts_at, self.horizon)
            if missed is not None:
                return self._leave(schedule, missed)
        if self.occurrence.overlap is OverlapPolicy.ALLOW or schedule.active == self.task_id:
            return Start()
        return self._line_up(schedule, tasks)

    def starts_freely(self, schedule: Schedule | None) -> bool:
        """Whether the schedule alone says that it may start, and nothing is to be written."""
        allowed = self.occurrence.overlap is OverlapPolicy.ALLOW
        return allowed and self.decide(schedule, {}) == Start()

    def _may_be_missed(self, schedule: Schedule) -> bool:
        """Not if it runs outside the rule, if its span says that it is its turn, if it was only
        put to make up for a missed one, or if it was in time and its policy lets it wait."""
        if _is_protected(schedule, self.task_id, self.occurrence) or self._makes_up(schedule):
            return False
        waits = self.task_id == schedule.active or self.task_id in schedule.waiting
        queues = self.occurrence.overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        return not (waits and queues)

    def _makes_up(self, schedule: Schedule) -> bool:
        """Whether it was put at a pace, side by side with others."""
        plan = schedule.plan
        late = self.due_at > self.occurrence.scheduled_for + plan.lateness
        return late and not plan.makes_up_in_order

    def _leave(self, schedule: Schedule, missed: Skip | Park | Wait | Start) -> Decision:
        """It gives up its place, if it has one."""
        left = _without(missed.schedule or schedule, self.task_id)
        return missed if left == schedule else replace(missed, schedule=left)

    def _line_up(self, schedule: Schedule, tasks: Tasks) -> Decision:
        active = tasks.get(schedule.active or "")
        line = [t for i in schedule.waiting if (t := tasks.get(i)) and not t.status.finished]
        waiting = tuple(task.id for task in line)
        if active is not None and not active.status.finished:
            return self._meet(schedule, active, line)
        if not line or line[0].id == self.task_id:
            return Start(schedule=self._named(schedule, self.task_id, waiting))
        first = line[0]  # it came first, and nobody has woken it yet
        full = len(waiting) > MOST_WAITING
        named = self._named(schedule, first.id, waiting if full else self._joined(waiting))
        return Wait(schedule=named, wakes=first.id, polls=full or not _reports_its_end(first))

    def _meet(self, schedule: Schedule, active: Task, line: list[Task]) -> Decision:
        """Another run goes on."""
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
        if len(waiting) - len(cancels) >= MOST_WAITING:
            return Wait(polls=True)
        left = tuple(i for i in waiting if i not in cancels)
        joined = replace(schedule, waiting=self._joined(left))
        return Wait(schedule=joined, cancels=cancels, polls=polls)

    def _has_to_wait(self, schedule: Schedule) -> bool:
        """Whether the two would not have met, had both come in time, or it is never dropped."""
        protected = _is_protected(schedule, self.task_id, self.occurrence)
        since = schedule.active_since
        return protected or (since is not None and since >= self.due_at)

    def _is_rival(self, schedule: Schedule, other: Task) -> bool:
        """Whether the overlap policy decides between the two: both are ordinary runs of the rule,
        and the other one was to come first."""
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
    """Whether a run is never dropped: it was triggered or backfilled, or it makes up for a missed
    one."""
    return occurrence.version is None or any(s.running == task_id for s in schedule.spans)


def _reports_its_end(task: Task) -> bool:
    return task.spec.occurrence is not None and task.spec.occurrence.owes


def _without(schedule: Schedule, task_id: str) -> Schedule:
    waiting = tuple(i for i in schedule.waiting if i != task_id)
    if schedule.active == task_id:
        return replace(schedule, active=None, active_since=None, waiting=waiting)
    return replace(schedule, waiting=waiting)

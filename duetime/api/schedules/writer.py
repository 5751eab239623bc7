"""Writes of schedules: find one, replace it, and put or cancel its next runs at once."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duetime.api.http import CONTENTION, Problem, not_found, unavailable
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ids import is_id
from duetime.core.ports import Ports
from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.ports import ScheduleAnswer
from duetime.core.schedules.schedule import Schedule
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.materialise import materialise
from duetime.engine.superseded import cancel_stale, record_superseded, unstarted_runs

log = logging.getLogger(__name__)

WRITE_ATTEMPTS = 5  # each loses to a run that begins or ends, or to another request

Step = Callable[[Schedule, Millis], Changed | None]  # returns None if nothing changes
Put = Callable[[Schedule], ScheduleAnswer]


@value(frozen=True, slots=True)
class ScheduleWriter:
    ports: Ports

    def find(self, schedule_id: str) -> Schedule:
        found = self.ports.schedules.get([schedule_id]) if is_id(schedule_id) else {}
        if schedule_id not in found:
            raise not_found(f"schedule {schedule_id}")
        return found[schedule_id]

    def replace(self, schedule_id: str, step: Step, put: Put | None = None) -> Schedule:
        """Applies `step` to a schedule and stores the result, with `put` if it is given.

        A write that loses to another one is repeated on the newer schedule, so of two concurrent
        changes both are made, one after the other."""
        schedule = self.find(schedule_id)
        for _ in range(WRITE_ATTEMPTS):
            now = self.ports.clock.now()
            with evaluating(schedule):
                changed = step(schedule, now)
            if changed is None:
                return schedule
            wanted = record_superseded(self.ports, schedule, changed, now)
            answer = put(wanted) if put else self.put(wanted)
            match answer:
                case Applied(after):
                    return after
                case Refused(Schedule() as stored):
                    schedule = stored
                case Refused(None):
                    raise not_found(f"schedule {schedule_id}")
                case Unknown(reason):
                    raise unavailable(reason)
        raise unavailable(CONTENTION)

    def put(self, schedule: Schedule) -> ScheduleAnswer:
        return self.ports.schedules.put([schedule])[0]

    def bring_forward(self, schedule: Schedule) -> Schedule:
        """Puts the runs that are due soon. If that fails, the schedule is stored all the same, and
        the scanner does it when the schedule wakes."""
        now = self.ports.clock.now()
        if schedule.wake is None or schedule.wake.at > now:
            return schedule
        with _logging_errors(schedule):
            materialise(self.ports, [schedule], now=now)
            return self.ports.schedules.get([schedule.id]).get(schedule.id, schedule)
        return schedule

    def drop_unstarted(self, schedule: Schedule) -> None:
        """Cancels runs that will not start, so that no client waits for them. Without it the
        executor would cancel each of them at its start."""
        with _logging_errors(schedule):
            cancel_stale(self.ports, unstarted_runs(self.ports, schedule), schedule)

    def delete(self, schedule: Schedule) -> None:
        with self.dropping_runs(schedule):
            self.ports.schedules.delete(schedule.id)

    @contextmanager
    def dropping_runs(self, schedule: Schedule) -> Iterator[None]:
        """Cancels the runs of a schedule that the block deletes."""
        tasks: list[Task] = []
        with _logging_errors(schedule):
            tasks = unstarted_runs(self.ports, schedule)
        yield
        with _logging_errors(schedule):
            cancel_stale(self.ports, tasks, None)


def refuse_declared(schedule: Schedule) -> None:
    """Raises a conflict for a schedule that the code declares: the next sync would undo a change
    that is not made there."""
    if declared := schedule.plan.declared:
        detail = f"Schedule {schedule.id} is declared at {declared.source} by app {declared.app}:"
        detail += f" change it there. POST /v1/schedules/{schedule.id}/detach makes it an ordinary"
        detail += " schedule."
        raise Problem(409, "declared-in-code", "The schedule is declared in code", detail)


@contextmanager
def _logging_errors(schedule: Schedule) -> Iterator[None]:
    """Logs an error instead of raising it: the write itself has succeeded, and a client that gets
    an error would repeat it."""
    try:
        yield
    except Exception:
        fields = {"step": "request", "schedule_id": schedule.id}
        log.exception("runs not updated", extra=fields)


@contextmanager
def evaluating(schedule: Schedule) -> Iterator[None]:
    """Turns a BadRule into a conflict: a stored rule may become invalid when its time zone is
    removed."""
    try:
        yield
    except BadRule as bad:
        detail = f"Schedule {schedule.id} cannot be evaluated; change it first. {bad}"
        raise Problem(409, "state-conflict", "The rule cannot be evaluated", detail) from None

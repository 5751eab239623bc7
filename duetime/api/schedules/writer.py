"""What every change of a schedule has in common: find it, replace it, and bring forward at once
what follows from it."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lambdas.api.http import OVERTAKEN, Problem, not_found, unavailable
from lambdas.api.unstarted import cancel_stale, unstarted
from lambdas.core.change import Unknown
from lambdas.core.ids import is_id
from lambdas.core.ports import Ports
from lambdas.core.recurrence.rules import BadRule
from lambdas.core.schedules.changes import Changed
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.materialise import materialise
from lambdas.passing import note_passed

log = logging.getLogger(__name__)

TRIES = 5  # each lost to a run of the schedule that begins or ends, or to somebody else

Step = Callable[[Schedule, Millis], Changed | None]  # None if nothing is to be changed


@value(frozen=True, slots=True)
class Writing:
    ports: Ports

    def find(self, schedule_id: str) -> Schedule:
        found = self.ports.schedules.get([schedule_id]) if is_id(schedule_id) else {}
        if schedule_id not in found:
            raise not_found(f"schedule {schedule_id}")
        return found[schedule_id]

    def replace(self, schedule_id: str, step: Step) -> Schedule:
        """Of two changes at the same time both are made, one upon the other."""
        schedule = self.find(schedule_id)
        for _ in range(TRIES):
            now = self.ports.clock.now()
            with evaluating(schedule):
                changed = step(schedule, now)
            if changed is None:
                return schedule
            wanted = note_passed(self.ports, schedule, changed, now)
            (answer,) = self.ports.schedules.put([wanted])
            match answer:
                case Stands(after):
                    return after
                case Differs(Schedule() as standing):
                    schedule = standing
                case Differs(None):
                    raise not_found(f"schedule {schedule_id}")
                case Unknown(reason):
                    raise unavailable(reason)
        raise unavailable(OVERTAKEN)

    def bring_forward(self, schedule: Schedule) -> Schedule:
        """Put what is near. Whatever becomes of that, the schedule stands, and its wake sees to
        what is not done here."""
        now = self.ports.clock.now()
        if schedule.wake is None or schedule.wake.at > now:
            return schedule
        with _told_in_the_log(schedule):
            materialise(self.ports, [schedule], now=now)
            return self.ports.schedules.get([schedule.id]).get(schedule.id, schedule)
        return schedule

    def drop_unstarted(self, schedule: Schedule) -> None:
        """So that nobody waits for what will not run: it would be found out at its start."""
        with _told_in_the_log(schedule):
            cancel_stale(self.ports, unstarted(self.ports, schedule), schedule)

    def delete(self, schedule: Schedule) -> None:
        left: list[Task] = []
        with _told_in_the_log(schedule):
            left = unstarted(self.ports, schedule)
        self.ports.schedules.delete(schedule.id)
        with _told_in_the_log(schedule):
            cancel_stale(self.ports, left, None)


@contextmanager
def _told_in_the_log(schedule: Schedule) -> Iterator[None]:
    """What was asked for is done, whatever becomes of this: who is told that it failed would ask
    again."""
    try:
        yield
    except Exception:
        log.exception("not brought forward at once", extra={"schedule_id": schedule.id})


@contextmanager
def evaluating(schedule: Schedule) -> Iterator[None]:
    """A rule that was good when it was submitted may not be any more: zones come and go."""
    try:
        yield
    except BadRule as bad:
        detail = f"Schedule {schedule.id} cannot be evaluated; change it first. {bad}"
        raise Problem(409, "state-conflict", "The rule cannot be evaluated", detail) from None

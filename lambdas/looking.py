"""looking: many schedules are looked at together, before their occurrences are put."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lambdas.core.errors import Unavailable
from lambdas.core.ports import Ports
from lambdas.core.schedules.ahead import look_ahead, needed
from lambdas.core.schedules.changes import broken
from lambdas.core.schedules.passes import Pass
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Task
from lambdas.core.times import Millis

log = logging.getLogger(__name__)


class Looking:
    """One that cannot be evaluated is set aside, and the others go on."""

    def __init__(self, ports: Ports, now: Millis) -> None:
        self._ports = ports
        self._now = now
        self.broken = 0  # that were set aside
        self._known: dict[str, Task] = {}  # the tasks that the schedules depend on

    def at(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Those that can be evaluated at all."""
        ids: list[str] = []
        sound = []
        for schedule in schedules:
            with self._setting_aside(schedule):
                ids += needed(schedule, self._now, self._ports.rules.horizon)
                sound.append(schedule)
        self._known = self._ports.store.get(ids) if ids else {}
        return sound

    def ahead(self, schedule: Schedule, slot: Millis) -> Pass | None:
        with self._setting_aside(schedule):
            return look_ahead(self._ports.rules, schedule, self._now, slot, self._known)
        return None

    @contextmanager
    def _setting_aside(self, schedule: Schedule) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # of this machine: a time zone or a module could not be opened
            raise Unavailable(f"the schedule could not be evaluated: {error}") from error
        except Exception as error:
            log.exception("broken schedule", extra={"step": "scan", "schedule_id": schedule.id})
            reason = f"{type(error).__name__}: {error}"
            aside = broken(self._ports.rules, schedule, reason, self._now)
            self._ports.schedules.note(aside.notes, self._now)
            self._ports.schedules.put([aside.schedule])
            self.broken += 1

"""The schedules as one process sees them: real rows, behind a network."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from lambdas.core.schedules.ledger import Entry, LedgerPage
from lambdas.core.schedules.ports import (
    ScheduleAnswer,
    ScheduleListing,
    SchedulePage,
    ScheduleStore,
    Stands,
)
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake
from tests.simulation.calls import answered, called, fates
from tests.simulation.engine import Process
from tests.simulation.faults import Faults
from tests.simulation.monitor import Monitor

T = TypeVar("T")


class SimulatedSchedules:
    def __init__(
        self, rows: ScheduleStore, process: Process, faults: Faults, monitor: Monitor
    ) -> None:
        self._rows = rows
        self._process = process
        self._faults = faults
        self._monitor = monitor

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        if not schedules:
            return []
        process, faults = self._process, self._faults
        return called(
            process, faults, lambda: fates(process, faults, schedules, self._put, _repeated)
        )

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        return self._call(lambda: self._rows.get(schedule_ids))

    def exist(self, schedule_ids: Sequence[str]) -> set[str]:
        return self._call(lambda: self._rows.exist(schedule_ids))

    def delete(self, schedule_id: str) -> None:
        self._call(lambda: self._rows.delete(schedule_id))

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._monitor.schedules.set_aside(found.task_id)
        self._call(lambda: self._rows.set_aside(found, later))

    def page(self, listing: ScheduleListing) -> SchedulePage:
        return self._call(lambda: self._rows.page(listing))

    def note(self, entries: Sequence[Entry], now: Millis) -> None:
        self._call(lambda: self._rows.note(entries, now))

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        return self._call(lambda: self._rows.ledger(schedule_id, below, limit))

    def _put(self, schedule: Schedule) -> ScheduleAnswer:
        before = self._rows.get([schedule.id]).get(schedule.id)
        [answer] = self._rows.put([schedule])
        if isinstance(answer, Stands):
            self._monitor.replaced(self._process, before, schedule)
        return answer

    def _call(self, act: Callable[[], T]) -> T:
        process, faults = self._process, self._faults
        return called(process, faults, lambda: answered(process, faults, act))


def _repeated(schedule: Schedule, first: ScheduleAnswer, second: ScheduleAnswer) -> None:
    """An SDK sends a write again whose answer was lost: both must say the same."""
    if first != second:
        raise AssertionError(f"{schedule.id}: {first}, and when repeated {second}")

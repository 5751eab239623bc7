"""The schedules as one process sees them: real rows behind a network."""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.change import Applied
from duetime.core.schedules.ports import ScheduleAnswer, ScheduleStore
from duetime.core.schedules.schedule import Schedule
from duetime.core.wakes import Wake
from tests.faulty_ports import FaultyPort
from tests.simulation.monitor import Monitor
from tests.simulation.network import Network


class SimulatedSchedules(FaultyPort):
    """The ScheduleStore of one process."""

    def __init__(self, rows: ScheduleStore, network: Network, monitor: Monitor) -> None:
        super().__init__(rows)
        self._network = network
        self._monitor = monitor

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        return self._network.write_each(schedules, self._put, _check_repeated)

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._monitor.schedules.set_aside(found.task_id)
        self._network.call(lambda: self.port.set_aside(found, later))

    def _put(self, schedule: Schedule) -> ScheduleAnswer:
        before = self.port.get([schedule.id]).get(schedule.id)
        [answer] = self.port.put([schedule])
        if isinstance(answer, Applied):
            self._monitor.replaced(self._network.process, before, schedule)
        return answer

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))


def _check_repeated(schedule: Schedule, first: ScheduleAnswer, second: ScheduleAnswer) -> None:
    """An SDK repeats a write whose answer was lost: both answers must be the same."""
    if first != second:
        raise AssertionError(f"{schedule.id}: {first}, and when repeated {second}")

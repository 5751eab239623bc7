"""The workflow runs as one process sees them: real rows behind a network."""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.change import Applied
from duetime.core.times import Millis
from duetime.core.wakes import Wake
from duetime.core.workflows.ports import RunAnswer
from duetime.core.workflows.run import Run
from duetime.sqlite.run_store import SqliteRunStore
from tests.faulty_ports import FaultyPort
from tests.simulation.monitor import Monitor
from tests.simulation.network import Network


class SimulatedRuns(FaultyPort):
    """The RunStore of one process."""

    def __init__(self, rows: SqliteRunStore, network: Network, monitor: Monitor) -> None:
        super().__init__(rows)
        self._network = network
        self._monitor = monitor

    def put(self, runs: Sequence[Run]) -> list[RunAnswer]:
        return self._network.write_each(runs, self._put, _check_repeated)

    def get(self, run_ids: Sequence[str]) -> dict[str, Run]:
        def get() -> dict[str, Run]:
            found: dict[str, Run] = self.port.get(run_ids)
            self._monitor.runs.read(self._network.process, found)
            return found

        return self._network.call(get)

    def put_definition(self, digest: str, text: str, needed_until: Millis | None = None) -> None:
        def put() -> None:
            self.port.put_definition(digest, text, needed_until)
            self._monitor.runs.defined(digest, text)

        self._network.call(put)

    def set_aside(self, found: Wake, later: Wake) -> None:
        self._monitor.runs.set_aside(found.task_id)
        self._network.call(lambda: self.port.set_aside(found, later))

    def _put(self, run: Run) -> RunAnswer:
        before = self.port.get([run.id]).get(run.id)
        [answer] = self.port.put([run])
        if isinstance(answer, Applied):
            self._monitor.run_written(self._network.process, before, run)
        else:
            self._network.process.note("run refused", run.id, f"revision={run.revision}")
        return answer

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))


def _check_repeated(run: Run, first: RunAnswer, second: RunAnswer) -> None:
    """An SDK repeats a write whose answer was lost: both answers must be the same."""
    if isinstance(first, Applied) and first != second:
        raise AssertionError(f"{run.id}: {first}, and when repeated {second}")

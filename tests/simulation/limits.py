"""The slots and lines as one process sees them: real rows behind a network."""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.limits.slots import Line, Place, SlotStore, SlotWrite
from duetime.core.wakes import Wake
from tests.faulty_ports import FaultyPort
from tests.simulation.limit_invariants import LimitInvariants
from tests.simulation.network import Network


class SimulatedSlots(FaultyPort):
    """The SlotStore of one process."""

    def __init__(self, rows: SlotStore, network: Network, laws: LimitInvariants) -> None:
        super().__init__(rows)
        self._network = network
        self._laws = laws

    def join(self, places: Sequence[tuple[Line, Place]]) -> None:
        self._laws.joins(self._network.process, places)
        self._network.call(lambda: self.port.join(places))

    def replace(self, writes: Sequence[SlotWrite]) -> list[bool]:
        def replace() -> list[bool]:
            made: list[bool] = self.port.replace(writes)
            for write, applied in zip(writes, made, strict=True):
                if applied and write.after and not _same(write):
                    self._laws.granted(self._network.process, write.line, write.after)
            return made

        return self._network.call(replace)

    def leave(self, places: Sequence[tuple[Line, Place]]) -> None:
        def leave() -> None:
            self.port.leave(places)
            self._laws.left(places)

        self._network.call(leave)

    def watch_of(self, line: Line) -> Wake | None:
        found: Wake | None = self._network.call(lambda: self.port.watch_of(line))
        if found is not None:
            self._laws.secured(self._network.process, line)
        return found

    def move_watch(self, line: Line, before: Wake | None, after: Wake | None) -> bool:
        moved: bool = self._network.call(lambda: self.port.move_watch(line, before, after))
        if moved and after is None:
            self._laws.unwatched(self._network.process, line)
        elif moved and before is None:
            self._laws.secured(self._network.process, line)
        return moved

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))


def _same(write: SlotWrite) -> bool:
    return write.before is not None and write.after is not None and write.before.names(write.after)

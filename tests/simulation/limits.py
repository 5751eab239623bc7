"""The slots and lines as one process sees them: real rows behind a network."""

from collections.abc import Callable
from typing import Any

from duetime.core.limits.slots import SlotStore
from tests.faulty_ports import FaultyPort
from tests.simulation.network import Network


class SimulatedSlots(FaultyPort):
    """The SlotStore of one process."""

    def __init__(self, rows: SlotStore, network: Network) -> None:
        super().__init__(rows)
        self._network = network

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))

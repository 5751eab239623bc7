"""Rate limits in a simulation: which submissions are under one, and the clocks of the limits."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from duetime.core.change import Unknown
from duetime.core.limits.definition import Limit, Rate
from duetime.core.limits.ports import LimitStore
from duetime.core.limits.rate import RateKey, SlotRequest
from duetime.core.times import Millis
from duetime.sqlite.rate_store import SqliteRateStore
from tests.faulty_ports import FaultyPort
from tests.simulation.network import Network
from tests.simulation.rate_invariants import RATES, RateInvariants

SHARES = [0, 0, 0.6]  # of the submissions, in a world
KEYS = ["", "a"]


class RateWorkload:
    """Draws from a random source of its own, so that worlds without rates stay as they are."""

    def __init__(self, seed: int, limits: LimitStore) -> None:
        self._random = Random(f"rates-{seed}")
        self._share = self._random.choice(SHARES)
        if self._share:
            for name, rate in RATES.items():
                limits.put(Limit(namespace="default", name=name, rate=rate))

    def add_to(self, body: dict[str, Any]) -> dict[str, Any]:
        random = self._random
        if random.random() >= self._share:
            return body
        name, key = random.choice([*RATES]), random.choice(KEYS)
        on_full = "skip" if random.random() < 0.1 else "queue"
        use = {"name": name, "key": key, "on_full": on_full}
        return {**body, "limits": [*body.get("limits", ()), use]}


class SimulatedRates(FaultyPort):
    """The RateStore of one process: real rows behind a network."""

    def __init__(self, rows: SqliteRateStore, network: Network, laws: RateInvariants) -> None:
        super().__init__(rows)
        self._network = network
        self._laws = laws

    def reserve(self, requests: Sequence[SlotRequest]) -> list[Sequence[Millis] | Unknown]:
        return self._network.write_each(requests, self._reserve, lambda *repeated: None)

    def block(self, key: RateKey, rate: Rate, until: Millis) -> None:
        self._network.call(lambda: self._block(key, rate, until))

    def _reserve(self, request: SlotRequest) -> Sequence[Millis]:
        [slots] = self.port.reserve([request])
        asked = (request.key.name, request.key.key, request.count)
        self._network.process.note("reserves", *asked, [s - request.asked_at for s in slots])
        self._laws.handed_out(request, slots)
        return slots

    def _block(self, key: RateKey, rate: Rate, until: Millis) -> None:
        self.port.block(key, rate, until)
        self._network.process.note("blocks", key.name, key.key, until)
        self._laws.blocked(key, until)

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))

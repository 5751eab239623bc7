"""Limits for tests: defined by the test, and read as an executor reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from duetime.core.limits.definition import Limit, Rate
from duetime.core.times import SECOND, Millis


@dataclass
class FixedLimits:
    """A LimitStore whose limits a test defines."""

    known: dict[tuple[str, str], Limit] = field(default_factory=dict)

    def define(self, limit: Limit) -> None:
        self.known[limit.namespace, limit.name] = limit

    def get(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        found = {name: self.known.get((namespace, name)) for name in names}
        return {name: limit for name, limit in found.items() if limit}

    def recent(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        return self.get(namespace, names)


def a_limit(name: str = "stripe", count: int = 5, period: Millis = SECOND, burst: int = 0) -> Limit:
    rate = Rate(count=count, period=period, burst=burst)
    return Limit(namespace="default", name=name, rate=rate)

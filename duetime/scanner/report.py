"""The report of a tick, for its log line and its metrics."""

from collections import Counter
from dataclasses import field, fields
from typing import Any

from duetime.core.lanes import Queue
from duetime.core.times import Millis
from duetime.core.value import value


@value(kw_only=True, slots=True)
class TickReport:
    claims: Counter[Queue] = field(default_factory=Counter)
    lost_claims: Counter[Queue] = field(default_factory=Counter)  # another write came first
    unknown: int = 0  # claims that the store did not answer
    sent: int = 0
    watched: int = 0
    promoted: Counter[Queue] = field(default_factory=Counter)  # by the lane that they have left
    occurrences: int = 0  # of schedules that became tasks
    set_aside: int = 0
    held_back: int = 0  # overdue work that waits for a slot or for room in its lane
    unfinished: bool = False  # there is more to do: tick again at once
    saved: bool = False
    chain: str | None = None  # for the tick that follows at once to continue
    yielded: bool = False  # did nothing, because a chain of ticks scans this slice
    age: Millis | None = None  # since the last saved tick of this slice
    took: Millis = 0
    lag: Millis = 0  # of the oldest cursor behind its normal position

    @property
    def claimed(self) -> int:
        return self.claims.total()

    @property
    def lost(self) -> int:
        return self.lost_claims.total()

    @property
    def processed(self) -> int:
        return self.claimed + self.watched + self.occurrences

    def as_dict(self) -> dict[str, Any]:
        """Returns all fields, and the sums over the lanes."""
        values = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}
        return {"claimed": self.claimed, "lost": self.lost, **values}


def _plain(value: Any) -> Any:
    return {str(key): n for key, n in value.items()} if isinstance(value, Counter) else value

"""What a tick did; its log line and the metrics are made of this."""

from collections import Counter
from dataclasses import field, fields
from typing import Any

from lambdas.core.lanes import Lane
from lambdas.core.times import Millis
from lambdas.core.values import value


@value(kw_only=True, slots=True)
class TickReport:
    claims: Counter[Lane] = field(default_factory=Counter)
    lost_claims: Counter[Lane] = field(default_factory=Counter)  # to others, or to a change
    unknown: int = 0  # claims for which the store did not answer
    sent: int = 0
    watched: int = 0
    occurrences: int = 0  # of schedules, that became tasks
    set_aside: int = 0
    held_back: int = 0  # overdue work that waits for a slot, or for room in its lane
    unfinished: bool = False  # time ran out, or there was too much: tick again at once
    saved: bool = False
    chain: str | None = None  # what the tick that follows at once continues
    yielded: bool = False  # to a chain of ticks that is at work on this slice: it did nothing
    age: Millis | None = None  # of the last tick of this slice that was saved
    lag: Millis = 0  # of the oldest cursor, behind where it would stand if all were well

    @property
    def claimed(self) -> int:
        return self.claims.total()

    @property
    def lost(self) -> int:
        return self.lost_claims.total()

    @property
    def taken(self) -> int:
        return self.claimed + self.watched + self.occurrences

    def told(self) -> dict[str, Any]:
        """All of it, and the sums over the lanes."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"claimed": self.claimed, "lost": self.lost, **values}

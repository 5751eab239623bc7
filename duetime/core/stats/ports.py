"""The interface of the store of statistics. See duetime.core.ports for the others."""

from collections.abc import Sequence
from typing import Protocol

from duetime.core.stats.counts import LaneCounts
from duetime.core.times import DAY, Millis
from duetime.core.value import value

MINUTES_KEPT: Millis = 8 * DAY
HOURS_KEPT: Millis = 90 * DAY


@value(frozen=True, kw_only=True, slots=True)
class StatsPage:
    """What was counted, in the order of time: everything from `since` on."""

    rows: Sequence[LaneCounts]
    since: Millis


class StatsStore(Protocol):
    """Counts by minute and lane for 8 days, and by hour and lane for 90. They are approximate: what
    was counted before a crash may be lost, and what is relayed twice counts twice."""

    def add(self, counted: Sequence[LaneCounts]) -> None:
        """Adds counts to those of their minutes."""
        ...

    def minutes(self, since: Millis, until: Millis) -> StatsPage:
        """Returns the counts of the minutes that begin from `since` to before `until`. Reads are
        bounded: it may begin later."""
        ...

    def hours(self, since: Millis, until: Millis) -> StatsPage:
        """Returns the counts of the hours that begin from `since` to before `until`."""
        ...

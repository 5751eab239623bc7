"""Shares of lanes: which lane gets the next free slot.

Deficit round robin: the lanes take turns, and each turn is as long as the weight of its lane. A
lane without ready tasks gives up the rest of its turn, so no slot stays free while any lane has
work: one lane alone gets every slot. What a lane did not use is not saved for later.
"""

from collections.abc import Mapping
from math import gcd

from duetime.core.lanes import Lane
from duetime.core.value import value

ALL = 100  # percent


@value(frozen=True, kw_only=True, slots=True)
class Weights:
    """The share of each lane in the starts, in percent, while all of them have work."""

    high: int = 60
    medium: int = 30
    low: int = 10

    def __post_init__(self) -> None:
        parts = (self.high, self.medium, self.low)
        if min(parts) < 1:
            raise ValueError("each lane needs a weight of at least 1: a lane with 0 would starve")
        if sum(parts) != ALL:
            shown = " + ".join(map(str, parts))
            raise ValueError(f"high, medium and low must add up to {ALL}, not {shown}")

    def of(self, lane: Lane) -> int:
        weight: int = getattr(self, lane)
        return weight

    def __str__(self) -> str:
        return f"{self.high}/{self.medium}/{self.low}"


DEFAULT_WEIGHTS = Weights()


def parse_weights(text: str) -> Weights:
    """Reads `60/30/10`: the weights of high, medium and low. Raises ValueError."""
    parts = text.split("/")
    if len(parts) != len(Lane) or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(f"{text!r} is not three whole numbers like {Weights()}")
    high, medium, low = map(int, parts)
    return Weights(high=high, medium=medium, low=low)


class Shares:
    """Hands out slots. It remembers whose turn it is, and how much of the turn is left."""

    def __init__(self, weights: Weights) -> None:
        unit = gcd(weights.high, weights.medium, weights.low)
        self._turns = {lane: weights.of(lane) // unit for lane in Lane}
        self._lane = Lane.HIGH
        self._left = self._turns[Lane.HIGH]  # of the turn

    def hand_out(self, slots: int, ready: Mapping[Lane, int]) -> dict[Lane, int]:
        """Returns how many of the free slots each lane gets, the first in turn first.

        Args:
            slots: The number of free slots.
            ready: How many tasks of each lane could start now; `slots` means that many or more."""
        waiting = {lane: count for lane, count in ready.items() if count > 0}
        if len(waiting) == 1:
            return self._to_one(waiting, slots)
        given: dict[Lane, int] = {}
        while slots and waiting:
            count = min(slots, self._left, waiting.get(self._lane, 0))
            if count:
                given[self._lane] = given.get(self._lane, 0) + count
                slots -= count
                self._left -= count
                waiting[self._lane] -= count
            if not waiting.get(self._lane):
                waiting.pop(self._lane, None)
            # A lane that got the last slot may have more, and goes on with its turn next time.
            if not self._left or (slots and self._lane not in waiting):
                self._end_turn()
        return given

    def _to_one(self, waiting: Mapping[Lane, int], slots: int) -> dict[Lane, int]:
        """The lane takes turn after turn; the others have nothing to take."""
        [(lane, count)] = waiting.items()
        taken = min(slots, count)
        if taken:
            if lane is not self._lane:
                self._lane, self._left = lane, self._turns[lane]
            self._left -= taken
            if self._left <= 0:
                self._end_turn()
        return {lane: taken} if taken else {}

    def _end_turn(self) -> None:
        self._lane = Lane.ranked((self._lane.rank + 1) % len(Lane))
        self._left = self._turns[self._lane]

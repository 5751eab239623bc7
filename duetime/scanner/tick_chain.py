"""Tick chains: one tick after another while a slice has more work than fits into one tick.

A tick that runs out of time saves its state and invokes the next tick at once. Meanwhile the
EventBridge rule starts a tick of the same slice every minute, which would read the same index as
the chain and lose its claims. So an unfinished tick saves its chain: an id for the next tick, and
the time by which that tick saves in turn. A tick that finds a live chain and does not continue it
yields: it reads the state and returns.

- The time is a hint, never a lock. If a chain is slower than expected, a tick of the rule scans
  beside it, and the fence lets one of the two save and go on.
- A chain whose next tick was lost ends by itself: the first tick after the time takes over.
- A chain does not block a tick with another number of slices, which covers other shards.
"""

from duetime.core.ports import Chain
from duetime.core.times import SECOND, Millis

CHAIN_MARGIN: Millis = 15 * SECOND  # beyond a tick's own time: to start, and to save


def expected_within(time_for_a_tick: Millis) -> Millis:
    """Returns the longest time from one save of a chain to the next."""
    return time_for_a_tick + CHAIN_MARGIN


def must_yield(
    chain: Chain | None, *, slices: int, continues: str | None, within: Millis, now: Millis
) -> bool:
    """Whether another chain scans the slice. A time far beyond what a chain takes comes from a
    wrong clock, and blocks no tick."""
    if chain is None or chain.id == continues or chain.slices != slices:
        return False
    return now < chain.until <= now + 2 * within

"""chain: one tick after another while a slice has more to do than one tick can.

A tick that runs out of time saves its state and has itself started again at once. Meanwhile the
rule starts a tick of the same slice every minute; scanning beside the chain it would read the
same index and lose its claims. So the save of an unfinished tick names its chain: an id for the
tick that follows, and the time by which that one saves in its turn. A tick that finds a live
chain and does not continue it yields: it reads the state and returns.

- The time is a hint, never a lock. A chain that is slower than it expected is joined by a tick
  of the rule, and the fence lets one of the two save and go on.
- A chain whose next tick was lost ends by itself: the first tick after the time takes over.
- A chain holds up no tick that cuts the shards into another number of slices: it would leave
  some of their shards out.
"""

from lambdas.core.ports import Chain
from lambdas.core.times import SECOND, Millis

CHAIN_MARGIN: Millis = 15 * SECOND  # beyond a tick's own time: to start, and to save


def expected_within(time_for_a_tick: Millis) -> Millis:
    """How long a chain takes from one save to the next, at most."""
    return time_for_a_tick + CHAIN_MARGIN


def must_yield(
    chain: Chain | None, *, slices: int, continues: str | None, within: Millis, now: Millis
) -> bool:
    """Whether another chain is at work on the slice. A time far beyond what a chain takes is that
    of a clock that was wrong, and holds up no tick."""
    if chain is None or chain.id == continues or chain.slices != slices:
        return False
    return now < chain.until <= now + 2 * within

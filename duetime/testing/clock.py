"""The time and the chance of a world: a clock that the test moves, randomness from a seed."""

from datetime import datetime
from itertools import count
from random import Random

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.times import Millis, from_datetime
from duetime.core.value import replace
from duetime.core.wake_policy import Draw

ORDERED_BITS = 32


class VirtualClock:
    """The wall clock and the monotonic clock show the same time."""

    def __init__(self, now: Millis) -> None:
        self._now = now

    def now(self) -> Millis:
        return self._now

    def monotonic(self) -> Millis:
        return self._now

    def set(self, now: Millis) -> None:
        self._now = now


class SeededRandom:
    """Randomness from a seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self) -> Draw:
        return Draw(luck=self._random.random(), spread=self._random.random(), nonce=self.nonce())

    def draws(self, count: int) -> list[Draw]:
        drawn = [self.draw() for _ in range(count)]
        return [replace(draw, spread=drawn[0].spread) for draw in drawn]

    def nonce(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def nonces(self, count: int) -> list[str]:
        return [self.nonce() for _ in range(count)]

    def new_id(self, now: Millis) -> str:
        return new_id(now, self._random.getrandbits(RANDOM_BITS))


class OrderedIds(SeededRandom):
    """Ids of one millisecond sort in the order in which they were made, so that tasks that are due
    at the same time run in the order of their submission."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._numbers = count(1)

    def new_id(self, now: Millis) -> str:
        number = next(self._numbers) % 2**ORDERED_BITS
        rest = RANDOM_BITS - ORDERED_BITS
        return new_id(now, number << rest | self._random.getrandbits(rest))


def moment(when: datetime | str) -> Millis:
    """Reads a time with a time zone, such as "2027-03-27T12:00+01:00"."""
    given = datetime.fromisoformat(when) if isinstance(when, str) else when
    if not isinstance(given, datetime):
        raise TypeError(f"{when!r} is not a datetime, nor a text such as 2027-03-27T12:00+01:00")
    if given.utcoffset() is None:
        raise ValueError(f"{when!r} needs a time zone: 2027-03-27T12:00+01:00, or a tzinfo")
    return from_datetime(given)

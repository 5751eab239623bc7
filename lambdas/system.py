"""The real clock and the real dice: the only place that the roles' time and chance come from."""

import time
from random import SystemRandom

from lambdas.core.ids import RANDOM_BITS, new_id
from lambdas.core.rules import Draw
from lambdas.core.times import Millis


class SystemClock:
    def now(self) -> Millis:
        return time.time_ns() // 1_000_000


class SystemChance:
    def __init__(self) -> None:
        self._random = SystemRandom()

    def draw(self) -> Draw:
        return Draw(luck=self._random.random(), spread=self._random.random(), nonce=self.nonce())

    def nonce(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def new_id(self, now: Millis) -> str:
        return new_id(now, self._random.getrandbits(RANDOM_BITS))

"""The real clock and the real dice: the only place that the roles' time and chance come from."""

import time
from os import urandom
from struct import Struct

from lambdas.core.ids import RANDOM_BITS, new_id
from lambdas.core.rules import Draw
from lambdas.core.times import Millis

# Linux counts the time that the machine was asleep on a clock of its own; macOS on the usual one.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    def now(self) -> Millis:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> Millis:
        return time.clock_gettime_ns(_STEADY) // 1_000_000


class SystemChance:
    """Straight from the operating system, since a copied or thawed environment would repeat a
    generator's draws, and with them tokens and holders."""

    def draw(self) -> Draw:
        luck, spread, nonce = _THREE.unpack(urandom(_THREE.size))
        return Draw(luck=luck / 2**32, spread=spread / 2**32, nonce=f"{nonce:016x}")

    def nonce(self) -> str:
        return urandom(8).hex()

    def new_id(self, now: Millis) -> str:
        return new_id(now, int.from_bytes(urandom(RANDOM_BITS // 8)))


_THREE = Struct(">IIQ")

"""The system clock and the system's randomness, as every role uses them."""

import time
from os import urandom
from struct import Struct

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis
from duetime.core.wake_policy import Draw

# On Linux only CLOCK_BOOTTIME includes the time that the machine was asleep; on macOS
# CLOCK_MONOTONIC does.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    def now(self) -> Millis:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> Millis:
        return time.clock_gettime_ns(_STEADY) // 1_000_000


class SystemRandom:
    """Reads every value from the operating system: a generator in a copied or thawed environment
    would repeat its values, and with them tokens and holders."""

    def draw(self) -> Draw:
        luck, spread, nonce = _THREE.unpack(urandom(_THREE.size))
        return Draw(luck=luck / 2**32, spread=spread / 2**32, nonce=f"{nonce:016x}")

    def draws(self, count: int) -> list[Draw]:
        spread = self.draw().spread
        drawn = _THREE.iter_unpack(urandom(_THREE.size * count))
        return [
            Draw(luck=luck / 2**32, spread=spread, nonce=f"{nonce:016x}")
            for luck, _, nonce in drawn
        ]

    def nonce(self) -> str:
        return urandom(8).hex()

    def nonces(self, count: int) -> list[str]:
        """With one call of the system, which releases the GIL."""
        text = urandom(8 * count).hex()
        return [text[start : start + 16] for start in range(0, len(text), 16)]

    def new_id(self, now: Millis) -> str:
        return new_id(now, int.from_bytes(urandom(RANDOM_BITS // 8)))


_THREE = Struct(">IIQ")


JUMP_TOLERANCE: Millis = 2 * SECOND  # a thread may be delayed between reading the two clocks


class ClockJumps:
    """Detects that the wall clock was set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = self._offset()

    def seen(self) -> bool:
        """Whether the wall clock was set since the last call. A clock that is adjusted slowly does
        not count."""
        before, self._ahead = self._ahead, self._offset()
        return abs(self._ahead - before) > JUMP_TOLERANCE

    def _offset(self) -> Millis:
        """How far the wall clock is ahead of the monotonic one."""
        return self._clock.now() - self._clock.monotonic()

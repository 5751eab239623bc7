"""Noticing that somebody has set the wall clock."""

from lambdas.core.ports import Clock
from lambdas.core.times import SECOND, Millis

TOLERANCE: Millis = 2 * SECOND  # a thread may be held up between its looks at the two clocks


class ClockJumps:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = self._measured()

    def seen(self) -> bool:
        """Whether the wall clock was set since the last look. A clock that is slowly brought into
        line does not count."""
        before, self._ahead = self._ahead, self._measured()
        return abs(self._ahead - before) > TOLERANCE

    def _measured(self) -> Millis:
        """How far the wall clock is ahead of the monotonic one."""
        return self._clock.now() - self._clock.monotonic()

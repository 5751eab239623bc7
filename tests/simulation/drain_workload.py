"""Executors that are drained, as workers are, and tasks that outlast their messages."""

from random import Random

from duetime.core.steps.long_run import LONGEST_HIDDEN
from duetime.core.times import MINUTE, SECOND, Millis

SHARES = [0.0, 0.0, 0.7]  # of the executors of a world that are drained
HIDDEN = [LONGEST_HIDDEN, LONGEST_HIDDEN, 100, 10]  # seconds that a queue hides a message
GRACES = [0, SECOND, 25 * SECOND]
STOPS_AFTER = [0, 3 * SECOND, 8 * SECOND, 20 * SECOND]  # of a handler that is interrupted
EXIT_TAKES: Millis = 5 * SECOND


def longest_hidden(seed: int) -> int:
    return Random(f"hidden {seed}").choice(HIDDEN)


class DrainWorkload:
    """It has random numbers of its own, so that worlds without drains stay as they were."""

    def __init__(self, seed: int, lasts: Millis) -> None:
        self._random = Random(f"drains {seed}")
        self._share = self._random.choice(SHARES)
        self._lasts = lasts

    def draw(self) -> tuple[Millis, Millis] | None:
        """Returns after which time an executor is drained, and its grace; None if it is not."""
        if self._random.random() >= self._share:
            return None
        longest = min(self._lasts, 6 * MINUTE)
        return self._random.randint(SECOND, longest), self._random.choice(GRACES)

"""How much of an attempt its thread used a core, or waited for one."""

import os
from time import monotonic, thread_time

COMPUTES = 0.5  # of its time: an attempt below that waits for something else
WAITED = "/proc/thread-self/schedstat"


class CoreUse:
    """Of the thread that makes this object, and calls it."""

    def __init__(self) -> None:
        self._waited = _waited_for_core()

    def begin(self) -> tuple[float, float]:
        return monotonic(), thread_time()

    def computed_since(self, began: tuple[float, float]) -> bool:
        """Whether the thread has computed for most of the time since then. On a busy machine it
        may have waited for a core instead."""
        passed, used = monotonic() - began[0], thread_time() - began[1]
        before, self._waited = self._waited, _waited_for_core()
        return used + self._waited - before >= COMPUTES * passed


def _waited_for_core() -> float:
    """Returns seconds; 0 where the kernel does not count them."""
    try:
        file = os.open(WAITED, os.O_RDONLY)
        try:
            return int(os.read(file, 100).split()[1]) / 1e9
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return 0.0

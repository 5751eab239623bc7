"""When the next handler process may start: later if the last ones have failed."""

from duetime.core.times import SECOND, Millis

AFTER_FAILURES: tuple[Millis, ...] = (0, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND)
SHORTEST_LIFE: Millis = 10 * SECOND  # of a process; one that ends earlier is replaced more slowly


class StartPauses:
    """`failed_starts` in a row: of processes that have ended before they were ready."""

    def __init__(self) -> None:
        self.next_at: Millis = 0
        self.failed_starts = 0
        self._started_at: dict[int, Millis] = {}

    def started(self, number: int, now: Millis) -> None:
        self._started_at[number] = now

    def ready(self) -> None:
        self.failed_starts = 0

    def failed(self, now: Millis) -> None:
        self.failed_starts += 1
        self.next_at = now + AFTER_FAILURES[min(self.failed_starts, len(AFTER_FAILURES) - 1)]

    def died(self, number: int, now: Millis) -> None:
        """A process that was ready has ended by itself."""
        if now - self._started_at[number] < SHORTEST_LIFE:
            self.next_at = now + SECOND // 2

    def forget(self, number: int) -> None:
        self._started_at.pop(number, None)

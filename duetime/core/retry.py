"""Retry policy: exponential backoff, jitter, cap."""

from duetime.core.times import Millis, seconds
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    max_attempts: int = 5  # counts the first
    base_delay: float = 1.0
    multiplier: float = 2.0
    max_delay: float = 3600.0
    jitter: float = 0.5

    def delay(self, failed_attempts: int, luck: float) -> Millis:
        """Returns the delay after the n-th failure in a row; `luck` is random, from [0, 1).

        The cap applies to the backoff; jitter is added after it, so that capped tasks spread too.
        """
        return seconds(self._backoff(failed_attempts) + self.jitter * luck)

    def _backoff(self, failed_attempts: int) -> float:
        try:
            backoff = self.base_delay * self.multiplier ** (failed_attempts - 1)
        except OverflowError:
            return self.max_delay if self.base_delay else 0.0
        return min(backoff, self.max_delay)


DEFAULT_RETRY = RetryPolicy()

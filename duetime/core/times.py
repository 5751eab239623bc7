"""Times are integers: milliseconds since the epoch, UTC.

The contract keeps times to the millisecond, and tokens, wake keys, leases and delays all
compute with them. Only the HTTP edge speaks RFC 3339 (see docs/explanation/decisions/0002).
"""

from datetime import UTC, datetime
from functools import lru_cache

Millis = int

SECOND: Millis = 1_000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR
YEAR: Millis = 365 * DAY

CLOCK_SKEW: Millis = 5 * SECOND  # the largest tolerated difference between two machines' clocks


def seconds(value: float) -> Millis:
    return round(value * SECOND)


def to_datetime(at: Millis) -> datetime:
    return datetime.fromtimestamp(at // SECOND, UTC).replace(microsecond=at % SECOND * 1_000)


def from_datetime(moment: datetime) -> Millis:
    """Returns the millisecond at or after a moment. Rounding down would start a task early."""
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * SECOND - (-delta.microseconds // 1_000)


@lru_cache(maxsize=1_024)  # the tasks of one batch share most of their times
def rfc3339(at: Millis) -> str:
    return f"{to_datetime(at):%Y-%m-%dT%H:%M:%S}.{at % SECOND:03d}Z"

"""Durations in 15 buckets, the same everywhere, so that histograms add up."""

from bisect import bisect_left
from collections.abc import Sequence
from math import ceil

from duetime.core.times import Millis

# The highest duration of each bucket; the last bucket has none.
BOUNDS: tuple[Millis, ...] = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(1_000, 2_000, 5_000, 10_000, 60_000),
)
BUCKETS = len(BOUNDS) + 1


def bucket_of(duration: Millis) -> int:
    return bisect_left(BOUNDS, duration)


def quantile(counts: Sequence[int], share: float, longest: Millis) -> Millis | None:
    """Returns the duration that `share` of the durations do not exceed, to within their bucket;
    None if there are none. Inside a bucket it assumes that they are evenly spread.

    Args:
        counts: How many durations are in each bucket.
        share: From 0 to 1.
        longest: The longest of the durations."""
    rank = max(ceil(share * sum(counts)), 1)
    below = 0
    for bucket, count in enumerate(counts):
        if below + count >= rank:
            low = BOUNDS[bucket - 1] if bucket else 0
            high = min(BOUNDS[bucket], longest) if bucket < len(BOUNDS) else longest
            return max(low + ceil((high - low) * (rank - below) / count), 0)
        below += count
    return None


def within(counts: Sequence[int], bound: Millis) -> int:
    """Returns how many durations are not over `bound`, which is one of BOUNDS."""
    return sum(counts[: BOUNDS.index(bound) + 1])

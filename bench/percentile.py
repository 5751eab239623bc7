"""Drift: how long after its due time a task started."""

from collections.abc import Sequence
from math import ceil

from lambdas.core.times import Millis


def drift(*, due_at: Millis, started_at: Millis) -> Millis:
    return started_at - due_at


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("no values")
    rank = ceil(round(share * len(values), 9))  # 0.07 × 100 is 7, whatever binary makes of it
    return sorted(values)[max(rank, 1) - 1]

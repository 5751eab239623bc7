"""Percentiles of measured values."""

from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the smallest value that `share` of all values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("no values")
    rank = ceil(
        round(share * len(values), 9)
    )  # 0.07 × 100 is 7, without the rounding error of binary
    return sorted(values)[max(rank, 1) - 1]

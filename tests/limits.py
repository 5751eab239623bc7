"""Limits for tests."""

from duetime.core.limits.definition import Limit, Rate
from duetime.core.times import SECOND, Millis


def a_limit(name: str = "stripe", count: int = 5, period: Millis = SECOND, burst: int = 0) -> Limit:
    rate = Rate(count=count, period=period, burst=burst)
    return Limit(namespace="default", name=name, rate=rate)

"""Checks the cron expression of a declared schedule, as the API does when it is synced."""

from collections.abc import Mapping
from importlib.util import find_spec
from time import time_ns
from typing import Any

from duetime.core.recurrence.rules import (
    CronRule,
    DayMatch,
    DstGap,
    DstOverlap,
    Recurrence,
    Seconds,
)


def check_cron(rule: Mapping[str, Any]) -> None:
    """Raises BadRule, a ValueError, for an expression or a time zone that is not valid.

    An application that only submits tasks may lack croniter; then the sync finds the fault."""
    if find_spec("croniter") is None:
        return
    from duetime.core.recurrence.cron_syntax import zone_of
    from duetime.core.recurrence.eventbridge import with_rate
    from duetime.core.recurrence.fire_times import check

    now, expression, dst = time_ns() // 1_000_000, rule["expression"], rule.get("dst", {})
    written = CronRule(
        expression=expression,
        timezone=rule.get("timezone") or zone_of(expression) or "UTC",
        gap=DstGap(dst["gap"]) if "gap" in dst else None,
        overlap=DstOverlap(dst["overlap"]) if "overlap" in dst else None,
        seconds=Seconds(rule["seconds"]) if "seconds" in rule else None,
        days=DayMatch(rule.get("days", "either")),
    )
    check(Recurrence(rules=(with_rate(written, now),)), now)

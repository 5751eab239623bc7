"""Checks the rule of a declared schedule, as the API does when it is synced."""

from collections.abc import Mapping
from importlib.util import find_spec
from time import time_ns
from typing import TYPE_CHECKING, Any

from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DstGap,
    DstOverlap,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Rule,
    Seconds,
)
from duetime.core.task import MAX_AHEAD
from duetime.core.times import Millis, seconds
from duetime.handlers.schedule_fields import to_millis

if TYPE_CHECKING:
    from duetime.handlers.schedules import DeclaredSchedule


def check_rule(schedule: "DeclaredSchedule") -> None:
    """Raises ValueError for a rule that is not valid, or that never fires.

    An application that only submits tasks may lack croniter; then the sync finds the fault."""
    now = time_ns() // 1_000_000
    rule, fields = schedule.rule, schedule.fields
    starts_at = _ahead("starts_at", fields.get("starts_at"), now)
    _ahead("anchor", rule.get("anchor"), now)
    if rule["type"] == "delay" or find_spec("croniter") is None:
        return
    from duetime.core.recurrence.fire_times import check

    exclude = tuple(_exclusion(one) for one in fields.get("exclude", ()))
    recurrence = Recurrence(rules=(_rule(rule, now),), exclude=exclude)
    try:
        check(recurrence, max(now, (starts_at or 0) - 1))
    except BadRule as bad:
        if bad.part == "exclude" and bad.index is not None:
            raise ValueError(f"exclude.{bad.index}.{bad.field}: {bad.reason}") from None
        raise


def _ahead(name: str, given: str | None, now: Millis) -> Millis | None:
    if given is None:
        return None
    at = to_millis(name, given)
    if at - now > MAX_AHEAD:
        raise ValueError(f"{name}: must be at most 10 years ahead")
    return at


def _rule(rule: Mapping[str, Any], now: Millis) -> Rule:
    from duetime.core.recurrence.eventbridge import with_rate

    if rule["type"] == "rate":
        return RateRule(every=seconds(rule["every"]), anchor=now)
    return with_rate(_cron(rule), now)


def _exclusion(given: Mapping[str, Any]) -> Exclusion:
    if given["type"] == "cron":
        return _cron(given)
    return ExcludedDates(dates=tuple(given["dates"]), timezone=given.get("timezone", "UTC"))


def _cron(rule: Mapping[str, Any]) -> CronRule:
    from duetime.core.recurrence.cron_syntax import zone_of

    expression, dst = rule["expression"], rule.get("dst", {})
    return CronRule(
        expression=expression,
        timezone=rule.get("timezone") or zone_of(expression) or "UTC",
        gap=DstGap(dst["gap"]) if "gap" in dst else None,
        overlap=DstOverlap(dst["overlap"]) if "overlap" in dst else None,
        seconds=Seconds(rule["seconds"]) if "seconds" in rule else None,
        days=DayMatch(rule.get("days", "either")),
    )

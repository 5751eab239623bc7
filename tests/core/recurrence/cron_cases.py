"""Shorthand for recurrences, instants and fire times in tests."""

from datetime import datetime
from itertools import islice

from duetime.core.recurrence.cron_syntax import has_six_fields
from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import CronRule, Exclusion, Recurrence, Rule, Seconds
from duetime.core.recurrence.timezones import load
from duetime.core.times import SECOND, Millis, from_datetime


def a_cron(expression: str, timezone: str = "UTC", **options) -> CronRule:
    """Builds a cron rule. Six fields have their seconds last by default."""
    options = {"seconds": Seconds.LAST if has_six_fields(expression) else None, **options}
    return CronRule(expression=expression, timezone=timezone, **options)


def recurring(*rules: Rule | str, exclude: tuple[Exclusion, ...] = ()) -> Recurrence:
    made = tuple(a_cron(rule) if isinstance(rule, str) else rule for rule in rules)
    return Recurrence(rules=made, exclude=exclude)


def at(text: str, zone: str = "UTC", fold: int = 0) -> Millis:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=load(zone), fold=fold))


def local_text(instant: Millis, zone: str = "UTC") -> str:
    """Returns local times such as `2026-10-25 02:30 +01:00`."""
    local = datetime.fromtimestamp(instant / SECOND, load(zone))
    return f"{local:%Y-%m-%d %H:%M} {str(local)[-6:]}"


def first(count: int, recurrence: Recurrence, after: Millis) -> list[Millis]:
    return list(islice(fire_times(recurrence, after), count))

"""Short ways to say a recurrence, an instant and its fire times, for tests."""

from datetime import datetime
from itertools import islice

from lambdas.core.recurrence.fire_times import fire_times
from lambdas.core.recurrence.language import has_six_fields
from lambdas.core.recurrence.rules import CronRule, Exclusion, Recurrence, Rule, Seconds
from lambdas.core.recurrence.zones import load
from lambdas.core.times import SECOND, Millis, from_datetime


def a_cron(expression: str, timezone: str = "UTC", **said) -> CronRule:
    """Six fields have their seconds last, unless it is said otherwise."""
    said = {"seconds": Seconds.LAST if has_six_fields(expression) else None, **said}
    return CronRule(expression=expression, timezone=timezone, **said)


def recurring(*rules: Rule | str, exclude: tuple[Exclusion, ...] = ()) -> Recurrence:
    made = tuple(a_cron(rule) if isinstance(rule, str) else rule for rule in rules)
    return Recurrence(rules=made, exclude=exclude)


def at(text: str, zone: str = "UTC", fold: int = 0) -> Millis:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=load(zone), fold=fold))


def told(instant: Millis, zone: str = "UTC") -> str:
    """`2026-10-25 02:30 +01:00`."""
    local = datetime.fromtimestamp(instant / SECOND, load(zone))
    return f"{local:%Y-%m-%d %H:%M} {str(local)[-6:]}"


def first(count: int, recurrence: Recurrence, after: Millis) -> list[Millis]:
    return list(islice(fire_times(recurrence, after), count))

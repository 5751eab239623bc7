"""A recurrence in words. What has no short name is listed in full, so that two cron rules that
fire at other times are never told alike."""

from typing import TYPE_CHECKING

from lambdas.core.recurrence.rules import (
    CronRule,
    DelayRule,
    ExcludedDates,
    Exclusion,
    Gap,
    Overlap,
    RateRule,
    Recurrence,
    Rule,
)
from lambdas.core.times import HOUR, MINUTE, SECOND, Millis

if TYPE_CHECKING:
    from lambdas.core.recurrence.pattern import Pattern

MOST_TIMES = 6  # that are listed one by one


def describe(recurrence: Recurrence) -> str:
    rules = "; and ".join(_rule(rule) for rule in recurrence.rules)
    return "; except ".join([rules, *(_exclusion(e) for e in recurrence.exclude)])


def _rule(rule: Rule) -> str:
    match rule:
        case RateRule(every=every):
            return _every(every)
        case DelayRule(delay=delay):
            return f"{_length(delay)} after the previous run ended"
        case CronRule():
            return _cron(rule)


def _exclusion(exclusion: Exclusion) -> str:
    match exclusion:
        case CronRule():
            return _excluded(exclusion)
        case ExcludedDates(dates=dates, timezone=timezone):
            return f"on {listed(dates)}{_zone(timezone)}"


def _every(length: Millis) -> str:
    number, unit = _measured(length)
    return f"every {unit}" if number == "1" else f"every {number} {unit}s"


def _length(length: Millis) -> str:
    number, unit = _measured(length)
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def _measured(length: Millis) -> tuple[str, str]:
    for size, unit in ((HOUR, "hour"), (MINUTE, "minute")):
        if length % size == 0:
            return str(length // size), unit
    return f"{length / SECOND:.3f}".rstrip("0").rstrip("."), "second"


def _cron(rule: CronRule) -> str:
    from lambdas.core.recurrence.pattern import firing

    pattern = firing(rule.expression, rule.seconds, rule.days)
    whole_minutes = pattern.seconds == (0,)
    times = _of_the_clock(pattern) if whole_minutes else _with_seconds(pattern)
    return _on_days(times, pattern) + _zone(rule.timezone) + _daylight(rule, times)


def _excluded(rule: CronRule) -> str:
    """An expression without seconds leaves out whole minutes."""
    from lambdas.core.recurrence.pattern import matching

    pattern = matching(rule.expression, rule.seconds, rule.days)
    whole_minutes = len(pattern.seconds) == 60
    times = _of_the_clock(pattern) if whole_minutes else _with_seconds(pattern)
    if times == "every minute":
        times = "all day"
    return _on_days(times, pattern) + _zone(rule.timezone)


def _on_days(times: str, pattern: "Pattern") -> str:
    from lambdas.core.recurrence.words_for_days import days_in_words

    return times + days_in_words(pattern, always=times.startswith("at ") and "every" not in times)


def _daylight(rule: CronRule, times: str) -> str:
    """What the rule says of it, and what the words let nobody expect: that something at a fixed
    time follows elapsed time, or the other way round."""
    from lambdas.core.recurrence.cron import daylight

    gap, overlap = rule.gap, rule.overlap
    if rule.timezone != "UTC":
        usual_gap, usual_overlap = daylight(rule.expression, rule.seconds)
        elapsed = "every" in times and not times.startswith("every hour from")
        expected = (Gap.SKIP, Overlap.BOTH) if elapsed else (Gap.SHIFT, Overlap.FIRST)
        gap = gap or (usual_gap if usual_gap is not expected[0] else None)
        overlap = overlap or (usual_overlap if usual_overlap is not expected[1] else None)
    said = [f"{name}: {what}" for name, what in (("gap", gap), ("overlap", overlap)) if what]
    return f" ({', '.join(said)})" if said else ""


def _zone(timezone: str) -> str:
    return "" if timezone == "UTC" else f", {timezone}"


def _hours_and_minutes(pattern: "Pattern") -> tuple[list[int], list[int]]:
    """Of each hour the same minutes."""
    hours = sorted({minute // 60 for minute in pattern.minutes})
    return hours, sorted({minute % 60 for minute in pattern.minutes})


def _of_the_clock(pattern: "Pattern") -> str:
    hours, minutes = _hours_and_minutes(pattern)
    if len(hours) * len(minutes) <= MOST_TIMES:
        return f"at {listed([_clock(h, m) for h in hours for m in minutes])}"
    often = _often(minutes, 60, "minute")
    if len(hours) == 24:
        return often or _past_every_hour(minutes)
    if len(minutes) == 1 and _step(hours, 24):
        return f"every {_step(hours, 24)} hours from {_clock(0, minutes[0])}"
    if hours[-1] - hours[0] == len(hours) - 1 and (often or len(minutes) == 1):
        first, last = _clock(hours[0], minutes[0]), _clock(hours[-1], minutes[-1])
        return f"{often or 'every hour'} from {first} to {last}"
    return f"at {_numbered('minute', minutes, 60)} of {_numbered('hour', hours, 24)}"


def _past_every_hour(minutes: list[int]) -> str:
    if minutes == [0]:
        return "every hour"
    if len(minutes) == 1:
        return f"at {minutes[0]} minute{'s' * (minutes[0] != 1)} past every hour"
    return f"at {_numbered('minute', minutes, 60)} of every hour"


def _with_seconds(pattern: "Pattern") -> str:
    hours, minutes = _hours_and_minutes(pattern)
    seconds = list(pattern.seconds)
    if len(pattern.minutes) * len(seconds) <= MOST_TIMES:
        times = [f"{_clock(*divmod(m, 60))}:{s:02}" for m in pattern.minutes for s in seconds]
        return f"at {listed(times)}"
    often = _often(seconds, 60, "second")
    if len(pattern.minutes) == 1_440:
        return often or f"at {_numbered('second', seconds, 60)} of every minute"
    of_minutes = _numbered("minute", minutes, 60)
    return f"{often or 'at ' + _numbered('second', seconds, 60)} of {of_minutes} of " + (
        _numbered("hour", hours, 24)
    )


def _often(values: list[int], whole: int, unit: str) -> str | None:
    """`every 5 minutes`, if it is that all the way round."""
    if len(values) == whole:
        return f"every {unit}"
    step = _step(values, whole)
    return f"every {step} {unit}s" if step else None


def _step(values: list[int], whole: int) -> int | None:
    step = whole // len(values)
    regular = 1 < len(values) < whole and values == list(range(0, whole, step))
    return step if regular else None


def _numbered(unit: str, values: list[int], whole: int) -> str:
    if len(values) == whole:
        return f"every {unit}"
    return f"{unit}{'s' * (len(values) > 1)} {in_runs(values)}"


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def in_runs(values: list[int], names: dict[int, str] | None = None) -> str:
    """`1, 3 and 5 to 9`."""
    runs: list[list[int]] = []
    for number in values:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])

    def name(number: int) -> str:
        return names[number] if names else str(number)

    told: list[str] = []
    for run in runs:
        told += [f"{name(run[0])} to {name(run[-1])}"] if len(run) > 2 else map(name, run)
    return listed(told)


def listed(words: "list[str] | tuple[str, ...]") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

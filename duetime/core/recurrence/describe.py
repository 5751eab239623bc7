"""Descriptions of recurrences in English. What has no short name is listed in full, so that two
cron rules with different fire times never have the same description."""

from duetime.core.recurrence import cron_fields
from duetime.core.recurrence.cron_pattern import Pattern, firing, matching
from duetime.core.recurrence.month_days import Days
from duetime.core.recurrence.rules import (
    CronRule,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Rule,
)
from duetime.core.recurrence.special_days import LONGEST_MONTH
from duetime.core.times import HOUR, MINUTE, SECOND, Millis

MAX_LISTED_TIMES = 6  # of a day, one by one


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
    pattern = firing(rule.expression, rule.seconds, rule.days)
    whole_minutes = pattern.seconds == (0,)
    times = _of_the_clock(pattern) if whole_minutes else _with_seconds(pattern)
    return _on_days(times, pattern) + _zone(rule.timezone) + _daylight(rule, times)


def _excluded(rule: CronRule) -> str:
    """Describes an exclusion. An expression without seconds excludes whole minutes."""
    pattern = matching(rule.expression, rule.seconds, rule.days)
    whole_minutes = len(pattern.seconds) == 60
    times = _of_the_clock(pattern) if whole_minutes else _with_seconds(pattern)
    if times == "every minute":
        times = "all day"
    return _on_days(times, pattern) + _zone(rule.timezone)


def _on_days(times: str, pattern: Pattern) -> str:
    return times + days_in_words(pattern, always=times.startswith("at ") and "every" not in times)


def _daylight(rule: CronRule, times: str) -> str:
    """Describes daylight saving: what the rule sets, and any default that the description does not
    suggest, such as a fixed time that follows elapsed time."""
    from duetime.core.recurrence.cron import default_dst

    gap, overlap = rule.gap, rule.overlap
    if rule.timezone != "UTC":
        usual_gap, usual_overlap = default_dst(rule.expression, rule.seconds)
        elapsed = "every" in times and not times.startswith("every hour from")
        expected = (DstGap.SKIP, DstOverlap.BOTH) if elapsed else (DstGap.SHIFT, DstOverlap.FIRST)
        gap = gap or (usual_gap if usual_gap is not expected[0] else None)
        overlap = overlap or (usual_overlap if usual_overlap is not expected[1] else None)
    parts = [f"{name}: {what}" for name, what in (("gap", gap), ("overlap", overlap)) if what]
    return f" ({', '.join(parts)})" if parts else ""


def _zone(timezone: str) -> str:
    return "" if timezone == "UTC" else f", {timezone}"


def _hours_and_minutes(pattern: Pattern) -> tuple[list[int], list[int]]:
    """Returns the hours, and the minutes, which are the same in each hour."""
    hours = sorted({minute // 60 for minute in pattern.minutes})
    return hours, sorted({minute % 60 for minute in pattern.minutes})


def _of_the_clock(pattern: Pattern) -> str:
    hours, minutes = _hours_and_minutes(pattern)
    if len(hours) * len(minutes) <= MAX_LISTED_TIMES:
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


def _with_seconds(pattern: Pattern) -> str:
    hours, minutes = _hours_and_minutes(pattern)
    seconds = list(pattern.seconds)
    if len(pattern.minutes) * len(seconds) <= MAX_LISTED_TIMES:
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
    """Returns `every 5 minutes` if the values are evenly spaced all around, else None."""
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
    """Returns a list such as `1, 3 and 5 to 9`."""
    runs: list[list[int]] = []
    for number in values:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])

    def name(number: int) -> str:
        return names[number] if names else str(number)

    parts: list[str] = []
    for run in runs:
        parts += [f"{name(run[0])} to {name(run[-1])}"] if len(run) > 2 else map(name, run)
    return listed(parts)


def listed(words: "list[str] | tuple[str, ...]") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


SUNDAY, *_OTHERS = (name.capitalize() for name in cron_fields.WEEKDAYS)
WEEKDAYS = dict(enumerate([*_OTHERS, SUNDAY], start=1))
MONTHS = dict(enumerate((name.capitalize() for name in cron_fields.MONTHS), start=1))
NTH = ("last", "first", "second", "third", "fourth", "fifth")


def days_in_words(pattern: Pattern, *, always: bool) -> str:
    """Returns the days, to follow the times of the day. With `always` it also says `every day`."""
    return _days(pattern, always=always) + _years(pattern.years)


def _days(pattern: Pattern, *, always: bool) -> str:
    days = pattern.days
    months = in_runs(sorted(pattern.months), MONTHS) if len(pattern.months) < 12 else None
    any_number, any_weekday = len(days.numbers) == 31, len(days.weekdays) == 7
    if (any_number and any_weekday) or ((any_number or any_weekday) and not days.both):
        return (" every day" if always else "") + (f" in {months}" if months else "")
    if any_number:
        return _by_weekday(days, months)
    number = f" on {_by_number(days)} of {months or 'the month'}"
    if any_weekday:
        return number
    link = ", but only" if days.both else ", and also"
    return f"{number}{link}{_by_weekday(days, months, linked=True)}"


def _by_number(days: Days) -> str:
    numbers = sorted(days.numbers)
    parts = [f"day{'s' * (len(numbers) > 1)} {in_runs(numbers)}"] if numbers else []
    parts += [_nearest(day) for day in sorted(days.nearest)]
    return listed(parts + [_before_the_last(count) for count in sorted(days.last, reverse=True)])


def _nearest(day: int) -> str:
    if day == LONGEST_MONTH:
        return "the last weekday (Monday to Friday)"
    return f"the weekday nearest to day {day}"


def _before_the_last(count: int) -> str:
    match count:
        case 0:
            return "the last day"
        case 1:
            return "the day before the last day"
    return f"the day {count} days before the last day"


def _by_weekday(days: Days, months: str | None, *, linked: bool = False) -> str:
    """`linked`: it follows the days of the month."""
    names = in_runs(sorted(day or 7 for day in days.weekdays), WEEKDAYS) if days.weekdays else ""
    run = " to " in names and "and" not in names and not linked and not days.nth
    weekdays = (", " if run else " on ") + names + (f" in {months}" if months else "")
    if not days.nth:
        return weekdays
    nth = f" on {_nth(days)} of {months or 'the month'}"
    return f"{weekdays} and{nth}" if days.weekdays else nth


def _nth(days: Days) -> str:
    ordered = sorted(days.nth, key=lambda nth: (nth[1] or 6, nth[0] or 7))
    return listed([f"the {NTH[which]} {WEEKDAYS[day or 7]}" for day, which in ordered])


def _years(years: frozenset[int] | None) -> str:
    if years is None:
        return ""
    ordered = sorted(years)
    step = ordered[1] - ordered[0] if len(ordered) > 3 else 1
    if step > 1 and ordered == list(range(ordered[0], ordered[-1] + 1, step)):
        return f", every {step} years from {ordered[0]} to {ordered[-1]}"
    return f", in {in_runs(ordered)}"

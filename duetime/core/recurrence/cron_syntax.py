"""The syntax of cron expressions: parses an expression into fields, or says what is wrong.

It accepts the notation of cron and croniter with L, W and #, and EventBridge's `cron(…)`. It
rejects what would surprise: six fields without the position of the seconds, `H` and `R` (another
time on each machine), a range of one (`5-5`, which croniter takes for every value), and a range
that runs backwards, except for weekdays and months, which wrap around.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from duetime.core.recurrence import cron_entries as entries
from duetime.core.recurrence import eventbridge
from duetime.core.recurrence.cron_fields import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    WEEKDAY,
    Field,
    Token,
    Wrong,
    tokens,
)
from duetime.core.recurrence.rules import BadRule, Seconds
from duetime.core.value import value

LONGEST = 1_000  # characters
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIVE = {"minute": MINUTE, "hour": HOUR, "day": DAY, "month": MONTH, "weekday": WEEKDAY}
SIX = {
    Seconds.FIRST: {"second": SECOND, **FIVE},
    Seconds.LAST: {**FIVE, "second": SECOND},
}
IN_WORDS = "minute, hour, day of the month, month, weekday"

_ZONE = re.compile(r"\s*(?:CRON_)?TZ=(\S*)", re.IGNORECASE)


@value(frozen=True, kw_only=True, slots=True)
class Part:
    field: Field
    text: str
    position: int


@value(frozen=True, kw_only=True, slots=True)
class Parsed:
    """An expression whose fields are each valid."""

    minute: Part
    hour: Part
    day: Part
    month: Part
    weekday: Part
    second: Part | None = None
    year: Part | None = None  # only in EventBridge's cron(…)
    zone: str | None = None  # from CRON_TZ=

    def parts(self) -> Iterator[Part]:
        five = (self.minute, self.hour, self.day, self.month, self.weekday)
        return (part for part in (*five, self.second, self.year) if part is not None)


def parse(expression: str, seconds: Seconds | None = None) -> Parsed:
    """Parses an expression. Raises BadRule with the position of the fault."""
    if len(expression) > LONGEST:
        raise BadRule("expression", f"is longer than {LONGEST:,} characters")
    zone, start = _zone_prefix(expression)
    fields, found = _split(expression, start, seconds)
    pairs = zip(fields.items(), found, strict=True)
    parsed = Parsed(**{name: _part(field, *token) for (name, field), token in pairs}, zone=zone)
    if parsed.year is not None:
        eventbridge.check_days(parsed.day.text, parsed.weekday.text, parsed.weekday.position)
    return parsed


def check_steps(expression: str, seconds: Seconds | None) -> None:
    """Raises BadRule for a step longer than its field: `*/90` in the minutes would be hourly, which
    is never meant. `parse` allows it, since schedules from before this check keep running."""
    for part in parse(expression, seconds).parts():
        try:
            entries.check_steps(part.field, part.text)
        except Wrong as wrong:
            raise _wrong(part.field, part.position, wrong) from None


def check_zone(parsed: Parsed, timezone: str) -> None:
    if parsed.zone not in (None, timezone):
        reason = f"is {timezone}, but the expression says {parsed.zone}; give one of the two"
        raise BadRule("timezone", reason)


def zone_of(expression: str) -> str | None:
    """Returns the zone of CRON_TZ=, whether it exists or not."""
    found = _ZONE.match(expression)
    return found[1] if found else None


def has_six_fields(expression: str) -> bool:
    """Whether the rule needs the position of the seconds."""
    found = _ZONE.match(expression)
    start = found.end() if found else 0
    return len(tokens(expression, start)) == 6 and not eventbridge.is_call(expression, start)


def _zone_prefix(expression: str) -> tuple[str | None, int]:
    """Returns the zone, and where the rest of the expression begins."""
    found = _ZONE.match(expression)
    if not found:
        return None, 0
    from duetime.core.recurrence import timezones as zones

    try:
        zones.load(found[1])
    except BadRule as bad:
        raise BadRule("expression", bad.reason, position=found.start(1) + 1) from None
    return found[1], found.end()


def _split(
    expression: str, start: int, seconds: Seconds | None
) -> tuple[Mapping[str, Field], Sequence[Token]]:
    """Returns the fields of the dialect, and as many tokens."""
    if eventbridge.is_call(expression, start):
        _no_seconds(seconds, "EventBridge's cron(…) has no seconds")
        return eventbridge.FIELDS, eventbridge.fields_of(expression, start)
    found = tokens(expression, start)
    if found and found[0][0].startswith("@"):
        _no_seconds(seconds, f"{found[0][0]} has no seconds")
        return FIVE, _alias(found)
    return _order(expression, start, found, seconds), found


def _order(
    expression: str, start: int, found: Sequence[Token], seconds: Seconds | None
) -> Mapping[str, Field]:
    count = len(found)
    if count == 5:
        _no_seconds(seconds, "this one has five")
        return FIVE
    if count == 6 and seconds is not None:
        return SIX[seconds]
    from duetime.core.recurrence import cron_suggestions as suggestions

    if count == 6:
        raise suggestions.for_six_fields(expression, start)
    if count == 7:
        raise suggestions.for_seven_fields(expression, start)
    position = found[6][1] if count > 6 else len(expression.rstrip()) + 1
    reason = f"has {count} field{'s' * (count != 1)}; five ({IN_WORDS}) or six (and second)"
    raise BadRule("expression", f"{reason} are needed", position=position)


def _no_seconds(seconds: Seconds | None, why: str) -> None:
    if seconds is not None:
        raise BadRule("seconds", f"is for expressions of six fields; {why}")


def _alias(found: Sequence[Token]) -> list[Token]:
    text, position = " ".join(token for token, _ in found), found[0][1]
    if text not in ALIASES:
        from duetime.core.recurrence import cron_suggestions as suggestions

        reason = suggestions.for_alias(text, ALIASES)
        raise BadRule("expression", reason, position=position)
    return [(token, position) for token in ALIASES[text].split()]


def _part(field: Field, text: str, position: int) -> Part:
    try:
        entries.check_field(field, text)
    except Wrong as wrong:
        raise _wrong(field, position, wrong) from None
    return Part(field=field, text=text, position=position)


def _wrong(field: Field, position: int, wrong: Wrong) -> BadRule:
    return BadRule("expression", f"{field.name}: {wrong}", position=position)

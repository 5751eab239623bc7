"""What a cron expression may say, and in words what is wrong with one that may not be said.

The language is croniter's, less what would surprise: a seventh field (years), `H` and `R` (an
expression that means another time on each machine), a range of one (`5-5`, which croniter takes
for every value), and a range that runs backwards, but for weekdays and months, which go round.
"""

import re
from collections.abc import Iterator

from lambdas.core.recurrence.fields import FIELDS, Wrong, check_field
from lambdas.core.recurrence.rules import BadRule

LONGEST = 1_000
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def fields_of(expression: str) -> tuple[str, ...]:
    """The five or six fields in lower case, or BadRule."""
    if len(expression) > LONGEST:
        raise BadRule("expression", f"is longer than {LONGEST:,} characters")
    found = list(_fields_with_positions(expression))
    _check_number([position for _, position in found], len(expression.rstrip()) + 1)
    for field, (text, position) in zip(FIELDS, found, strict=False):
        try:
            check_field(field, text)
        except Wrong as wrong:
            raise BadRule("expression", f"{field.name}: {wrong}", position=position) from None
    return tuple(text for text, _ in found)


def position_of(expression: str, field: int) -> int:
    """Where a field begins in an expression that is well said, from 1."""
    return list(_fields_with_positions(expression))[field][1]


def _fields_with_positions(expression: str) -> Iterator[tuple[str, int]]:
    text = expression.lower()
    start = len(text) - len(text.lstrip()) + 1
    if text.strip().startswith("@"):
        return ((field, start) for field in _alias(text.strip(), start).split())
    return ((found[0], found.start() + 1) for found in re.finditer(r"\S+", text))


def _alias(text: str, position: int) -> str:
    if text == "@reboot":
        reason = "@reboot names no time: nothing here is ever started up"
        raise BadRule("expression", reason, position=position)
    if text not in ALIASES:
        reason = f"{text} is not one of {', '.join(ALIASES)}"
        raise BadRule("expression", reason, position=position)
    return ALIASES[text]


def _check_number(positions: list[int], end: int) -> None:
    """The first field that is too many is at fault, or the end, where one is missing."""
    count = len(positions)
    position = positions[6] if count > 6 else end
    if count == 7:
        reason = "has seven fields: a year cannot be given"
        raise BadRule("expression", reason, position=position)
    if count not in (5, 6):
        wanted = "five (minute, hour, day, month, weekday) or six (and second) are needed"
        reason = f"has {count} field{'s' * (count != 1)}; {wanted}"
        raise BadRule("expression", reason, position=position)

"""The entries of a cron field: their validation, and the plain ones in croniter's notation."""

import re

from duetime.core.recurrence.cron_fields import (
    Field,
    Wrong,
    check_span,
    end_of_range,
    number,
    values,
)
from duetime.core.recurrence.special_days import special

_HASHED = re.compile(r"[hr](?:\((.*?)\))?(/[0-9]+)?")

# For the advice about a step that is too long for its field: the seconds of the unit for a rate,
# and the unit of the CLI.
_RATES = {
    "second": (1, "s"),
    "minute": (60, "m"),
    "hour": (3_600, "h"),
    "day of the month": (86_400, "d"),
    "weekday": (86_400, "d"),
}


def check_field(field: Field, text: str) -> None:
    if text == "?" and field.kind != "number":
        return
    for entry in text.split(","):
        _check_entry(field, entry)


def _check_entry(field: Field, entry: str) -> None:
    if not entry:
        raise Wrong("an entry of the list is empty")
    if hashed := _HASHED.fullmatch(entry):
        raise Wrong(_value_for_hash(field, entry, *hashed.groups()))
    if special(field, entry):
        return
    span, slash, step = entry.partition("/")
    if slash:
        _check_step(step)
    if span != "*":
        check_span(field, span, step)


def _value_for_hash(field: Field, entry: str, span: str | None, step: str | None) -> str:
    """Returns what to write instead of Jenkins' H and croniter's R."""
    first = span.partition("-")[0] if span else field.low
    instead = f"{span or '*'}{step}" if step else f"a value of your own, such as {first}"
    return (
        f"{entry.upper()} is a random value; write {instead},"
        " and use jitter (--jitter 5m) to spread the runs"
    )


def _check_step(step: str) -> None:
    if not (step.isascii() and step.isdigit()):
        raise Wrong(f"the step {step!r} is not a number" if step else "no step follows the /")
    if int(step) == 0:
        raise Wrong("a step of 0 never ends")


def check_steps(field: Field, text: str) -> None:
    """Checks the steps of a valid field: a step longer than the field has no effect."""
    for entry in text.split(","):
        _, _, step = entry.partition("/")
        if step and int(step) > field.size:
            raise Wrong(f"{entry}: {_step_too_long(field, int(step))}")


def _step_too_long(field: Field, step: int) -> str:
    reason = f"a step of {step} leads beyond the {field.size} values of this field"
    if field.name not in _RATES:
        return f"{reason}; list the {field.name}s instead"
    length, unit = _RATES[field.name]
    rate = f'{{"type": "rate", "every": {step * length}}}'
    return f"{reason}; write a rule of type rate: {rate}, or --every {step}{unit}"


def plain(field: Field, text: str) -> str:
    """Returns the plain entries in croniter's notation: no names, Sunday is 0, and no range wraps
    around. Empty if there are none."""
    entries = [entry for entry in text.split(",") if not special(field, entry)]
    return ",".join(_in_numbers(field, entry) for entry in entries)


def _in_numbers(field: Field, entry: str) -> str:
    span, slash, step = entry.partition("/")
    if span in ("*", "?"):
        return entry
    shift = field.low if field.kind == "weekday" else 0
    start, dash, end = span.partition("-")
    low = number(field, start) - shift
    if not dash:
        return f"{low}{slash}{step}"
    high = end_of_range(field, end) - shift
    if low < high:
        return f"{low}-{high}{slash}{step}"
    return ",".join(str(n - shift) for n in values(field, span, int(step or 1)))


def expand(field: Field, text: str) -> frozenset[int] | None:
    """Returns the values of a field that croniter lacks (years); None for all of them."""
    if "*" in text.split(","):
        return None
    return frozenset(n for entry in text.split(",") for n in _expanded(field, entry))


def _expanded(field: Field, entry: str) -> list[int]:
    span, slash, step = entry.partition("/")
    if span == "*":
        span = f"{field.low}-{field.high}"
    elif slash and "-" not in span:
        span = f"{span}-{field.high}"
    return values(field, span, int(step or 1))

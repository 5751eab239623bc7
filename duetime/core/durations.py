"""Durations as people write them: 90, 90s, 5m, 1h30m, 2d."""

import math
import re

UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
NUMBER = r"\d+(?:\.\d+)?"
EXAMPLES = "90, 90s, 5m, 1h30m or 2d"

_DURATION = re.compile("".join(rf"(?:({NUMBER}){unit})?" for unit in UNITS), re.ASCII)


def is_duration(text: str) -> bool:
    plain = re.fullmatch(NUMBER, text, re.ASCII)
    return bool(plain or (text and _DURATION.fullmatch(text.lower())))


def parse_duration(text: str) -> float:
    """Returns the seconds of a duration. Raises ValueError, whose message is for the user."""
    if re.fullmatch(NUMBER, text, re.ASCII):
        return _finite(float(text))
    found = _DURATION.fullmatch(text.lower())
    if not text or found is None:
        raise ValueError(f"{text!r} is not a duration such as {EXAMPLES}")
    parts = zip(found.groups(), UNITS.values(), strict=True)
    return _finite(sum(float(number) * unit for number, unit in parts if number))


def _finite(seconds: float) -> float:
    if not math.isfinite(seconds):
        raise ValueError("is too long: a duration must be a finite number of seconds")
    return seconds

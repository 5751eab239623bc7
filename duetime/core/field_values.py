"""Values of a task's fields that are texts of a certain form: words and times."""

import re
from datetime import datetime
from typing import Any

from duetime.core.times import Millis, from_datetime

MAX_WORD = 128
WORD = r"[A-Za-z0-9._:\-]+"
WORD_RULE = f"must be 1 to {MAX_WORD} letters, digits and ._:- only"

_DAY = r"\d{4}-\d\d-\d\d"
_HOUR = r"([01]\d|2[0-3])"
_RFC3339 = re.compile(rf"{_DAY}[Tt ]{_HOUR}:\d\d:\d\d(\.\d+)?([Zz]|[+-]{_HOUR}:[0-5]\d)", re.ASCII)
_NAIVE = re.compile(rf"{_DAY}[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?", re.ASCII)
_EXAMPLE = "2026-11-16T09:00:00+01:00"
LAST: Millis = 253_402_300_799_999  # the end of the year 9999, the last in RFC 3339


def is_word(text: str) -> bool:
    return len(text) <= MAX_WORD and re.fullmatch(WORD, text) is not None


def moment(value: Any) -> Millis:
    """Reads an RFC 3339 time with an offset. Raises ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"must be a string such as {_EXAMPLE}")
    if _NAIVE.fullmatch(value):
        raise ValueError("must have an offset: add Z or, for example, +01:00")
    if not _RFC3339.fullmatch(value):
        raise ValueError(f"must be an RFC 3339 time such as {_EXAMPLE}")
    try:
        at = from_datetime(datetime.fromisoformat(value.upper()))
    except ValueError:
        raise ValueError("must be a day and a time that exist") from None
    if not 0 <= at <= LAST:
        raise ValueError("must be in the years 1970 to 9999 (UTC)")
    return at

"""The kinds of values that requests are made of."""

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from lambdas.core.times import Millis, from_datetime

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_EARLIEST_YEAR = 1970


def _moment(value: Any) -> Millis:
    if not isinstance(value, str):
        raise ValueError("a time is a string such as 2026-11-16T09:00:00+01:00")
    if not _RFC3339.fullmatch(value):
        if re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?$", value):
            raise ValueError("the time has no offset; add Z or, for example, +01:00")
        raise ValueError("not an RFC 3339 time such as 2026-11-16T09:00:00+01:00")
    try:
        moment = datetime.fromisoformat(value.upper())
    except ValueError as error:
        raise ValueError(f"no such time: {error}") from None
    if moment.year < _EARLIEST_YEAR:
        raise ValueError(f"before {_EARLIEST_YEAR}")
    return from_datetime(moment)


Moment = Annotated[Millis, BeforeValidator(_moment)]
Word = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:\-]+$")
]
Seconds = Annotated[float, Field(ge=0, le=86_400)]

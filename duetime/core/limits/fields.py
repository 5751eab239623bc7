"""`limits` of a task as it is submitted, for those that do not load pydantic: handlers and
executors. The API checks the same with duetime.api.limit_models; a test compares the two."""

import re
from collections.abc import Mapping
from typing import Any

from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.limits.definition import MAX_LIMIT_NAME, MAX_LIMITS, LimitUse, OnFull

NAME = r"[A-Za-z0-9._\-]+"  # no colon: the command line has `name:key`
NAME_RULE = f"must be 1 to {MAX_LIMIT_NAME} letters, digits and ._- only"
FIELDS = ("name", "key", "on_full")


class BadLimits(ValueError):
    """`path` is the place inside `limits`, such as `0.name`; empty for all of it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path


def is_limit_name(text: str) -> bool:
    return len(text) <= MAX_LIMIT_NAME and re.fullmatch(NAME, text) is not None


def read_limits(given: Any) -> tuple[LimitUse, ...]:
    """Raises BadLimits."""
    if not isinstance(given, list | tuple):
        raise BadLimits("", "must be a list")
    if len(given) > MAX_LIMITS:
        raise BadLimits("", f"must have at most {MAX_LIMITS} entries")
    return tuple(_read_use(place, use) for place, use in enumerate(given))


def _read_use(place: int, given: Any) -> LimitUse:
    if not isinstance(given, Mapping):
        raise BadLimits(str(place), "must be an object")
    for field in given:
        if field not in FIELDS:
            raise BadLimits(f"{place}.{field}", "unknown field")
    name, key, on_full = (given.get(field) for field in FIELDS)
    if not isinstance(name, str) or not is_limit_name(name):
        raise BadLimits(f"{place}.name", NAME_RULE if "name" in given else "required")
    if key is not None and not (isinstance(key, str) and is_word(key)):
        raise BadLimits(f"{place}.key", WORD_RULE)
    if "on_full" in given and on_full not in list(OnFull):
        raise BadLimits(f"{place}.on_full", f"must be one of {', '.join(OnFull)}")
    return LimitUse(name=name, key=key or "", on_full=OnFull(on_full or OnFull.QUEUE))

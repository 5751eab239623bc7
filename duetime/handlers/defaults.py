"""The defaults of a handler's tasks, as given to `@task`.

They hold for every task of the handler, however it is submitted: what the caller gives comes first,
then the handler's default, then that of the API.
"""

from collections.abc import Mapping
from datetime import timedelta
from math import isfinite
from typing import Any

from duetime.core.durations import parse_duration
from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.lanes import POOL_NAME, POOL_NAME_RULE, Lane
from duetime.core.task import LONGEST_TIMEOUT

Defaults = Mapping[str, Any]  # fields of a task, as JSON

NAMES = ("priority", "pool", "retry", "timeout", "tags", "limits", "fairness_key")
DAY = 24 * 3_600  # seconds
MAX_TAGS = 10
MAX_TAG_KEY, MAX_TAG_VALUE = 64, 256  # characters
RETRY_FIELDS = {  # the least and the greatest value
    "max_attempts": (1, 100),
    "base_delay": (0, DAY),
    "multiplier": (1, 100),
    "max_delay": (0, DAY),
    "jitter": (0, DAY),
}


def read_defaults(given: Mapping[str, Any]) -> Defaults:
    """Returns the defaults as JSON; what is None is left out. Raises ValueError for a value that
    the API would refuse in every task."""
    read = {
        "priority": _priority,
        "pool": _pool,
        "retry": _retry,
        "timeout": _timeout,
        "tags": _tags,
        "limits": _limits,
        "fairness_key": _fairness_key,
    }
    return {name: read[name](given[name]) for name in NAMES if given.get(name) is not None}


def with_defaults(body: Mapping[str, Any], defaults: Defaults) -> dict[str, Any]:
    """Returns the body of a task with the defaults for what it does not have. The fields of `retry`
    and the tags are filled in one by one."""
    merged = {**defaults, **body}
    for part in ("retry", "tags"):
        ours, theirs = defaults.get(part), body.get(part)
        if ours and isinstance(theirs, dict):
            merged[part] = {**ours, **theirs}
    return merged


def to_seconds(duration: float | str | timedelta) -> float:
    """Returns the seconds of 90, "90s", "1h30m" or a timedelta. Raises ValueError for one that is
    negative or no number."""
    if isinstance(duration, str):
        return parse_duration(duration)
    if isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif isinstance(duration, bool) or not isinstance(duration, int | float):
        raise TypeError(f'{duration!r} is not a duration: give seconds, "90s" or a timedelta')
    else:
        seconds = float(duration)
    if not isfinite(seconds) or seconds < 0:
        raise ValueError(f"a duration must be finite and not negative, not {duration}")
    return seconds


def _priority(given: Any) -> str:
    lanes = [lane.value for lane in Lane]
    if given not in lanes:
        raise ValueError(f"priority: must be one of {', '.join(lanes)}, not {given!r}")
    return str(given)


def _pool(given: Any) -> str:
    if not isinstance(given, str) or not POOL_NAME.fullmatch(given):
        raise ValueError(f"pool: {POOL_NAME_RULE}")
    return given


def _timeout(given: Any) -> float:
    seconds = _named("timeout", given)
    if not 1 <= seconds <= LONGEST_TIMEOUT:
        raise ValueError(f"timeout: must be from 1 to {LONGEST_TIMEOUT} seconds, not {seconds:g}")
    return seconds


def _retry(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError('retry: must be a dict such as {"max_attempts": 3}')
    return {name: _retry_field(name, value) for name, value in given.items()}


def _retry_field(name: str, value: Any) -> float:
    if name not in RETRY_FIELDS:
        raise ValueError(f"retry.{name}: is not one of {', '.join(RETRY_FIELDS)}")
    if name == "max_attempts" and type(value) is not int:
        raise ValueError(f"retry.{name}: must be a whole number, not {value!r}")
    number: float = value if type(value) is int else _named(f"retry.{name}", value)
    least, greatest = RETRY_FIELDS[name]
    if not least <= number <= greatest:
        raise ValueError(f"retry.{name}: must be from {least:g} to {greatest:g}, not {number:g}")
    return number


def _tags(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or not all(
        isinstance(key, str)
        and 0 < len(key) <= MAX_TAG_KEY
        and isinstance(text, str)
        and len(text) <= MAX_TAG_VALUE
        for key, text in given.items()
    ):
        raise ValueError('tags: must be a dict of short texts such as {"team": "growth"}')
    if len(given) > MAX_TAGS:
        raise ValueError(f"tags: must be at most {MAX_TAGS}")
    return dict(given)


def _limits(given: Any) -> list[dict[str, str]]:
    from duetime.core.limits.fields import BadLimits, read_limits  # most handlers have none

    try:
        uses = read_limits(given)
    except BadLimits as bad:
        raise ValueError(f"limits{f'.{bad.path}' if bad.path else ''}: {bad}") from None
    return [
        {"name": use.name, **({"key": use.key} if use.key else {}), "on_full": use.on_full.value}
        for use in uses
    ]


def _fairness_key(given: Any) -> str:
    if not isinstance(given, str) or not is_word(given):
        raise ValueError(f"fairness_key: {WORD_RULE}")
    return given


def _named(name: str, duration: Any) -> float:
    try:
        return to_seconds(duration)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None

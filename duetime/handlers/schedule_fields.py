"""The options of a declared schedule, read and checked as the API would.

Each function takes the name of an option and what it was given, returns its JSON, and raises
ValueError with the name for what the API would refuse.
"""

from collections.abc import Callable, Mapping
from typing import Any

from duetime.core.field_values import WORD_RULE, is_word, moment
from duetime.core.json_values import NotJson, to_json_value
from duetime.core.occurrence import OverlapPolicy
from duetime.core.times import Millis
from duetime.handlers.defaults import to_seconds

MAX_LEVELS = 100  # of nesting in a payload
MAX_NAME, MAX_ZONE, MAX_EXPRESSION = 256, 64, 1_000  # characters
MAX_RUNS = 1_000_000_000
MAX_FAILURES = 100
MAX_EXCLUSIONS, MAX_DATES = 50, 366
HOUR, DAY, YEAR = 3_600, 86_400, 365 * 86_400  # seconds
DST = {"gap": ("skip", "shift"), "overlap": ("first", "last", "both")}
MISFIRES = ("run_once", "run_all", "skip")

Read = Callable[[str, Any], Any]


def to_millis(name: str, given: Any) -> Millis:
    try:
        return moment(given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def time(name: str, given: Any) -> str:
    to_millis(name, given)
    return str(given)


def _word(name: str, given: Any) -> str:
    if not isinstance(given, str) or not is_word(given):
        raise ValueError(f"{name}: {WORD_RULE}, not {given!r}")
    return given


def _json(name: str, given: Any) -> Any:
    try:
        return to_json_value(given, levels=MAX_LEVELS, naive_times=False)
    except NotJson as error:
        raise ValueError(f"{name}: {error}") from None


def seconds_between(name: str, given: Any) -> float:
    """Returns the seconds between two runs."""
    return _duration(1, YEAR)(name, given)


def _text(name: str, given: Any, most: int = MAX_NAME) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= most:
        raise ValueError(f"{name}: must be text of 1 to {most} characters, not {given!r}")
    return given


def cron_rule(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "cron"} | _members("", given, CRON)


def _one_of(*known: str) -> Read:
    def read(name: str, given: Any) -> str:
        if given not in known:
            raise ValueError(f"{name}: must be one of {', '.join(known)}, not {given!r}")
        return str(given)

    return read


def _duration(least: float, most: float) -> Callable[[str, Any], float]:
    def read(name: str, given: Any) -> float:
        try:
            seconds = to_seconds(given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from None
        if not least <= seconds <= most:
            raise ValueError(f"{name}: must be from {least:g} to {most} seconds, not {seconds:g}")
        return seconds

    return read


def _count(most: int) -> Read:
    def read(name: str, given: Any) -> int:
        if type(given) is not int or not 1 <= given <= most:
            raise ValueError(f"{name}: must be a whole number from 1 to {most}, not {given!r}")
        return given

    return read


def _per_minute(name: str, given: Any) -> float:
    if type(given) not in (int, float) or not 1 <= given <= 6_000:
        raise ValueError(f"{name}: must be a number from 1 to 6000, not {given!r}")
    return float(given)


def _expression(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError(f'{name}: needs an expression such as "0 9 * * 1-5", not {given!r}')
    return _text(name, given, MAX_EXPRESSION)


def _zone(name: str, given: Any) -> str:
    return _text(name, given, MAX_ZONE)


def _members(name: str, given: Any, known: Mapping[str, Read]) -> dict[str, Any]:
    """Reads each member of a dict."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{name}: must be a dict of {', '.join(known)}, not {given!r}")
    read: dict[str, Any] = {}
    for field, value in given.items():
        path = f"{name}.{field}" if name else field
        if field not in known:
            raise ValueError(f"{path}: is not one of {', '.join(known)}")
        read[field] = known[field](path, value)
    return read


def _misfire(name: str, given: Any) -> dict[str, Any]:
    """A policy, or a dict with the policy and its fields."""
    if isinstance(given, Mapping):
        return _members(name, given, MISFIRE)
    return {"policy": _one_of(*MISFIRES)(name, given)}


def _dst(name: str, given: Any) -> dict[str, Any]:
    return _members(name, given, {part: _one_of(*known) for part, known in DST.items()})


def _dates(name: str, given: Any) -> list[str]:
    if (
        not given
        or not _is_list(given, MAX_DATES)
        or not all(isinstance(date, str) for date in given)
    ):
        example = '["2027-12-25"]'
        raise ValueError(f"{name}: must be a list of 1 to {MAX_DATES} dates such as {example}")
    return list(given)


def _exclude(name: str, given: Any) -> list[dict[str, Any]]:
    if not _is_list(given, MAX_EXCLUSIONS):
        raise ValueError(f"{name}: must be a list of at most {MAX_EXCLUSIONS} exclusions")
    return [_exclusion(f"{name}.{at}", one) for at, one in enumerate(given)]


def _exclusion(name: str, given: Any) -> dict[str, Any]:
    kinds: dict[str, tuple[Mapping[str, Read], str]] = {
        "cron": (CRON, "expression"),
        "dates": (DATES, "dates"),
    }
    kind = given.get("type") if isinstance(given, Mapping) else None
    if kind not in kinds:
        raise ValueError(f"{name}: must be a dict whose type is cron or dates, not {given!r}")
    known, needed = kinds[kind]
    read = _members(name, {n: v for n, v in given.items() if n != "type"}, known)
    if needed not in read:
        raise ValueError(f"{name}.{needed}: is required")
    return {"type": kind, **read}


def _is_list(given: Any, most: int) -> bool:
    return isinstance(given, list | tuple) and len(given) <= most


CRON: Mapping[str, Read] = {
    "expression": _expression,
    "timezone": _zone,
    "dst": _dst,
    "seconds": _one_of("first", "last"),
    "days": _one_of("either", "both"),
}
DATES: Mapping[str, Read] = {"dates": _dates, "timezone": _zone}
MISFIRE: Mapping[str, Read] = {
    "policy": _one_of(*MISFIRES),
    "grace": _duration(0, DAY),
    "window": _duration(0, YEAR),
    "per_minute": _per_minute,
}
OF_THE_TASK: Mapping[str, Read] = {"payload": _json, "namespace": _word}
OPTIONS: Mapping[str, Read] = {
    "name": _text,
    "overlap": _one_of(*(policy.value for policy in OverlapPolicy)),
    "misfire": _misfire,
    "starts_at": time,
    "ends_at": time,
    "max_runs": _count(MAX_RUNS),
    "jitter": _duration(0, HOUR),
    "pause_on_failure": _count(MAX_FAILURES),
    "exclude": _exclude,
}

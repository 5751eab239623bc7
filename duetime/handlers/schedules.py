"""Schedules beside their handler: `@task("reports.daily", schedule=cron("0 9 * * 1-5"))`.

`cron`, `every` and `after` return a value that does nothing by itself. `duetime sync`, the local
runner and a deployment read it from the source code and store it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from duetime.core.json_values import NotJson, to_json_value
from duetime.core.occurrence import OverlapPolicy
from duetime.core.value import value
from duetime.handlers.defaults import NAMES, read_defaults, to_seconds

if TYPE_CHECKING:
    from duetime.handlers.handler import Delay
    from duetime.handlers.options import Priority, RetryFields

MAX_LEVELS = 100  # of nesting in a payload
MAX_NAME = 256
DST = {"gap": ("skip", "shift"), "overlap": ("first", "last", "both")}
MISFIRES = ("run_once", "run_all", "skip")


class DstOptions(TypedDict, total=False):
    gap: Literal["skip", "shift"]
    overlap: Literal["first", "last", "both"]


class MisfireOptions(TypedDict, total=False):
    policy: Literal["run_once", "run_all", "skip"]
    grace: "Delay"
    window: "Delay"
    per_minute: float


class ScheduleOptions(TypedDict, total=False):
    """What every schedule can have; see the reference of schedules. `name` is needed if a handler
    has several. Times are RFC 3339 text, durations are seconds or text such as "5m"."""

    name: str
    payload: Any
    overlap: Literal["allow", "skip", "queue", "cancel"]
    misfire: Literal["run_once", "run_all", "skip"] | MisfireOptions
    starts_at: str
    ends_at: str
    max_runs: int
    jitter: "Delay"
    pause_on_failure: int
    exclude: list[dict[str, Any]]
    namespace: str
    priority: "Priority"
    retry: "RetryFields"
    timeout: "Delay"
    tags: dict[str, str]


@value(frozen=True, kw_only=True, slots=True)
class DeclaredSchedule:
    """A schedule as its declaration says: parts of the body of `POST /v1/schedules`."""

    rule: Mapping[str, Any]
    fields: Mapping[str, Any]
    task: Mapping[str, Any]

    def body(self, handler: str) -> dict[str, Any]:
        """Returns the schedule of a handler. Without a name of its own it has the handler's."""
        target = {"type": "python", "handler": handler}
        return {
            "name": handler,
            "rule": dict(self.rule),
            **self.fields,
            "task": {"target": target, **self.task},
        }


def cron(
    expression: str,
    *,
    tz: str | None = None,
    dst: DstOptions | None = None,
    seconds: Literal["first", "last"] | None = None,
    days: Literal["either", "both"] | None = None,
    **options: Unpack[ScheduleOptions],
) -> DeclaredSchedule:
    """Declares a schedule that fires by a cron expression.

    Args:
        expression: Five fields, or six with `seconds`; names, `L`, `#` and `@daily` are known.
        tz: The time zone, such as `Europe/Berlin`; UTC by default.
        dst: What happens to a local time that does not exist or exists twice.
        seconds: Where the seconds are in six fields.
        days: Whether a day must match `either` the day of the month or the weekday, or `both`.
        **options: What every schedule can have: see ScheduleOptions."""
    if not isinstance(expression, str):
        raise TypeError(f'cron: needs an expression such as "0 9 * * 1-5", not {expression!r}')
    given = {
        "timezone": tz and _name("tz", tz),
        "dst": dst and _dst(dst),
        "seconds": seconds and _one_of("seconds", seconds, ("first", "last")),
        "days": days and _one_of("days", days, ("either", "both")),
    }
    rule = {name: choice for name, choice in given.items() if choice}
    return _declared({"type": "cron", "expression": expression, **rule}, options)


def every(
    interval: "Delay", *, anchor: str | None = None, **options: Unpack[ScheduleOptions]
) -> DeclaredSchedule:
    """Declares a schedule that fires at a fixed interval, whatever a run takes.

    Args:
        interval: Seconds, or text such as "10m".
        anchor: The time that the intervals count from; by default when the schedule is created.
        **options: What every schedule can have: see ScheduleOptions."""
    rule: dict[str, Any] = {"type": "rate", "every": _seconds("every", interval)}
    if anchor is not None:
        rule["anchor"] = _moment("anchor", anchor)
    return _declared(rule, options)


def after(delay: "Delay", **options: Unpack[ScheduleOptions]) -> DeclaredSchedule:
    """Declares a schedule that fires a fixed time after the end of the previous run.

    Args:
        delay: Seconds, or text such as "5m".
        **options: What every schedule can have: see ScheduleOptions."""
    return _declared({"type": "delay", "delay": _seconds("after", delay)}, options)


def as_schedules(given: Any) -> tuple[DeclaredSchedule, ...]:
    """Returns what `task(schedule=…)` was given, one schedule or several, as a tuple."""
    several = tuple(given) if isinstance(given, list | tuple) else (given,)
    for one in several:
        if not isinstance(one, DeclaredSchedule):
            raise TypeError(f"schedule: needs cron(…), every(…) or after(…), not {one!r}")
    names = [one.fields.get("name") for one in several]
    for name in names:
        if names.count(name) > 1:
            which = "without a name" if name is None else f"named {name!r}"
            raise ValueError(f"schedule: there are two {which}; give each a name of its own")
    return several


def _declared(rule: Mapping[str, Any], options: Mapping[str, Any]) -> DeclaredSchedule:
    if unknown := sorted(options.keys() - ScheduleOptions.__annotations__.keys()):
        known = ", ".join(ScheduleOptions.__annotations__)
        raise TypeError(f"there is no option {unknown[0]!r} of a schedule; known: {known}")
    given = {name: value for name, value in options.items() if value is not None}
    task = dict(read_defaults({name: given.pop(name) for name in NAMES if name in given}))
    for name in ("payload", "namespace"):
        if name in given:
            task[name] = _json(name, given.pop(name))
    fields = {name: _READ[name](name, value) for name, value in given.items()}
    return DeclaredSchedule(rule=rule, fields=fields, task=task)


def _json(name: str, given: Any) -> Any:
    try:
        return to_json_value(given, levels=MAX_LEVELS, naive_times=False)
    except NotJson as error:
        raise ValueError(f"{name}: {error}") from None


def _seconds(name: str, given: Any) -> float:
    try:
        return to_seconds(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None


def _name(name: str, given: Any) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= MAX_NAME:
        raise ValueError(f"{name}: must be text of 1 to {MAX_NAME} characters, not {given!r}")
    return given


def _overlap(name: str, given: Any) -> str:
    return _one_of(name, given, [policy.value for policy in OverlapPolicy])


def _one_of(name: str, given: Any, known: Sequence[str]) -> str:
    if given not in known:
        raise ValueError(f"{name}: must be one of {', '.join(known)}, not {given!r}")
    return str(given)


def _dst(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or not given.keys() <= DST.keys():
        raise ValueError(f"dst: must be a dict of {', '.join(DST)}, not {given!r}")
    return {name: _one_of(f"dst.{name}", given[name], DST[name]) for name in given}


def _misfire(name: str, given: Any) -> dict[str, Any]:
    """A policy, or a dict with the policy and its fields."""
    if not isinstance(given, Mapping):
        return {"policy": _one_of(name, given, MISFIRES)}
    read: dict[str, Any] = {}
    for field, value_ in given.items():
        if field not in MisfireOptions.__annotations__:
            known = ", ".join(MisfireOptions.__annotations__)
            raise ValueError(f"{name}.{field}: is not one of {known}")
        if field == "policy":
            read[field] = _one_of(f"{name}.policy", value_, MISFIRES)
        else:
            read[field] = _seconds(f"{name}.{field}", value_)
    return read


def _moment(name: str, given: Any) -> str:
    example = "2027-01-04T09:00:00+01:00"
    try:
        aware = datetime.fromisoformat(given).utcoffset() is not None
    except (TypeError, ValueError):
        aware = False
    if not aware:
        raise ValueError(f"{name}: must be a time with an offset such as {example!r}")
    return str(given)


def _count(name: str, given: Any) -> int:
    if type(given) is not int or given < 1:
        raise ValueError(f"{name}: must be a whole number from 1, not {given!r}")
    return given


_READ = {
    "name": _name,
    "overlap": _overlap,
    "misfire": _misfire,
    "starts_at": _moment,
    "ends_at": _moment,
    "max_runs": _count,
    "jitter": _seconds,
    "pause_on_failure": _count,
    "exclude": _json,
}

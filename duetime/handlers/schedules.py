"""Schedules beside their handler: `@task("reports.daily", schedule=cron("0 9 * * 1-5"))`.

`cron`, `every` and `after` return a value that does nothing by itself. `duetime sync`, the local
runner and a deployment read it from the source code and store it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from duetime.core.template import OF_THE_SCHEDULE, check_names
from duetime.core.value import value
from duetime.handlers import schedule_fields
from duetime.handlers.defaults import NAMES, read_defaults
from duetime.handlers.schedule_fields import seconds_between, time, to_millis

if TYPE_CHECKING:
    from duetime.handlers.handler import Delay
    from duetime.handlers.options import Priority, RetryFields


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

    @property
    def payload(self) -> Any:
        return self.task.get("payload")

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
        "expression": expression,
        "timezone": tz,
        "dst": dst,
        "seconds": seconds,
        "days": days,
    }
    rule = schedule_fields.cron_rule({n: choice for n, choice in given.items() if choice})
    return _declared(rule, options)


def every(
    interval: "Delay", *, anchor: str | None = None, **options: Unpack[ScheduleOptions]
) -> DeclaredSchedule:
    """Declares a schedule that fires at a fixed interval, whatever a run takes.

    Args:
        interval: Seconds, or text such as "10m".
        anchor: The time that the intervals count from; by default when the schedule is created.
        **options: What every schedule can have: see ScheduleOptions."""
    rule: dict[str, Any] = {"type": "rate", "every": seconds_between("every", interval)}
    if anchor is not None:
        rule["anchor"] = time("anchor", anchor)
    return _declared(rule, options)


def after(delay: "Delay", **options: Unpack[ScheduleOptions]) -> DeclaredSchedule:
    """Declares a schedule that fires a fixed time after the end of the previous run.

    Args:
        delay: Seconds, or text such as "5m".
        **options: What every schedule can have: see ScheduleOptions."""
    return _declared({"type": "delay", "delay": seconds_between("after", delay)}, options)


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
    for name, read in schedule_fields.OF_THE_TASK.items():
        if name in given:
            task[name] = read(name, given.pop(name))
    check_names({"payload": task.get("payload")})
    check_names({"tags": task.get("tags")}, OF_THE_SCHEDULE)
    fields = {name: schedule_fields.OPTIONS[name](name, value) for name, value in given.items()}
    _check_together(rule, fields)
    return DeclaredSchedule(rule=rule, fields=fields, task=task)


def _check_together(rule: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
    if rule["type"] == "delay" and fields.get("exclude"):
        raise ValueError("exclude: does not go with after(…)")
    if "starts_at" in fields and "ends_at" in fields:
        start, end = (to_millis(name, fields[name]) for name in ("starts_at", "ends_at"))
        if end <= start:
            raise ValueError("ends_at: must be after starts_at")

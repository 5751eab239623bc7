"""The options of `duetime schedules create` and `update`, in the groups of --help."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from duetime.cli.parse import duration, finite, moment
from duetime.cli.task_options import DURATION, LABELS, TIME, WHAT, TaskOptions, given
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import DayMatch, DstGap, DstOverlap, Seconds
from duetime.core.schedules.plan import MisfirePolicy

FIRES = "When it fires"
BOUNDS = "From when to when"
TROUBLE = "If it cannot keep up"

Cron = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EXPRESSION",
        help='E.g. "0 9 * * 1-5", EventBridge\'s cron(…) or rate(…); repeatable. Try it: duetime'
        " cron.",
        rich_help_panel=FIRES,
    ),
]
Tz = Annotated[
    str | None,
    typer.Option(
        "--tz",
        metavar="ZONE",
        help="Time zone of --cron and the exclusions, e.g. Europe/Berlin.",
        show_default="UTC",
        rich_help_panel=FIRES,
    ),
]
SecondsOption = Annotated[
    Seconds | None,
    typer.Option(
        "--seconds",
        help="Where the seconds are in --cron and --exclude-cron of six fields.",
        rich_help_panel=FIRES,
    ),
]
Days = Annotated[
    DayMatch | None,
    typer.Option(
        "--days",
        help="With --cron and --exclude-cron that restrict both day and weekday: match either or"
        " both.",
        show_default="either",
        rich_help_panel=FIRES,
    ),
]
GapOption = Annotated[
    DstGap | None,
    typer.Option(
        "--gap",
        help="With --cron: a local time that daylight saving skips.",
        rich_help_panel=FIRES,
    ),
]
DstOverlapOption = Annotated[
    DstOverlap | None,
    typer.Option(
        "--dst-overlap", help="With --cron: a local time that occurs twice.", rich_help_panel=FIRES
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar=DURATION,
        help="E.g. 10s, 5m, 1h30m, from start to start.",
        rich_help_panel=FIRES,
    ),
]
Anchor = Annotated[
    str | None,
    typer.Option(
        metavar=TIME,
        help="With --every: a time to count from.",
        show_default="when it is created",
        rich_help_panel=FIRES,
    ),
]
Delay = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="This long after the previous run has ended.", rich_help_panel=FIRES
    ),
]
ExcludeDate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DATE", help="Not on this day, e.g. 2026-12-25; repeatable.", rich_help_panel=FIRES
    ),
]
ExcludeCron = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EXPRESSION",
        help='Not then, e.g. "* 12 * * *" for noon to one; repeatable.',
        rich_help_panel=FIRES,
    ),
]
StartsAt = Annotated[
    str | None,
    typer.Option(metavar=TIME, help="No fire time before this.", rich_help_panel=BOUNDS),
]
EndsAt = Annotated[
    str | None,
    typer.Option(metavar=TIME, help="No fire time from this on.", rich_help_panel=BOUNDS),
]
MaxRuns = Annotated[
    int | None,
    typer.Option(min=1, help="The schedule finishes after this many runs.", rich_help_panel=BOUNDS),
]
Jitter = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="Add up to this much to each run at random.", rich_help_panel=BOUNDS
    ),
]
Misfire = Annotated[
    MisfirePolicy | None,
    typer.Option(
        help="What to do with missed fire times.",
        show_default="run_once",
        rich_help_panel=TROUBLE,
    ),
]
Grace = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="A fire time this late is missed.",
        show_default="60",
        rich_help_panel=TROUBLE,
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="Skip missed fire times older than this.", rich_help_panel=TROUBLE
    ),
]
PerMinute = Annotated[
    float | None,
    typer.Option(
        metavar="N", help="The pace of run_all.", show_default="60", rich_help_panel=TROUBLE
    ),
]
OverlapOption = Annotated[
    OverlapPolicy | None,
    typer.Option(
        "--overlap",
        help="If the previous run has not ended.",
        show_default="skip",
        rich_help_panel=TROUBLE,
    ),
]
PauseOnFailure = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Pause after this many dead runs in a row.",
        rich_help_panel=TROUBLE,
    ),
]
Name = Annotated[
    str | None, typer.Option(help="Of the schedule, for people to read.", rich_help_panel=LABELS)
]
TaskName = Annotated[
    str | None, typer.Option(help="Of its tasks; may be a template.", rich_help_panel=LABELS)
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(help="Creating again with it makes no second schedule.", rich_help_panel=LABELS),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="FILE|-", help="A whole schedule as JSON.", rich_help_panel=WHAT
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanOptions:
    starts_at: StartsAt = None
    ends_at: EndsAt = None
    max_runs: MaxRuns = None
    jitter: Jitter = None
    misfire: Misfire = None
    grace: Grace = None
    window: Window = None
    per_minute: PerMinute = None
    overlap: OverlapOption = None
    pause_on_failure: PauseOnFailure = None
    name: Name = None
    task_name: TaskName = None

    def fields(self, what: TaskOptions, current: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns the fields of a schedule as submitted, without the options that were not given.

        A field with parts (task, retry, misfire) is returned whole: the parts that were given, and
        the others from `current`, the schedule as it is now."""
        was = current or {}
        task = {**what.fields(), **given(name=self.task_name)}
        if "retry" in task:
            task["retry"] = {**was.get("task", {}).get("retry", {}), **task["retry"]}
        misfire = self._misfire()
        return given(
            name=self.name,
            task={**was.get("task", {}), **task} if task else None,
            starts_at=moment("--starts-at", self.starts_at),
            ends_at=moment("--ends-at", self.ends_at),
            max_runs=self.max_runs,
            jitter=duration("--jitter", self.jitter),
            misfire={**was.get("misfire", {}), **misfire} if misfire else None,
            overlap=self.overlap and self.overlap.value,
            pause_on_failure=self.pause_on_failure,
        )

    def _misfire(self) -> dict[str, Any]:
        return given(
            policy=self.misfire and self.misfire.value,
            grace=duration("--grace", self.grace),
            window=duration("--window", self.window),
            per_minute=finite("--per-minute", self.per_minute),
        )

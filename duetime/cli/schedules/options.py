"""The options of `duetime schedules create` and `update`, as --help groups them."""

from typing import Annotated

import typer

from duetime.cli.submit_options import DURATION, LABELS, TIME, WHAT
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DayMatch, Gap, Overlap, Seconds
from lambdas.core.schedules.plan import MisfirePolicy

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
        help="Of --cron and of what is excluded, e.g. Europe/Berlin.",
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
        help="With --cron and --exclude-cron that restrict both day and weekday: which a day must"
        " match.",
        show_default="either",
        rich_help_panel=FIRES,
    ),
]
GapOption = Annotated[
    Gap | None,
    typer.Option(
        "--gap",
        help="With --cron: a local time that daylight saving leaves out.",
        rich_help_panel=FIRES,
    ),
]
DstOverlap = Annotated[
    Overlap | None,
    typer.Option(
        "--dst-overlap", help="With --cron: a local time that comes twice.", rich_help_panel=FIRES
    ),
]
Every = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar=DURATION,
        help="E.g. 10s, 5m, 1h30m; whatever a run takes.",
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
        metavar=DURATION, help="So long after the previous run ended.", rich_help_panel=FIRES
    ),
]
ExcludeDate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DATE", help="Not on that day, e.g. 2026-12-25; repeatable.", rich_help_panel=FIRES
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
    typer.Option(metavar=TIME, help="Nor from this on.", rich_help_panel=BOUNDS),
]
MaxRuns = Annotated[
    int | None, typer.Option(min=1, help="Then it is finished.", rich_help_panel=BOUNDS)
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
        help="What to do about fire times that were missed.",
        show_default="run_once",
        rich_help_panel=TROUBLE,
    ),
]
Grace = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="Later than this is missed.",
        show_default="60",
        rich_help_panel=TROUBLE,
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="Longer ago than this is skipped.", rich_help_panel=TROUBLE
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
        help="If the run before is not over.",
        show_default="skip",
        rich_help_panel=TROUBLE,
    ),
]
PauseOnFailure = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Pause after so many dead runs in a row.", rich_help_panel=TROUBLE
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
    typer.Option(help="Creating again with it makes no second one.", rich_help_panel=LABELS),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="FILE|-", help="A whole schedule as JSON.", rich_help_panel=WHAT
    ),
]

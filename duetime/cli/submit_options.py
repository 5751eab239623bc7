"""The options of `duetime submit`, as --help groups them."""

from typing import Annotated

import typer

from lambdas.core.lanes import Lane

WHAT, WHEN, RETRIES, LABELS = "What to do", "When", "If it fails", "Labels and keys"
DURATION = "DURATION"
TIME = "TIME"

Handler = Annotated[
    str | None,
    typer.Option(help="A Python handler, e.g. reports.daily.", rich_help_panel=WHAT),
]
Http = Annotated[
    str | None, typer.Option(metavar="URL", help="An address to call.", rich_help_panel=WHAT)
]
Method = Annotated[
    str | None,
    typer.Option(help="With --http.", show_default="POST", rich_help_panel=WHAT),
]
Header = Annotated[
    list[str] | None,
    typer.Option(metavar="'K: V'", help="With --http; repeatable.", rich_help_panel=WHAT),
]
Payload = Annotated[
    str | None,
    typer.Option(metavar="JSON|@FILE|-", help="What it is given.", rich_help_panel=WHAT),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE|-",
        help="A whole task as JSON, or a list of tasks.",
        rich_help_panel=WHAT,
    ),
]
In = Annotated[
    str | None,
    typer.Option(
        "--in", metavar=DURATION, help="E.g. 10, 90s, 5m, 1h30m, 2d.", rich_help_panel=WHEN
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar=TIME, help="E.g. 2026-11-16T09:00:00+01:00.", rich_help_panel=WHEN
    ),
]
Jitter = Annotated[
    str | None,
    typer.Option(metavar=DURATION, help="Add up to this much at random.", rich_help_panel=WHEN),
]
ExpiresAt = Annotated[
    str | None,
    typer.Option(metavar=TIME, help="Do not start it after this.", rich_help_panel=WHEN),
]
Priority = Annotated[
    Lane | None,
    typer.Option(case_sensitive=False, show_default="medium", rich_help_panel=WHAT),
]
Timeout = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="How long an attempt may take; at most 7d, on a deployed stage 14m.",
        show_default="60",
        rich_help_panel=RETRIES,
    ),
]
MaxAttempts = Annotated[
    int | None,
    typer.Option(help="Counts the first.", show_default="5", rich_help_panel=RETRIES),
]
BaseDelay = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="The pause after the first failure.",
        show_default="1",
        rich_help_panel=RETRIES,
    ),
]
Multiplier = Annotated[
    float | None,
    typer.Option(help="How the pause grows.", show_default="2", rich_help_panel=RETRIES),
]
MaxDelay = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION, help="The longest pause.", show_default="1h", rich_help_panel=RETRIES
    ),
]
RetryJitter = Annotated[
    str | None,
    typer.Option(
        metavar=DURATION,
        help="Add up to this much to each pause.",
        show_default="0.5",
        rich_help_panel=RETRIES,
    ),
]
Name = Annotated[str | None, typer.Option(help="For people to read.", rich_help_panel=LABELS)]
Namespace = Annotated[
    str | None,
    typer.Option(help="Whose task it is.", show_default="default", rich_help_panel=LABELS),
]
Tag = Annotated[
    list[str] | None, typer.Option(metavar="K=V", help="Repeatable.", rich_help_panel=LABELS)
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(help="Submitting again with it makes no second task.", rich_help_panel=LABELS),
]
OrderingKey = Annotated[
    str | None,
    typer.Option(help="Kept with the task; it has no effect yet.", rich_help_panel=LABELS),
]

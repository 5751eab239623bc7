"""The options of a task that say when it may start: limits, order and turns."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from duetime.cli.parse import refuse
from duetime.core.limits.definition import OnDead, OnFull

TURNS = "Limits and order"

Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[:KEY]",
        help="A limit that it is under, e.g. stripe or stripe:acct-7; repeatable.",
        rich_help_panel=TURNS,
    ),
]
IfFull = Annotated[
    OnFull | None,
    typer.Option(
        "--on-full",
        help="With --limit: wait, be cancelled, or cancel the oldest task under the limit.",
        show_default="queue",
        rich_help_panel=TURNS,
    ),
]
FairnessKey = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Tasks with different keys take turns.",
        show_default="its namespace",
        rich_help_panel=TURNS,
    ),
]
OrderingKey = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Tasks with one key start one at a time, in the order of their due times.",
        rich_help_panel=TURNS,
    ),
]
IfDead = Annotated[
    OnDead | None,
    typer.Option(
        "--on-dead",
        help="With --ordering-key: if it dies, the tasks behind it go on, or wait.",
        show_default="continue",
        rich_help_panel=TURNS,
    ),
]


def limit_fields(limits: Sequence[str] | None, on_full: OnFull | None) -> list[dict[str, Any]]:
    """Returns `limits` of a task as submitted."""
    if on_full is not None and not limits:
        refuse("--on-full", "goes with --limit")
    return [_use(text, on_full) for text in limits or []]


def _use(text: str, on_full: OnFull | None) -> dict[str, Any]:
    name, colon, key = text.partition(":")
    if not name or (colon and not key):
        refuse("--limit", f"{text!r} does not look like stripe or stripe:acct-7")
    use = {"name": name, **({"key": key} if key else {})}
    return use if on_full is None else {**use, "on_full": on_full.value}

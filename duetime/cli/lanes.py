"""`duetime lanes`: how busy the lanes are."""

from collections.abc import Callable
from time import sleep
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.cli.output import is_terminal, print_json, print_text, stdout_console
from duetime.cli.parse import poll_interval, refuse

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from duetime.client import LaneState

EVERY = "2"  # seconds

T = TypeVar("T")


@grouped
def lanes(
    *,
    connection: Connection,
    watch: Annotated[bool, typer.Option("--watch", help="Show them again until Ctrl-C.")] = False,
    every: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How often, with --watch.", show_default=EVERY),
    ] = None,
) -> None:
    """How many tasks wait in each lane, how many run, and how fast they come and go."""
    if every is not None and not watch:
        refuse("--every", "goes with --watch")
    with connection.connect() as client:
        if watch:
            interval = poll_interval("--every", every or EVERY)
            follow(client.lanes, interval, _table, as_json=connection.json)
        else:
            found = client.lanes()
            connection.print({"items": found}, lambda: [_table(found)])


def follow(
    read: Callable[[], list[T]],
    interval: float,
    shown: "Callable[[list[T]], RenderableType]",
    *,
    as_json: bool,
) -> None:
    """Shows what `read` returns again and again: in place on a terminal, otherwise one after the
    other."""
    if as_json or not is_terminal():
        while True:
            found = read()
            if as_json:
                print_json({"items": found})
            else:
                print_text(shown(found), "")
            sleep(interval)
    from rich.live import Live

    with Live(console=stdout_console(), auto_refresh=False) as live:
        while True:
            live.update(shown(read()), refresh=True)
            sleep(interval)


def _table(found: "list[LaneState]") -> "Table":
    from duetime.cli.views import lane_table

    return lane_table(found)

"""`duetime lanes`: how busy the lanes are."""

from collections.abc import Iterator
from time import sleep
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.cli.output import is_terminal, print_json, print_text, stdout_console
from duetime.cli.parse import poll_interval, refuse

if TYPE_CHECKING:
    from rich.table import Table

    from duetime.client import Client, LaneState

EVERY = "2"  # seconds


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
            _follow(_readings(client, poll_interval("--every", every or EVERY)), connection.json)
        else:
            found = client.lanes()
            connection.print({"items": found}, lambda: [_table(found)])


def _readings(client: "Client", interval: float) -> "Iterator[list[LaneState]]":
    while True:
        yield client.lanes()
        sleep(interval)


def _follow(readings: "Iterator[list[LaneState]]", as_json: bool) -> None:
    if as_json or not is_terminal():
        for found in readings:
            if as_json:
                print_json({"items": found})
            else:
                print_text(_table(found), "")
        return
    from rich.live import Live

    with Live(console=stdout_console(), auto_refresh=False) as live:
        for found in readings:
            live.update(_table(found), refresh=True)


def _table(found: "list[LaneState]") -> "Table":
    from duetime.cli.views import lane_table

    return lane_table(found)

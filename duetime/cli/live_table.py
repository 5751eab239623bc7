"""Options that show a table once, or again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from duetime.cli.options import Connection
from duetime.cli.output import is_terminal, print_json, print_text, stdout_console
from duetime.cli.parse import poll_interval, refuse

if TYPE_CHECKING:
    from rich.console import RenderableType

EVERY = "2"  # seconds

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveTable:
    """Whether to show a table again, and how often."""

    watch: Annotated[bool, typer.Option("--watch", help="Show them again until Ctrl-C.")] = False
    every: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How often, with --watch.", show_default=EVERY),
    ] = None

    def print(
        self,
        read: Callable[[], list[T]],
        shown: "Callable[[list[T]], RenderableType]",
        connection: Connection,
    ) -> None:
        """Prints what `read` returns; with --watch until Ctrl-C."""
        if self.watch:
            interval = poll_interval("--every", self.every or EVERY)
            _follow(read, interval, shown, as_json=connection.json)
        else:
            found = read()
            connection.print({"items": found}, lambda: [shown(found)])

    def check(self) -> None:
        if self.every is not None and not self.watch:
            refuse("--every", "goes with --watch")


def _follow(
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

"""What `duetime watch` and `duetime runs watch` have in common."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from duetime.cli.output import stdout_console

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T")


def last_of(readings: Iterator[T]) -> T:
    """Returns the last reading: a call that follows something reads it at least once."""
    for reading in readings:
        last = reading
    return last


def print_live(readings: Iterator[T], picture: "Callable[[T], RenderableType]") -> T:
    """Draws each reading in place of the one before, and returns the last."""
    from rich.live import Live

    with Live(console=stdout_console(), auto_refresh=False) as live:
        for reading in readings:
            last = reading
            live.update(picture(reading), refresh=True)
    return last

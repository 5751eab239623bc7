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
    """Draws each reading in place of the one before, and returns the last. Between two readings it
    is drawn again, for what its picture says about the time."""
    from rich.live import Live

    last = next(readings)
    with Live(console=stdout_console(), get_renderable=lambda: picture(last)) as live:
        for reading in readings:
            last = reading
            live.refresh()
    return last

"""A list, of tasks or others: how it is read, and how it is printed."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, TypedDict, TypeVar

from rich.table import Table

from duetime.cli import phrases
from duetime.cli.output import say, say_json
from duetime.client import PAGE

EMPTY = "No tasks yet. Submit one: duetime submit --handler duetime.hello --in 10"
NO_MATCH = "No task matches."
NOT_SHOWN = "Runs of schedules that are yet to come are not shown: --upcoming."
NONE_DEAD = "No dead letters."
NO_DEAD_MATCH = "No dead letter matches."
NO_SCHEDULES = (
    "No schedules yet. "
    "Create one: duetime schedules create --every 10s --handler duetime.hello --name hello"
)
NO_SCHEDULE_MATCHES = "No schedule matches."

Item = TypeVar("Item")


class Page(TypedDict, Generic[Item]):
    items: list[Item]
    next_cursor: str | None


ReadPage = Callable[[int, str | None], Page[Item]]  # of that size, from that cursor on
View = Callable[[Sequence[Item], datetime], Table]


def read(page_of: ReadPage[Item], limit: int | None, cursor: str | None) -> Page[Item]:
    """As many pages as it takes: each may be short, and none reads past the limit, so that
    the cursor still fits."""
    items: list[Item] = []
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(items))
        page = page_of(size, cursor)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) == limit:
            return {"items": items, "next_cursor": cursor}


def print_list(page: Page[Item], view: View[Item], empty: str, *, as_json: bool) -> None:
    if as_json:
        say_json(page)
    elif page["items"]:
        say(view(page["items"], phrases.now()))
        if page["next_cursor"] is not None:
            say("There are more: --limit N or --all.")
    else:
        say(empty)

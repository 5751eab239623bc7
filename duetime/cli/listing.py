"""A list of tasks: how it is read, and how it is printed."""

from collections.abc import Callable, Sequence
from datetime import datetime

from rich.table import Table

from duetime.cli import phrases
from duetime.cli.output import say, say_json
from duetime.client import PAGE, Task, TaskPage

EMPTY = "No tasks yet. Submit one: duetime submit --handler duetime.hello --in 10"
NO_MATCH = "No task matches."
NONE_DEAD = "No dead letters."
NO_DEAD_MATCH = "No dead letter matches."

ReadPage = Callable[[int, str | None], TaskPage]  # of that size, from that cursor on
View = Callable[[Sequence[Task], datetime], Table]


def read(page_of: ReadPage, *, limit: int | None, cursor: str | None) -> TaskPage:
    """As many pages as it takes: each may be short, and none reads past the limit, so that
    the cursor still fits."""
    items: list[Task] = []
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(items))
        page = page_of(size, cursor)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) == limit:
            return TaskPage(items=items, next_cursor=cursor)


def print_list(page: TaskPage, view: View, empty: str, *, as_json: bool) -> None:
    if as_json:
        say_json(page)
    elif page["items"]:
        say(view(page["items"], phrases.now()))
        if page["next_cursor"] is not None:
            say("There are more: --limit N or --all.")
    else:
        say(empty)

"""A list of tasks: how it is read, and how it is printed."""

from collections.abc import Mapping
from typing import Any

from duetime.cli import phrases
from duetime.cli.output import say, say_json
from duetime.cli.views import task_table
from duetime.client import PAGE, Client, Task, TaskPage

EMPTY = "No tasks yet. Submit one: duetime submit --handler duetime.hello --in 10"
NO_MATCH = "No task matches."


def read(
    client: Client, filters: Mapping[str, Any], *, limit: int | None, cursor: str | None
) -> TaskPage:
    """As many pages as it takes: each may be short, and none reads past the limit, so that
    the cursor still fits."""
    items: list[Task] = []
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(items))
        page = client.page(**filters, limit=size, cursor=cursor)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) == limit:
            return TaskPage(items=items, next_cursor=cursor)


def print_list(page: TaskPage, filters: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        say_json(page)
    elif page["items"]:
        say(task_table(page["items"], phrases.now()))
        if page["next_cursor"] is not None:
            say("There are more: --limit N or --all.")
    else:
        say(NO_MATCH if any(filters.values()) else EMPTY)

"""Lists: how a command reads their pages and prints them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar

from duetime.cli.format import now
from duetime.cli.options import Connection
from duetime.cli.output import print_text

if TYPE_CHECKING:
    from rich.table import Table

NO_TASKS = "No tasks yet. Submit one: duetime submit --handler duetime.hello --in 10"
NO_TASK_MATCHES = "No task matches."
UPCOMING_HIDDEN = "Future runs of schedules are not shown: --upcoming."
NO_DEAD_LETTERS = "No dead letters."
NO_DEAD_LETTER_MATCHES = "No dead letter matches."
NO_SCHEDULES = (
    "No schedules yet. "
    "Create one: duetime schedules create --every 10s --handler duetime.hello --name hello"
)
NO_SCHEDULE_MATCHES = "No schedule matches."

Item = TypeVar("Item")


class Page(TypedDict, Generic[Item]):
    items: list[Item]
    next_cursor: str | None


ReadPage = Callable[[int, str | None], Page[Item]]  # takes the size of a page and its cursor
View = Callable[[Sequence[Item], datetime], "Table"]


def read_pages(page_of: ReadPage[Item], limit: int | None, cursor: str | None) -> Page[Item]:
    """Reads pages until `limit` items are found or the list ends.

    The API may return a short page. No page reads past the limit, so the last cursor is where
    the next call continues."""
    from duetime.client import PAGE

    items: list[Item] = []
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(items))
        page = page_of(size, cursor)
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None or len(items) == limit:
            return {"items": items, "next_cursor": cursor}


def print_list(connection: Connection, page: Page[Item], view: View[Item], *, empty: str) -> None:
    """Prints a list, or `empty` if it has no items."""
    if not page["items"]:
        connection.print(page, lambda: [empty])
        return
    connection.print(page, lambda: [view(page["items"], now())])
    if page["next_cursor"] is not None and not connection.json:
        print_text("There are more: --limit N or --all.")

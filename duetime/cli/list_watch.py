"""`duetime list --watch`: a list whose rows change in place."""

import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from duetime.cli import format as fmt
from duetime.cli.following import print_live
from duetime.cli.options import Paging
from duetime.cli.output import is_terminal, print_text
from duetime.cli.parse import refuse

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.client import Task, TaskPage


def page_size(paging: Paging) -> int:
    """Returns how many tasks are watched: one page of them."""
    from duetime.client import PAGE

    if paging.everything:
        refuse("--all", "does not go with --watch")
    if paging.cursor is not None:
        refuse("--cursor", "does not go with --watch")
    if paging.limit > PAGE:
        refuse("--limit", f"must be at most {PAGE} with --watch")
    return paging.limit


def watch_list(pages: "Iterator[TaskPage]", *, empty: str, as_json: bool) -> None:
    """Shows the pages until Ctrl-C: as a table on a terminal, otherwise each row that is new or has
    changed as a line, of JSON or of text."""
    if as_json:
        _print_changes(pages, _print_json_line)
    elif is_terminal():
        print_live(pages, lambda page: _table(page, empty))
    else:
        _print_changes(pages, _print_line)


def _table(page: "TaskPage", empty: str) -> "RenderableType":
    from duetime.cli.views import task_table

    return task_table(page["items"], fmt.now()) if page["items"] else empty


def _print_changes(pages: "Iterator[TaskPage]", show: "Callable[[Task], None]") -> None:
    seen: dict[str, object] = {}
    for page in pages:
        states = {task["id"]: _visible_state(task) for task in page["items"]}
        for task in reversed(page["items"]):  # the newest last
            if seen.get(task["id"]) != states[task["id"]]:
                show(task)
        seen = states


def _visible_state(task: "Task") -> object:
    return task["status"], task["attempt"], task["due_at"], task["cancel_requested"]


def _print_line(task: "Task") -> None:
    words = (
        f"{fmt.now().astimezone():%H:%M:%S}",
        f"{task['status']:<9}",
        task["id"],
        f"{fmt.tries(task).replace(' of ', '/'):<5}",
        fmt.short(task),
    )
    print_text("  ".join(words))


def _print_json_line(task: "Task") -> None:
    sys.stdout.write(json.dumps(task, ensure_ascii=False) + "\n")
    sys.stdout.flush()

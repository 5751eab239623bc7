"""`duetime show`, `list`, `run`, `lanes` and `health`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode, code_of
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Paging, TaskId, TaskIds
from duetime.cli.output import print_error, print_json, print_text
from duetime.cli.parse import refuse
from duetime.cli.task_filters import TaskFilters
from duetime.core.lifecycle import Status
from duetime.core.listings import ListOrder

if TYPE_CHECKING:
    from duetime.client import Task, TaskPage


@grouped
def show(
    task: TaskId,
    *,
    payload: Annotated[bool, typer.Option("--payload", help="Print its payload only.")] = False,
    result: Annotated[bool, typer.Option("--result", help="Print its result only.")] = False,
    connection: Connection,
) -> None:
    """One task: everything about it, and its attempts."""
    from duetime.cli import views

    if payload and result:
        refuse("--result", "does not go with --payload")
    with connection.connect() as client:
        if payload or result:
            print_json(client.payload(task) if payload else client.result(task))
            return
        found, attempts = client.get(task), client.attempts(task)
    connection.print(
        {**found, "attempts": attempts}, lambda: [views.panel(found, attempts, fmt.now())]
    )


@grouped
def list_tasks(
    *,
    filters: TaskFilters,
    upcoming: Annotated[
        bool,
        typer.Option("--upcoming", help="Include future runs of schedules; --status does too."),
    ] = False,
    order: Annotated[
        ListOrder, typer.Option(help="Newest first, or what starts next first.")
    ] = ListOrder.NEWEST,
    watch: Annotated[bool, typer.Option("--watch", help="Show changes until Ctrl-C.")] = False,
    paging: Paging,
    connection: Connection,
) -> None:
    """Tasks, newest first. Runs of schedules are listed once they are due."""
    from duetime.cli import views
    from duetime.cli.paging import NO_TASK_MATCHES, NO_TASKS, UPCOMING_HIDDEN, print_list

    which = filters.parse(fmt.now())
    empty = NO_TASK_MATCHES if any(which.values()) else NO_TASKS
    soonest = order is ListOrder.SOONEST
    by_status = which.get("status") or "status:" in (which.get("q") or "")
    if not (upcoming or soonest or by_status):
        which["upcoming"] = False
        empty = f"{empty}\n{UPCOMING_HIDDEN}"
    shown: Any = {
        "order": "soonest" if soonest else None,
        "fields": None if connection.json else "summary",
    }
    if watch:
        from duetime.cli.list_watch import page_size, watch_list

        size = page_size(paging)
        with connection.connect() as client:
            pages = client.live.page(**which, **shown, limit=size)
            watch_list(pages, empty=empty, as_json=connection.json)
        return
    looked_until: str | None = None

    def read(size: int, at: str | None) -> "TaskPage":
        nonlocal looked_until
        page = client.page(**which, **shown, limit=size, cursor=at)
        looked_until = page.get("looked_until")
        return page

    with connection.connect() as client:
        found = paging.read(read)
    print_list(connection, found, views.task_table, empty=empty)
    if looked_until and not connection.json:
        print_text(f"Looked at due times until {fmt.local(looked_until)}.")


@grouped
def run(tasks: TaskIds, *, connection: Connection) -> None:
    """Run tasks now that are due later.

    If one cannot be run, the others still are. A DEAD task needs `duetime retry`."""
    with connection.connect() as client:
        for_each(tasks, client.run, due_at_once, as_json=connection.json)


@grouped
def health(*, connection: Connection) -> None:
    """Whether Duetime answers, and whether it is healthy."""
    with connection.connect() as client:
        report = client.health()
    connection.print(report, lambda: _health_lines(report, client.url))
    if report["status"] != "ok":
        raise typer.Exit(ExitCode.NOT_DONE)


def _health_lines(report: dict[str, Any], url: str) -> Iterator[str]:
    details = [f"{name} {report[name]}" for name in ("version", "time") if report.get(name)]
    if report.get("last_tick_age") is not None:
        details.append(f"last tick {report['last_tick_age']:.0f} s ago")
    yield f"{report['status']}  {url}" + (f"  ({', '.join(details)})" if details else "")
    for name, reason in report.get("checks", {}).items():
        if reason != "ok":
            yield f"  {name}: {reason}"


def for_each(
    task_ids: Sequence[str],
    act: "Callable[[str], Task]",
    sentence: "Callable[[Task], str]",
    *,
    as_json: bool,
) -> None:
    """Calls `act` for each task and prints `sentence` for each that succeeds.

    Ends the command with the exit code of the first refusal. If the API stops answering, what was
    done before is still printed."""
    from duetime.client import ApiError

    done: list[Task] = []
    refused: list[ApiError] = []
    try:
        for task_id in task_ids:
            try:
                done.append(act(task_id))
            except ApiError as error:
                refused.append(error)
                print_error(error)
            else:
                if not as_json:
                    print_text(sentence(done[-1]))
    finally:
        if as_json:
            print_json({"items": done})
    if refused:
        raise typer.Exit(code_of(refused[0]))


def cancelled(task: "Task") -> str:
    stopping = " and being stopped" if task["status"] == Status.RUNNING else ""
    return f"{task['id']} is {task['status']}{stopping}"


def due_at_once(task: "Task") -> str:
    return f"{task['id']} is {task['status']} and due at once"

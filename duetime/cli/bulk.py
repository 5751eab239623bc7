"""`duetime cancel`, `retry` and `shift`: by id, or every task that a filter selects."""

from functools import partial
from typing import Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.bulk_run import BulkOptions, Operation, run_bulk
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, check_ids
from duetime.cli.parse import refuse, signed_duration
from duetime.cli.task_filters import TaskFilters
from duetime.cli.tasks import cancelled, due_at_once, for_each

SomeIds = Annotated[
    list[str] | None, typer.Argument(metavar="ID", callback=check_ids, help="The ids of tasks.")
]


def given_in(filters: TaskFilters) -> dict[str, Any]:
    """Returns the fields that are given."""
    return {name: value for name, value in filters.parse(fmt.now()).items() if value}


_OPTIONS = {
    "q": "query",
    "schedule_id": "schedule",
    "parent_id": "parent",
    "run_id": "run",
    "error_type": "error-type",
    "with_key": "with-key",
    "due_since": "due-since",
    "due_before": "due-before",
    "created_since": "since",
    "created_before": "before",
}


def words_of(which: dict[str, Any]) -> list[str]:
    """Returns the options that give these fields again. Durations have become times."""
    words: list[str] = []
    for name, given in which.items():
        for value in given if isinstance(given, list) else [given]:
            words += [f"--{_OPTIONS.get(name, name)}", value]
    return words


@grouped
def cancel(
    tasks: SomeIds = None, *, filters: TaskFilters, bulk: BulkOptions, connection: Connection
) -> None:
    """Cancel tasks: by id, or every task that matches.

    For example: duetime cancel --tag team:growth --status PENDING

    With ids, if one cannot be cancelled, the others still are. With a filter you see how many match
    and are asked first."""
    which = _which(tasks, filters, bulk)
    with connection.connect() as client:
        if tasks:
            for_each(tasks, client.cancel, cancelled, as_json=connection.json)
        else:
            command = ["cancel", *words_of(which)]
            operation = Operation(partial(client.cancel_many, **which), "Cancel", command)
            run_bulk(operation, bulk, as_json=connection.json)


@grouped
def retry(
    tasks: SomeIds = None, *, filters: TaskFilters, bulk: BulkOptions, connection: Connection
) -> None:
    """Run DEAD tasks again, at once, with as many attempts as at first.

    Name them by id, or select them with options. With ids, if one cannot be retried, the others
    still are. With a filter you see how many match and are asked first."""
    which = _which(tasks, filters, bulk)
    with connection.connect() as client:
        if tasks:
            for_each(tasks, client.retry, due_at_once, as_json=connection.json)
        else:
            command = ["retry", *words_of(which)]
            operation = Operation(partial(client.retry_many, **which), "Retry", command)
            run_bulk(operation, bulk, as_json=connection.json)


@grouped
def shift(
    *,
    by: Annotated[str, typer.Option(metavar="DURATION", help="E.g. 1h, or -30m for earlier.")],
    key: Annotated[
        str | None,
        typer.Option(help="Of an earlier shift: it goes on, and moves no task twice."),
    ] = None,
    filters: TaskFilters,
    bulk: BulkOptions,
    connection: Connection,
) -> None:
    """Move the due time of every task that matches and is not running.

    For example: duetime shift --by 1h --tag team:growth

    You see how many match and are asked first. A task that would be due in the past is not
    moved."""
    from uuid import uuid4

    which = given_in(filters)
    if not which:
        refuse("--tag", "say which ones: --tag, --status, --namespace …")
    bulk.check()
    seconds = signed_duration("--by", by)
    operation_key = key or uuid4().hex
    command = ["shift", f"--by={by}", "--key", operation_key, *words_of(which)]
    with connection.connect() as client:
        act = partial(client.shift_many, by=seconds, key=operation_key, **which)
        run_bulk(Operation(act, "Shift", command), bulk, as_json=connection.json)


def _which(ids: list[str] | None, filters: TaskFilters, bulk: BulkOptions) -> dict[str, Any]:
    which = given_in(filters)
    if bool(ids) == bool(which):
        refuse("ID", "give ids, or which ones by options such as --tag: one of the two")
    if ids:
        bulk.refuse_with_ids()
    else:
        bulk.check()
    return which

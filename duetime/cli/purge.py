"""`duetime purge`: remove finished tasks before their retention ends."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Yes
from duetime.cli.output import confirm, print_json, print_text, require_terminal
from duetime.cli.parse import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from duetime.client import Purged

    Purge = Callable[[bool], Iterator[Purged]]

FILTERS = "Which ones"


class FinalStatus(StrEnum):
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


@grouped
def purge(
    *,
    older_than: Annotated[
        str,
        typer.Option(metavar="DURATION", help="Ended that long ago.", rich_help_panel=FILTERS),
    ] = "7d",
    namespace: Annotated[
        str | None, typer.Option(help="Only of this namespace.", rich_help_panel=FILTERS)
    ] = None,
    status: Annotated[
        list[FinalStatus] | None,
        typer.Option(
            case_sensitive=False,
            help="Only those that ended so; repeatable.",
            rich_help_panel=FILTERS,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count them; remove nothing.")
    ] = False,
    yes: Yes = False,
    connection: Connection,
) -> None:
    """Remove finished tasks now, with their results and attempts.

    Dead tasks stay, and so do runs of a schedule for 90 days: its history names them. You see how
    many there are and are asked first. Ctrl-C stops it; run it again to continue."""
    age = duration("--older-than", older_than)
    statuses = [found.value for found in status] if status else None
    if not (dry_run or yes):
        require_terminal("; --dry-run only counts them")
    with connection.connect() as client:

        def parts(only_count: bool) -> "Iterator[Purged]":
            return client.purge_in_parts(
                older_than=age, status=statuses, namespace=namespace, dry_run=only_count
            )

        if dry_run:
            _print_total(_count(parts), as_json=connection.json)
        else:
            _run(parts, confirmed=yes, as_json=connection.json)


def _run(parts: "Purge", *, confirmed: bool, as_json: bool) -> None:
    """Ends the command with NOT_DONE if a task that matched was not removed."""
    counted = None if confirmed else _count(parts)
    if counted is not None:
        if counted["matched"] == 0:
            _print_total(counted, as_json=as_json)
            return
        confirm(f"Remove {fmt.count(counted['matched'], 'task')}?", "Nothing was removed.")
    total = _remove(parts, counted["matched"] if counted else None, as_json=as_json)
    if total["removed"] < total["matched"]:
        raise typer.Exit(ExitCode.NOT_DONE)


def _count(parts: "Purge") -> "Purged":
    from duetime.client.purge import purge_total

    return purge_total(parts(True), dry_run=True)


def _remove(parts: "Purge", expected: int | None, *, as_json: bool) -> "Purged":
    """If a call gets no answer, or the command is stopped, the total so far is still printed."""
    from duetime.client.purge import purge_total

    done: list[Purged] = []
    try:
        for part in _shown(parts(False), expected):
            done.append(part)
    finally:
        total = purge_total(done, dry_run=False)
        _print_total(total, as_json=as_json)
    return total


def _shown(parts: "Iterator[Purged]", expected: int | None) -> "Iterator[Purged]":
    """Shows the progress on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield from parts
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("Removing", total=expected)
        for part in parts:
            progress.advance(bar, part["removed"])
            yield part


def _print_total(total: "Purged", *, as_json: bool) -> None:
    if as_json:
        print_json(total)
    elif total["dry_run"] or total["matched"] == 0:
        found = fmt.count(total["matched"], "task")
        print_text(f"{found} would be removed." if total["matched"] else "No tasks to remove.")
    else:
        print_text(f"Removed {fmt.count(total['removed'], 'task')}.")

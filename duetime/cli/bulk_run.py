"""How the bulk commands run: count, ask, show progress, stop and go on."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.options import Yes
from duetime.cli.output import (
    confirm,
    print_error,
    print_json,
    print_text,
    require_terminal,
    stderr_is_terminal,
)
from duetime.cli.parse import refuse

if TYPE_CHECKING:
    from duetime.client import BulkResult

MAX_REPORTED = 20  # tasks that were not changed, each on a line

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count them; change nothing.")]
GoOn = Annotated[
    str | None, typer.Option("--cursor", help="Go on where a stopped command says that it was.")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkOptions:
    """How to act on many tasks."""

    dry_run: DryRun = False
    yes: Yes = False
    cursor: GoOn = None

    def check(self) -> None:
        if not (self.dry_run or self.yes):
            require_terminal("; --dry-run only counts them")

    def refuse_with_ids(self) -> None:
        for option, given in (("--dry-run", self.dry_run), ("--cursor", self.cursor)):
            if given:
                refuse(option, "does not go with ids")


class Operation(NamedTuple):
    """`act` is a method of the client; `command` is what to type to go on."""

    act: "Callable[..., BulkResult]"
    verb: str
    command: list[str]

    @property
    def done(self) -> str:
        """Returns the participle: Cancelled, Retried, Shifted, Discarded."""
        return _DONE[self.verb]


_DONE = {"Cancel": "Cancelled", "Retry": "Retried", "Shift": "Shifted", "Discard": "Discarded"}


def run_bulk(
    operation: Operation, options: BulkOptions, *, as_json: bool, confirmed: bool = False
) -> None:
    """Ends the command with NOT_DONE if a task was not changed. If it is stopped, or a call gets no
    answer, it prints what was done and how to go on."""
    expected: int | None = None
    if not (options.dry_run or options.yes or confirmed):
        counted = operation.act(dry_run=True, cursor=options.cursor)
        expected = counted["matched"]
        if expected == 0:
            _print_total(operation, counted, as_json=as_json)
            return
        confirm(f"{operation.verb} {fmt.count(expected, 'task')}?", "Nothing was changed.")
    total = _run(operation, options, expected, as_json=as_json)
    if total["not_changed"]:
        raise typer.Exit(ExitCode.NOT_DONE)


def _run(
    operation: Operation, options: BulkOptions, expected: int | None, *, as_json: bool
) -> "BulkResult":
    parts: list[BulkResult] = []
    done = False
    try:
        with _progress(operation, expected, shown=not (as_json or options.dry_run)) as show:

            def on_part(total: "BulkResult") -> None:
                parts.append(total)
                show(total)

            operation.act(dry_run=options.dry_run, cursor=options.cursor, on_part=on_part)
        done = True
    finally:
        if parts:
            _print_total(operation, parts[-1], as_json=as_json)
        if not done and not options.dry_run:
            cursor = parts[-1]["next_cursor"] if parts else options.cursor
            _print_rest(operation, cursor)
    return parts[-1]


@contextmanager
def _progress(
    operation: Operation, expected: int | None, *, shown: bool
) -> "Iterator[Callable[[BulkResult], None]]":
    """Shows a bar on stderr, if that is a terminal."""
    if not (shown and stderr_is_terminal()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(operation.done, total=expected)
        yield lambda total: bar.update(row, completed=total["matched"])


def _print_total(operation: Operation, total: "BulkResult", *, as_json: bool) -> None:
    if as_json:
        print_json(total)
        return
    left = total["not_changed"]
    undone = f"not {operation.done.lower()}"
    for entry in left[:MAX_REPORTED]:
        print_error(f"{entry['id']} was {undone}: {entry['reason']}")
    if len(left) > MAX_REPORTED:
        print_error(f"… and {len(left) - MAX_REPORTED:,} more; --json prints all of them.")
    print_text(_sentence(operation, total))


def _sentence(operation: Operation, total: "BulkResult") -> str:
    if total["matched"] == 0:
        return "No task matches."
    number = fmt.count(total["changed"], "task")
    if total["dry_run"]:
        return f"{number} would be {operation.done.lower()}."
    return f"{operation.done} {number}."


def _print_rest(operation: Operation, cursor: str | None) -> None:
    words = [*operation.command, *(["--cursor", cursor] if cursor else [])]
    print_error(f"Stopped before the end. Go on with: duetime {shlex.join(words)}")

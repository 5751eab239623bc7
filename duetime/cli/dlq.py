"""`duetime dlq`: list, show, redrive and discard dead letters."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from duetime.cli import format as fmt
from duetime.cli.bulk_run import BulkOptions, Operation, run_bulk
from duetime.cli.exit_codes import ExitCode
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Cursor, Paging, TaskId, Yes, check_ids
from duetime.cli.output import confirm, print_error, print_json, print_text, require_terminal
from duetime.cli.parse import past_moment, refuse
from duetime.core.lifecycle import Status

if TYPE_CHECKING:
    from duetime.client import DeadFilter, DeadLetters, Redriven

FILTERS = "Which ones"
WHEN = "TIME|DURATION"

app = typer.Typer(
    name="dlq",
    help="Dead letters: tasks that ended DEAD. List, show, redrive, discard.",
    no_args_is_help=True,
)

Namespace = Annotated[
    str | None, typer.Option(help="Only of this namespace.", rich_help_panel=FILTERS)
]
ErrorType = Annotated[
    str | None,
    typer.Option(help="Only with this error, e.g. ValueError.", rich_help_panel=FILTERS),
]
HandlerName = Annotated[
    str | None, typer.Option("--handler", help="Only of this handler.", rich_help_panel=FILTERS)
]
InGroup = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="FINGERPRINT",
        help="Only of this group: see `duetime dlq groups`.",
        rich_help_panel=FILTERS,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar=WHEN,
        help="Died then or later, e.g. 2026-11-16T09:00:00+01:00, or 1h (an hour ago).",
        rich_help_panel=FILTERS,
    ),
]
Before = Annotated[
    str | None, typer.Option(metavar=WHEN, help="Died before then.", rich_help_panel=FILTERS)
]
Everything = Annotated[
    bool, typer.Option("--all", help="Every dead letter.", rich_help_panel=FILTERS)
]
SomeIds = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", callback=check_ids, help="The ids of dead tasks."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadFilters:
    """Which dead letters."""

    namespace: Namespace = None
    error_type: ErrorType = None
    handler: HandlerName = None
    group: InGroup = None
    since: Since = None
    before: Before = None

    def which(self) -> "DeadFilter":
        now = fmt.now()
        return {
            "namespace": self.namespace,
            "error_type": self.error_type,
            "handler": self.handler,
            "fingerprint": self.group,
            "died_after": past_moment("--since", self.since, now),
            "died_before": past_moment("--before", self.before, now),
        }


@app.command("list")
@grouped
def list_dead(
    *,
    filters: DeadFilters,
    paging: Paging,
    connection: Connection,
) -> None:
    """Dead letters; the task that died last comes first."""
    from duetime.cli import views
    from duetime.cli.paging import NO_DEAD_LETTER_MATCHES, NO_DEAD_LETTERS, print_list

    which = filters.which()
    with connection.connect() as client:
        page = paging.read(
            lambda size, at: client.dead_letters.page(**which, limit=size, cursor=at)
        )
    empty = NO_DEAD_LETTER_MATCHES if any(which.values()) else NO_DEAD_LETTERS
    print_list(connection, page, views.dead_table, empty=empty)


@app.command()
@grouped
def groups(
    *,
    filters: DeadFilters,
    cursor: Cursor = None,
    connection: Connection,
) -> None:
    """Dead letters by their cause; the most frequent comes first."""
    from duetime.cli import views
    from duetime.cli.paging import NO_DEAD_LETTER_MATCHES, NO_DEAD_LETTERS

    which = filters.which()
    with connection.connect() as client:
        found = client.dead_letters.groups(**which, cursor=cursor)
    empty = NO_DEAD_LETTER_MATCHES if any(which.values()) else NO_DEAD_LETTERS
    table = views.group_table(found["items"], fmt.now()) if found["items"] else empty
    connection.print(found, lambda: [table])
    if not connection.json and not found["complete"]:
        read = fmt.count(found["looked_at"], "dead letter")
        print_text(f"{read} read; the next ones: --cursor {found['next_cursor']}")


@app.command()
@grouped
def show(task: TaskId, *, connection: Connection) -> None:
    """One dead letter: its error, its traceback and every attempt."""
    from duetime.cli import views

    with connection.connect() as client:
        found, attempts = client.get(task), client.attempts(task)
    if found["status"] != Status.DEAD:
        print_error(f"{found['id']} is {found['status']}, not DEAD: duetime show {found['id']}")
        raise typer.Exit(ExitCode.NOT_DONE)
    retry = f"Run it again: duetime retry {found['id']}"
    connection.print(
        {**found, "attempts": attempts}, lambda: [views.panel(found, attempts, fmt.now()), retry]
    )


@app.command()
@grouped
def redrive(
    tasks: SomeIds = None,
    *,
    everything: Everything = False,
    filters: DeadFilters,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count them; change nothing.")
    ] = False,
    yes: Yes = False,
    connection: Connection,
) -> None:
    """Run dead tasks again, at once, with as many attempts as at first.

    Name them by id, select them with options, or take --all. Unless you name ids, you see how many
    there are and are asked first."""
    which = filters.which()
    ways = [bool(tasks), any(value is not None for value in which.values()), everything]
    if sum(ways) != 1:
        refuse("ID, --all", "give ids, or which ones by options, or --all: one of the three")
    if not (tasks or dry_run or yes):
        require_terminal("; --dry-run only counts them")
    with connection.connect() as client:
        selection = Selection(client.dead_letters, tasks or None, which, everything)
        run_redrive(
            selection, dry_run=dry_run, confirmed=yes or bool(tasks), as_json=connection.json
        )


@app.command()
@grouped
def discard(
    tasks: SomeIds = None,
    *,
    everything: Everything = False,
    filters: DeadFilters,
    bulk: BulkOptions,
    connection: Connection,
) -> None:
    """Give dead tasks up: they become CANCELLED, and cannot be run again.

    Name them by id, select them with options, or take --all. Unless you name ids, you see how many
    there are and are asked first."""
    which = filters.which()
    chosen: dict[str, Any] = {name: given for name, given in which.items() if given is not None}
    if sum([bool(tasks), bool(chosen), everything]) != 1:
        refuse("ID, --all", "give ids, or which ones by options, or --all: one of the three")
    if tasks and bulk.cursor:
        refuse("--cursor", "does not go with ids")
    if not tasks:
        bulk.check()
    command = ["dlq", "discard", *(tasks or []), *(["--all"] if everything else [])]
    command += [word for name, given in chosen.items() for word in (_OPTIONS[name], str(given))]
    with connection.connect() as client:
        act = partial(client.dead_letters.discard, ids=tasks or None, everything=everything)
        operation = Operation(partial(act, **chosen), "Discard", command)
        run_bulk(operation, bulk, as_json=connection.json, confirmed=bool(tasks))


_OPTIONS = {
    "namespace": "--namespace",
    "error_type": "--error-type",
    "handler": "--handler",
    "fingerprint": "--group",
    "died_after": "--since",
    "died_before": "--before",
}


class Selection(NamedTuple):
    """The dead letters that a redrive is for."""

    letters: "DeadLetters"
    ids: list[str] | None
    which: "DeadFilter"
    everything: bool

    def redrive(self, *, dry_run: bool) -> "Iterator[Redriven]":
        """Redrives them in as many calls as needed and yields the answer to each."""
        return self.letters.redrive_in_parts(
            ids=self.ids, everything=self.everything, dry_run=dry_run, **self.which
        )


def run_redrive(selection: Selection, *, dry_run: bool, confirmed: bool, as_json: bool) -> None:
    """Ends the command with NOT_DONE if a task was not redriven."""
    from duetime.client.dead_letter_calls import redrive_total

    if not (dry_run or confirmed):
        counted = redrive_total(selection.redrive(dry_run=True), dry_run=True)
        if counted["redriven"] == 0:
            _print_total(counted, as_json=as_json)
            return
        confirm(f"Redrive {fmt.count(counted['redriven'], 'task')}?", "Nothing was redriven.")
    total = _redrive(selection, dry_run=dry_run, as_json=as_json)
    if total["not_redriven"]:
        raise typer.Exit(ExitCode.NOT_DONE)


def _redrive(selection: Selection, *, dry_run: bool, as_json: bool) -> "Redriven":
    """If a call gets no answer, the total of those before it is still printed."""
    from duetime.client.dead_letter_calls import redrive_total

    done: list[Redriven] = []
    try:
        for part in selection.redrive(dry_run=dry_run):
            done.append(part)
    finally:
        total = redrive_total(done, dry_run=dry_run)
        if done:
            _print_total(total, as_json=as_json)
    return total


def _print_total(total: "Redriven", *, as_json: bool) -> None:
    if as_json:
        print_json(total)
        return
    for left in total["not_redriven"]:
        print_error(f"{left['id']} was not redriven: {left['reason']}")
    print_text(_sentence(total))


def _sentence(total: "Redriven") -> str:
    number = total["redriven"]
    if number == 0 and not total["not_redriven"]:
        return "No dead letters to redrive."
    if total["dry_run"]:
        return f"{fmt.count(number, 'task')} would be redriven."
    return f"Redriven {fmt.count(number, 'task')}."

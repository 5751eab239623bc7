"""`duetime dlq`: list, show and redrive dead letters."""

from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Paging, Server, TaskId, task_ids
from duetime.cli.values import past, refuse

if TYPE_CHECKING:
    from duetime.client import DeadFilter

FILTERS = "Which ones"
WHEN = "TIME|DURATION"

dlq = typer.Typer(
    name="dlq",
    help="Dead letters: tasks that ended DEAD, and another life for them.",
    no_args_is_help=True,
)

Namespace = Annotated[
    str | None, typer.Option(help="Only of this namespace.", rich_help_panel=FILTERS)
]
ErrorType = Annotated[
    str | None, typer.Option(help="Only died of this, e.g. ValueError.", rich_help_panel=FILTERS)
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
SomeIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID", callback=lambda ids: task_ids(ids or []), help="The ids of dead tasks."
    ),
]


@dlq.command("list")
@grouped
def list_dead(
    *,
    namespace: Namespace = None,
    error_type: ErrorType = None,
    since: Since = None,
    before: Before = None,
    paging: Paging,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Dead letters; the task that died last comes first."""
    from duetime.cli import listing, views

    which = _filter(namespace, error_type, since, before)
    with server.connect() as client:
        page = paging.read(
            lambda size, at: client.dead_letters.page(**which, limit=size, cursor=at)
        )
    empty = listing.NO_DEAD_MATCH if any(which.values()) else listing.NONE_DEAD
    listing.print_list(page, views.dead_table, empty, as_json=as_json)


@dlq.command()
@grouped
def show(task: TaskId, *, server: Server, as_json: AsJson = False) -> None:
    """One dead letter: its error, where it was raised, and every attempt."""
    from duetime.cli import phrases, views
    from duetime.cli.output import complain, say, say_json
    from lambdas.core.lifecycle import Status

    with server.connect() as client:
        found, attempts = client.get(task), client.attempts(task)
    if found["status"] != Status.DEAD:
        complain(f"{found['id']} is {found['status']}, not DEAD: duetime show {found['id']}")
        raise typer.Exit(ExitCode.NOT_DONE)
    if as_json:
        say_json({**found, "attempts": attempts})
        return
    say(views.panel(found, attempts, phrases.now()))
    say(f"Give it another life: duetime retry {found['id']}")


@dlq.command()
@grouped
def redrive(
    tasks: SomeIds = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Every dead letter.", rich_help_panel=FILTERS)
    ] = False,
    namespace: Namespace = None,
    error_type: ErrorType = None,
    since: Since = None,
    before: Before = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many it would be.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Give dead tasks another life, at once, with as many attempts as at first.

    Name them by their ids. Or by options, or take --all: they are counted, and you are asked."""
    from duetime.cli import redriving

    which = _filter(namespace, error_type, since, before)
    ways = [bool(tasks), any(value is not None for value in which.values()), everything]
    if sum(ways) != 1:
        refuse("ID, --all", "give ids, or which ones by options, or --all: one of the three")
    if not (tasks or dry_run or yes):
        redriving.check_answerable()
    with server.connect() as client:
        parts = redriving.Parts(client.dead_letters, tasks or None, which, everything)
        redriving.redrive(parts, dry_run=dry_run, sure=yes or bool(tasks), as_json=as_json)


def _filter(
    namespace: str | None, error_type: str | None, since: str | None, before: str | None
) -> "DeadFilter":
    from duetime.cli import phrases

    now = phrases.now()
    return {
        "namespace": namespace,
        "error_type": error_type,
        "died_after": past("--since", since, now),
        "died_before": past("--before", before, now),
    }

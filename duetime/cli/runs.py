"""`duetime runs`: start, show, watch, cancel and retry runs of workflows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.following import last_of, print_live
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Every, Following, Paging, Polling, WaitUpTo, check_id
from duetime.cli.output import is_terminal, print_json, print_text
from duetime.cli.parse import duration, json_argument, poll_interval, tag_pairs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.client import Client, Run

NO_RUNS = "No runs yet. Start one: duetime runs submit NAME, with a name of: duetime workflows list"
NO_RUN_MATCHES = "No run matches."

app = typer.Typer(
    name="runs",
    help="Runs of workflows: start one, see where it is, cancel it, resume it after a failure.",
    no_args_is_help=True,
)

RunId = Annotated[str, typer.Argument(metavar="ID", callback=check_id, help="The id of a run.")]
Everything = Annotated[bool, typer.Option("--all", help="Show every step of a wide graph.")]


@app.command()
@grouped
def submit(
    workflow: Annotated[
        str,
        typer.Argument(metavar="NAME", callback=check_id, help="A workflow: etl, or etl@3."),
    ],
    *,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="JSON", help="The input: JSON, @FILE, or - for stdin."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Idempotency key: submitting again with it starts no second run."),
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--in", metavar="DURATION", help="Start after this long.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="A name for the run.")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="The namespace of the workflow.", show_default="default")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="K=V", help="A tag; repeatable.")] = None,
    following: Following,
    connection: Connection,
) -> None:
    """Start a run of a workflow.

    For example: duetime runs submit etl --input '{"day": "2027-01-04"}' --watch"""
    polling = following.parse()
    given = {
        "input": None if input_ is None else json_argument("--input", input_),
        "idempotency_key": key,
        "delay": duration("--in", delay),
        "name": name,
        "namespace": namespace,
        "tags": tag_pairs(tag) if tag else None,
    }
    fields: Any = {field: value for field, value in given.items() if value is not None}
    with connection.connect() as client:
        made = client.runs.submit_once(workflow=workflow, **fields)
        if polling.watch:
            follow(client, made.run["id"], polling, as_json=connection.json)
            return
    connection.print(made.run, lambda: _submitted(made.run, replayed=made.replayed))


@app.command()
@grouped
def show(run: RunId, *, everything: Everything = False, connection: Connection) -> None:
    """Show a run: the graph of its steps, and which step the others wait for."""
    from duetime.cli import run_views

    with connection.connect() as client:
        found = client.runs.get(run)
    connection.print(found, lambda: run_views.whole(found, fmt.now(), everything=everything))


@app.command()
@grouped
def watch(
    run: RunId, *, connection: Connection, every: Every = "0.5", wait: WaitUpTo = None
) -> None:
    """Follow a run until it is over. With --json, print it once it is."""
    polling = Polling(True, poll_interval("--every", every), duration("--wait", wait))
    with connection.connect() as client:
        follow(client, run, polling, as_json=connection.json)


@app.command("list")
@grouped
def list_runs(
    *,
    status: Annotated[
        str | None, typer.Option(help="RUNNING, CANCELLING, SUCCEEDED, FAILED or CANCELLED.")
    ] = None,
    workflow: Annotated[str | None, typer.Option(help="Only of this workflow.")] = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Only of this namespace; '*' means all.", show_default="default"),
    ] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="K[:V]", help="Only with this tag: team:growth.")
    ] = None,
    paging: Paging,
    connection: Connection,
) -> None:
    """List runs, newest first."""
    from duetime.cli import run_views
    from duetime.cli.paging import print_list

    status = status and status.upper()
    which: Any = {"status": status, "workflow": workflow, "namespace": namespace, "tag": tag}
    with connection.connect() as client:
        page = paging.read(lambda size, at: client.runs.page(limit=size, cursor=at, **which))
    empty = NO_RUN_MATCHES if any(which.values()) else NO_RUNS
    print_list(connection, page, run_views.table, empty=empty)


@app.command()
@grouped
def cancel(run: RunId, *, connection: Connection) -> None:
    """Cancel a run. Its `finally` steps still run; cancel it twice to stop those, too.

    Steps that run are asked to stop, within ten seconds. A cancelled run cannot be retried."""
    with connection.connect() as client:
        found = client.runs.cancel(run)
    connection.print(found, lambda: [f"{found['id']} is {found['status']}"])


@app.command()
@grouped
def retry(
    run: RunId,
    *,
    step: Annotated[
        list[str] | None,
        typer.Option(help="Only from this step on; repeatable.", show_default="all that failed"),
    ] = None,
    connection: Connection,
) -> None:
    """Resume a FAILED run where it failed.

    The steps that failed run again, and the steps after them. What succeeded before them or beside
    them is kept."""
    with connection.connect() as client:
        found = client.runs.retry(run, step or None)
    again = f"{found['id']} is {found['status']}, attempt {found['attempt']}"
    connection.print(found, lambda: [again, f"Follow it: duetime runs watch {found['id']}"])


def follow(client: "Client", run_id: str, polling: Polling, *, as_json: bool) -> None:
    """Prints a run until it is over; ends the command with NOT_DONE unless it SUCCEEDED."""
    from duetime.cli import run_views

    readings = client.runs.follow(run_id, timeout=polling.limit, poll=polling.interval)
    if as_json:
        run = last_of(readings)
        print_json(run)
    elif is_terminal():
        run = print_live(readings, _picture)
    else:
        run = _print_lines(readings)
        print_text(*run_views.situation(run, fmt.now()))
    if run["status"] != "SUCCEEDED":
        raise typer.Exit(ExitCode.NOT_DONE)


def _picture(run: "Run") -> "RenderableType":
    from rich.console import Group

    from duetime.cli import run_views

    return Group(*run_views.whole(run, fmt.now()))


def _print_lines(readings: "Iterator[Run]") -> "Run":
    """Prints a line for each step, and for the run itself, whenever its status changes."""
    from duetime.cli import run_views

    printed: dict[str, Any] = {}
    for run in readings:
        last, state = run, run_views.visible_state(run)
        changed = [name for name in state if state[name] != printed.get(name)]
        printed = state
        print_text(*(run_views.step_line(run, name, fmt.now()) for name in changed))
    return last


def _submitted(run: "Run", *, replayed: bool) -> list[str]:
    state = f"was submitted before and is {run['status']}" if replayed else "has started"
    return [f"{run['id']} {state}", f"Follow it: duetime runs watch {run['id']}"]

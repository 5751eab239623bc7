"""`duetime outbox`: submit the tasks that wait in a SQL database."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.cli.output import print_error, print_json, print_text
from duetime.cli.parse import poll_interval, refuse
from duetime.core.errors import DuetimeError

if TYPE_CHECKING:
    from duetime.outbox.sql import Drained

app = typer.Typer(
    name="outbox", help="Submit the tasks that wait in a SQL database.", no_args_is_help=True
)


@app.callback()
def outbox() -> None:
    """Keeps `drain` a command of its own while it is the only one."""


@app.command()
@grouped
def drain(
    *,
    database: Annotated[
        str,
        typer.Option(
            metavar="URL|@FILE",
            envvar="DUETIME_OUTBOX",
            help="The database: sqlite:///FILE or postgresql://...; @FILE has the URL.",
        ),
    ],
    table: Annotated[str, typer.Option(help="The name of the table.")] = "duetime_outbox",
    follow: Annotated[bool, typer.Option("--follow", help="Go on until Ctrl-C.")] = False,
    every: Annotated[
        str, typer.Option(metavar="DURATION", help="How often to look, with --follow.")
    ] = "1",
    connection: Connection,
) -> None:
    """Submit every task that waits in the outbox, each of them once.

    A task that Duetime refuses stays in the table with its error. You can run several at once."""
    interval = poll_interval("--every", every)
    drain_once = _drain_of(database, table, connection)
    if follow:
        _follow(drain_once, interval, as_json=connection.json)
    found = drain_once()
    _print(found, as_json=connection.json)
    if found.refused:
        raise typer.Exit(ExitCode.NOT_DONE)


def _drain_of(database: str, table: str, connection: Connection) -> "Callable[[], Drained]":
    from duetime.client import BadArgument
    from duetime.outbox.databases import DatabaseFailed, connector, is_database_error
    from duetime.outbox.sql import Outbox

    try:
        connect = connector(_url(database))
        outbox = Outbox(table)
    except BadArgument as error:
        refuse("--table", str(error))
    except ValueError as error:
        refuse("--database", str(error))
    client = connection.connect()

    def drain_once() -> "Drained":
        try:
            return outbox.drain(connect, client)
        except Exception as error:
            if not is_database_error(error):
                raise
            raise DatabaseFailed(f"The database of the outbox failed: {error}") from error

    return drain_once


def _url(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {given[1:]!r}: {error}") from error


def _follow(drain_once: "Callable[[], Drained]", interval: float, *, as_json: bool) -> NoReturn:
    """Goes on after an error, which may pass; each is printed once."""
    reported = ""
    while True:
        try:
            found = drain_once()
            reported = ""
            if found.submitted or found.refused:
                _print(found, as_json=as_json)
        except DuetimeError as error:
            if str(error) != reported:
                print_error(f"{error} (trying again)")
            reported = str(error)
        time.sleep(interval)


def _print(found: "Drained", *, as_json: bool) -> None:
    if as_json:
        counts = ("submitted", "refused", "postponed")
        print_json({name: getattr(found, name) for name in counts})
        return
    parts = [f"Submitted {fmt.count(found.submitted, 'task')}."]
    if found.refused:
        parts.append(f"{found.refused:,} refused: see the column error of the table.")
    if found.postponed:
        parts.append(f"{found.postponed:,} left for later.")
    print_text(" ".join(parts))

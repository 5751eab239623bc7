"""The `duetime` command. One module a group of commands; what is heavy is imported when used."""

from typing import Annotated

import typer

from duetime import __version__
from duetime.cli.cron import cron
from duetime.cli.dlq import dlq
from duetime.cli.exits import EPILOG, Commands
from duetime.cli.local import local
from duetime.cli.schedules import schedules
from duetime.cli.submit import submit
from duetime.cli.tasks import cancel, health, list_tasks, retry, show
from duetime.cli.watch import watch

app = typer.Typer(
    name="duetime",
    cls=Commands,
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    typer.echo(f"duetime {__version__}")
    raise typer.Exit


@app.callback()
def duetime(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Duetime runs work when it is due."""


app.command()(local)
app.command()(submit)
app.command()(show)
app.command("list")(list_tasks)
app.command()(cancel)
app.command()(retry)
app.add_typer(dlq)
app.add_typer(schedules)
app.command()(cron)
app.command()(watch)
app.command()(health)


def main() -> None:
    app(prog_name="duetime")

"""The `duetime` command: one module for each group of commands.

Every module here is loaded for `duetime --help`, so each imports the client, rich and the views
inside the functions that use them.
"""

from typing import Annotated

import typer

from duetime import __version__
from duetime.cli import (
    archive,
    bulk,
    change,
    console,
    cron,
    dlq,
    forecast,
    lanes,
    limits,
    local,
    manifest,
    openapi,
    outbox,
    purge,
    quota,
    runs,
    schedules,
    stats,
    submit,
    sync,
    system,
    tasks,
    watch,
    worker,
    workers,
    workflows,
)
from duetime.cli.exit_codes import EPILOG, Commands

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


app.command()(local.local)
app.command()(console.console)
app.add_typer(worker.app)
app.command()(submit.submit)
app.command()(tasks.show)
app.command("list")(tasks.list_tasks)
app.command()(change.change)
app.command()(tasks.run)
app.command()(bulk.cancel)
app.command()(bulk.retry)
app.command()(bulk.shift)
app.add_typer(dlq.app)
app.command()(purge.purge)
app.add_typer(archive.app)
app.add_typer(outbox.app)
app.add_typer(schedules.app)
app.add_typer(workflows.app)
app.add_typer(runs.app)
app.add_typer(limits.app)
app.command()(sync.sync)
app.command()(manifest.manifest)
app.command()(cron.cron)
app.command()(watch.watch)
app.command()(lanes.lanes)
app.command()(workers.workers)
app.command()(stats.stats)
app.command()(stats.slo)
app.command()(tasks.health)
app.command()(forecast.forecast)
app.command()(quota.quota)
app.command()(system.stuck)
app.command()(system.handlers)
app.command()(system.me)
app.command()(openapi.openapi)


def main() -> None:
    app(prog_name="duetime")

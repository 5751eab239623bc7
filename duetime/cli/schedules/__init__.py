"""`duetime schedules`: what runs again and again.

`options` and the groups made of them (`rule_options`, `plan_options`) are what can be typed;
`bodies` makes a schedule of it. `create`, `keeping`, `running` and `telling` are the commands,
`views` and `phrases` what they say.
"""

import typer

from duetime.cli.schedules.create import create, update
from duetime.cli.schedules.keeping import delete, list_schedules, pause, resume, show
from duetime.cli.schedules.running import backfill, trigger
from duetime.cli.schedules.telling import ledger, preview, upcoming

schedules = typer.Typer(
    name="schedules",
    help="Schedules: what runs again and again, and what became of every fire time.",
    no_args_is_help=True,
)
schedules.command()(create)
schedules.command("list")(list_schedules)
schedules.command()(show)
schedules.command()(update)
schedules.command()(delete)
schedules.command()(pause)
schedules.command()(resume)
schedules.command()(trigger)
schedules.command()(backfill)
schedules.command()(upcoming)
schedules.command()(ledger)
schedules.command()(preview)

"""`duetime schedules`: commands for recurring schedules.

`edit` has create and update, `history` has upcoming, ledger and preview, `commands` the others.
`names` finds a schedule by its id or its name. `options` and `rule_options` are the options of
create and update; `views` is how they all print.
"""

import typer

from duetime.cli.schedules import commands, edit, history

app = typer.Typer(
    name="schedules",
    help="Schedules: tasks that recur, and what became of every fire time.",
    no_args_is_help=True,
)
app.command()(edit.create)
app.command("list")(commands.list_schedules)
app.command()(commands.show)
app.command()(edit.update)
app.command()(commands.delete)
app.command()(commands.pause)
app.command()(commands.resume)
app.command()(commands.trigger)
app.command()(commands.backfill)
app.command()(commands.detach)
app.command()(history.upcoming)
app.command()(history.ledger)
app.command()(history.preview)

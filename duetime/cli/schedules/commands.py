"""`duetime schedules list`, `show`, `delete`, `pause` and `resume`."""

from typing import Annotated

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Paging, ScheduleId, Server
from duetime.cli.values import refuse
from lambdas.core.schedules.schedule import ScheduleStatus

FEW = 5  # fire times that are shown with a schedule

Note = Annotated[str | None, typer.Option(help="Why; it is shown with the schedule.")]


@grouped
def list_schedules(
    *,
    status: Annotated[
        ScheduleStatus | None,
        typer.Option(case_sensitive=False, help="Only schedules that stand so."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Whose schedules.", show_default="default")
    ] = None,
    paging: Paging,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Schedules, newest first."""
    from duetime.cli import listing
    from duetime.cli.schedules import views

    which = {"status": status, "namespace": namespace}
    with server.connect() as client:
        page = paging.read(lambda size, at: client.schedules.page(**which, limit=size, cursor=at))
    empty = listing.NO_SCHEDULE_MATCHES if any(which.values()) else listing.NO_SCHEDULES
    listing.print_list(page, views.table, empty, as_json=as_json)


@grouped
def show(
    schedule: ScheduleId,
    *,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """One schedule: all that is known of it, and when it fires next."""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import views

    with server.connect() as client:
        found = client.schedules.get(schedule)
        if as_json:
            say_json(found)
            return
        ahead = client.schedules.upcoming(schedule, count=FEW)
    say(views.panel(found, ahead, phrases.now()))
    say(f"What became of its fire times: duetime schedules ledger {found['id']}")


@grouped
def delete(
    schedule: ScheduleId,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Delete a schedule, and its ledger. A run that has started goes on, others are cancelled."""
    from duetime.cli.output import agreed, answerable, complain, say, say_json
    from duetime.cli.schedules import phrases

    if not (yes or answerable()):
        refuse("--yes", "needed where there is no terminal to ask on")
    with server.connect() as client:
        found = client.schedules.get(schedule)
        what = f"{phrases.short(found)} ({phrases.when(found)})"
        if not yes and not agreed(f"Delete {what} and its ledger?"):
            complain("Nothing was deleted.")
            raise typer.Exit(ExitCode.NOT_DONE)
        client.schedules.delete(schedule)
    if as_json:
        say_json({"id": found["id"], "deleted": True})
    else:
        say(f"Deleted {found['id']}  {what}")


@grouped
def pause(
    schedule: ScheduleId,
    *,
    note: Note = None,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Let it fire no more until it is resumed. A run that has started goes on."""
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import phrases

    with server.connect() as client:
        paused = client.schedules.pause(schedule, note)
    if as_json:
        say_json(paused)
        return
    say(f"Paused {paused['id']}  {phrases.short(paused)}")
    say(f"Let it go on: duetime schedules resume {paused['id']}")


@grouped
def resume(
    schedule: ScheduleId,
    *,
    note: Note = None,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Let it fire again, from now on; for what it missed there is backfill."""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import views

    with server.connect() as client:
        resumed = client.schedules.resume(schedule, note)
    if as_json:
        say_json(resumed)
    else:
        say(views.told("Resumed", resumed, phrases.now()))

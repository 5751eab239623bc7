"""`duetime show`, `list`, `cancel`, `retry` and `health`."""

from typing import Annotated, Any

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Paging, Server, TaskId, TaskIds, given_id
from lambdas.core.lifecycle import Status


@grouped
def show(task: TaskId, *, server: Server, as_json: AsJson = False) -> None:
    """One task: all that is known of it, and its attempts."""
    from duetime.cli import phrases, views
    from duetime.cli.output import say, say_json

    with server.connect() as client:
        found, attempts = client.get(task), client.attempts(task)
    if as_json:
        say_json({**found, "attempts": attempts})
    else:
        say(views.panel(found, attempts, phrases.now()))


@grouped
def list_tasks(
    *,
    status: Annotated[
        Status | None, typer.Option(case_sensitive=False, help="Only tasks that stand so.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Whose tasks.", show_default="default")
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(metavar="ID", callback=given_id, help="Only runs of this schedule."),
    ] = None,
    upcoming: Annotated[
        bool,
        typer.Option(
            "--upcoming", help="With runs of schedules that are yet to come; so has --status."
        ),
    ] = False,
    paging: Paging,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Tasks, newest first; runs of schedules once their time has come."""
    from duetime.cli import listing, views

    which = {"status": status, "namespace": namespace, "schedule_id": schedule}
    ahead = upcoming or status is not None
    with server.connect() as client:
        page = paging.read(
            lambda size, at: client.page(**which, upcoming=ahead, limit=size, cursor=at)
        )
    empty = listing.NO_MATCH if any(which.values()) else listing.EMPTY
    if not ahead:
        empty = f"{empty}\n{listing.NOT_SHOWN}"
    listing.print_list(page, views.task_table, empty, as_json=as_json)


@grouped
def cancel(tasks: TaskIds, *, server: Server, as_json: AsJson = False) -> None:
    """Cancel tasks. One that cannot be cancelled does not hold back the rest."""
    from duetime.cli.each import cancelled, for_each

    with server.connect() as client:
        for_each(tasks, client.cancel, cancelled, as_json=as_json)


@grouped
def retry(tasks: TaskIds, *, server: Server, as_json: AsJson = False) -> None:
    """Give DEAD tasks another life, at once, with as many attempts as at first.

    One that cannot be retried does not hold back the rest."""
    from duetime.cli.each import for_each, retried

    with server.connect() as client:
        for_each(tasks, client.retry, retried, as_json=as_json)


@grouped
def health(*, server: Server, as_json: AsJson = False) -> None:
    """Whether Duetime answers, and how it is."""
    from duetime.cli.output import say, say_json

    with server.connect() as client:
        told = client.health()
    if as_json:
        say_json(told)
    else:
        say(f"{told['status']}  {client.url}{_known(told)}")
        for name, reason in told.get("checks", {}).items():
            if reason != "ok":
                say(f"  {name}: {reason}")
    if told["status"] != "ok":
        raise typer.Exit(ExitCode.NOT_DONE)


def _known(told: dict[str, Any]) -> str:
    rest = [f"{name} {told[name]}" for name in ("version", "time") if told.get(name)]
    if told.get("last_tick_age") is not None:
        rest.append(f"last tick {told['last_tick_age']:.0f} s ago")
    return f"  ({', '.join(rest)})" if rest else ""

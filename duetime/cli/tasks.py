"""`duetime show`, `list`, `cancel`, `retry` and `health`."""

from typing import Annotated

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.options import (
    AsJson,
    Cursor,
    Limit,
    NoLimit,
    Sign,
    TaskId,
    TaskIds,
    Token,
    Url,
    connect,
    given_id,
)
from lambdas.core.lifecycle import Status


def show(
    task: TaskId, url: Url = None, sign: Sign = None, token: Token = None, as_json: AsJson = False
) -> None:
    """One task: all that is known of it, and its attempts."""
    from duetime.cli import phrases, views
    from duetime.cli.output import say, say_json

    with connect(url, sign, token) as client:
        found, attempts = client.get(task), client.attempts(task)
    if as_json:
        say_json({**found, "attempts": attempts})
    else:
        say(views.panel(found, attempts, phrases.now()))


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
    limit: Limit = 20,
    everything: NoLimit = False,
    cursor: Cursor = None,
    url: Url = None,
    sign: Sign = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Tasks, newest first."""
    from duetime.cli import listing, views

    which = {"status": status, "namespace": namespace, "schedule_id": schedule}
    with connect(url, sign, token) as client:
        page = listing.read(
            lambda size, at: client.page(**which, limit=size, cursor=at),
            limit=None if everything else limit,
            cursor=cursor,
        )
    empty = listing.NO_MATCH if any(which.values()) else listing.EMPTY
    listing.print_list(page, views.task_table, empty, as_json=as_json)


def cancel(
    tasks: TaskIds, url: Url = None, sign: Sign = None, token: Token = None, as_json: AsJson = False
) -> None:
    """Cancel tasks. One that cannot be cancelled does not hold back the rest."""
    from duetime.cli.each import cancelled, for_each

    with connect(url, sign, token) as client:
        for_each(tasks, client.cancel, cancelled, as_json=as_json)


def retry(
    tasks: TaskIds, url: Url = None, sign: Sign = None, token: Token = None, as_json: AsJson = False
) -> None:
    """Give DEAD tasks another life, at once, with as many attempts as at first.

    One that cannot be retried does not hold back the rest."""
    from duetime.cli.each import for_each, retried

    with connect(url, sign, token) as client:
        for_each(tasks, client.retry, retried, as_json=as_json)


def health(
    url: Url = None, sign: Sign = None, token: Token = None, as_json: AsJson = False
) -> None:
    """Whether Duetime answers, and how it is."""
    from duetime.cli.output import say, say_json

    with connect(url, sign, token) as client:
        told = client.health()
    if as_json:
        say_json(told)
    else:
        rest = ", ".join(f"{key} {value}" for key, value in told.items() if key != "status")
        say(f"{told['status']}  {client.url}" + (f"  ({rest})" if rest else ""))
    if told["status"] != "ok":
        raise typer.Exit(ExitCode.NOT_DONE)

"""`duetime show`, `list`, `cancel` and `health`."""

from typing import Annotated

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.options import AsJson, TaskId, TaskIds, Url, connect
from lambdas.core.lifecycle import Status


def show(task: TaskId, url: Url = None, as_json: AsJson = False) -> None:
    """One task: all that is known of it, and its attempts."""
    from duetime.cli import phrases, views
    from duetime.cli.output import say, say_json

    with connect(url) as client:
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
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20,
    everything: Annotated[bool, typer.Option("--all", help="No limit.")] = False,
    cursor: Annotated[
        str | None, typer.Option(help="Go on where --json said `next_cursor`.")
    ] = None,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Tasks, newest first."""
    from duetime.cli.listing import print_list, read

    filters = {"status": status, "namespace": namespace}
    with connect(url) as client:
        page = read(client, filters, limit=None if everything else limit, cursor=cursor)
    print_list(page, filters, as_json=as_json)


def cancel(tasks: TaskIds, url: Url = None, as_json: AsJson = False) -> None:
    """Cancel tasks. One that cannot be cancelled does not hold back the rest."""
    from duetime.cli.cancelling import cancel_each

    with connect(url) as client:
        cancel_each(client, tasks, as_json=as_json)


def health(url: Url = None, as_json: AsJson = False) -> None:
    """Whether Duetime answers, and how it is."""
    from duetime.cli.output import say, say_json

    with connect(url) as client:
        told = client.health()
    if as_json:
        say_json(told)
    else:
        rest = ", ".join(f"{key} {value}" for key, value in told.items() if key != "status")
        say(f"{told['status']}  {client.url}" + (f"  ({rest})" if rest else ""))
    if told["status"] != "ok":
        raise typer.Exit(ExitCode.NOT_DONE)

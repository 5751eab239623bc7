"""`duetime sync`: stores the schedules that the code declares."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.cli.parse import refuse

if TYPE_CHECKING:
    from rich.text import Text

    from duetime.client import SyncPlan

MARKS = {
    "create": ("+", "green"),
    "change": ("~", "yellow"),
    "same": ("=", "dim"),
    "detached": ("·", "dim"),
    "removed": ("‖", "yellow"),
    "pruned": ("-", "red"),
}

Handlers = Annotated[
    str, typer.Argument(metavar="HANDLERS", help="A folder, a file or a module name.")
]
App = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The owner of the schedules.",
        show_default="from pyproject.toml, or the folder that holds the handlers",
    ),
]


@grouped
def sync(
    handlers: Handlers = "handlers",
    *,
    app: App = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would do; store nothing.")
    ] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Delete what is not in the code any more, with its ledger."),
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Sync even if the code declares no schedule.")
    ] = False,
    retire: Annotated[
        bool,
        typer.Option("--retire", help="Pause all schedules of --app, whatever the code declares."),
    ] = False,
    connection: Connection,
) -> None:
    """Store the schedules that your handlers declare: new, changed, or no longer in the code.

    What a person has paused stays paused. What is no longer in the code is paused."""
    from duetime.handlers import manifest

    if retire and app is None:
        refuse("--retire", "goes with --app")
    read = None if retire else manifest.read(handlers, app=app, allow_empty=allow_empty)
    with connection.connect() as client, _hints():
        plan = client.schedules.sync(
            read.schedules if read else [],
            app=read.app if read else str(app),
            prune=prune,
            allow_empty=allow_empty,
            retire=retire,
            dry_run=dry_run,
        )
    connection.print(plan, lambda: plan_lines(plan))


@contextmanager
def _hints() -> Iterator[None]:
    """Adds to a refusal which option helps."""
    from duetime.client import Conflict

    try:
        yield
    except Conflict as error:
        detail = error.detail or ""
        match error.problem.get("type", "").rpartition(":")[2]:
            case "empty-manifest":
                detail = detail.replace("allow_empty", "--allow-empty")
            case "handler-claimed":
                detail += " If both are one app, give its name with --app."
            case _:
                raise
        raise Conflict(error.status, error.title, detail, problem=error.problem) from error


def plan_lines(plan: "SyncPlan") -> "Iterator[Text]":
    from rich.text import Text

    from duetime.terminal import one_line

    done = "would sync" if plan["dry_run"] else "synced"
    yield Text(f"App {plan['app']}, generation {plan['generation']}: {done}")
    names = [one_line(step["name"]) for step in plan["schedules"]]
    width = min(max(map(len, names), default=0), 60)
    sources = [one_line(step["source"]) for step in plan["schedules"]]
    wide = min(max(map(len, sources), default=0), 60)
    for step, name, source in zip(plan["schedules"], names, sources, strict=True):
        mark, style = MARKS[step["action"]]
        note = f"  ({one_line(step['note'])})" if step["note"] else ""
        place = f"{name:<{width}}  {source:<{wide}}"
        yield Text(f"  {mark} {step['action']:<8}  {place}  {step['id']}{note}", style=style)
    if not names:
        yield Text("  The code declares no schedule.")

"""`duetime limits`: set, show, list and delete limits."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Paging
from duetime.cli.output import print_text
from duetime.cli.parse import duration, refuse
from duetime.terminal import length

if TYPE_CHECKING:
    from rich.table import Table

    from duetime.client import Limit, LimitRateFields

NO_LIMITS = "No limits yet. Set one: duetime limits set stripe --rate 5/s"
EXAMPLES = "5/s, 100/m, 1000/h or 3/10s"
UNITS = ("s", "m", "h", "d")

app = typer.Typer(
    name="limits",
    help="Limits: how fast, and how many at once, tasks may start. Set, show, list, delete.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="The name of the limit.", show_default=False)]
Namespace = Annotated[
    str | None, typer.Option(help="The namespace of the limit.", show_default="default")
]
Namespaces = Annotated[
    str | None,
    typer.Option(help="Only of this namespace; '*' means all.", show_default="default"),
]
Key = Annotated[
    str | None,
    typer.Option(help="Show how it is used with this key.", show_default="without a key"),
]


@app.command("set")
@grouped
def set_limit(
    name: Name,
    *,
    rate: Annotated[
        str | None,
        typer.Option(metavar="N/DURATION", help=f"How often tasks may start, e.g. {EXAMPLES}."),
    ] = None,
    burst: Annotated[
        int | None,
        typer.Option(
            help="With --rate: how many more may start at once after a pause.", show_default="0"
        ),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(help="How many tasks may run at the same time: 1 to 100.")
    ] = None,
    namespace: Namespace = None,
    connection: Connection,
) -> None:
    """Create or replace a limit, which tasks name.

    For example: duetime limits set stripe --rate 5/s --concurrency 3"""
    if rate is None and concurrency is None:
        refuse("--rate", "say what to limit: --rate, --concurrency or both")
    if burst is not None and rate is None:
        refuse("--burst", "goes with --rate")
    with connection.connect() as client:
        limit = client.limits.put(
            name,
            rate=None if rate is None else _rate(rate, burst),
            concurrency=concurrency,
            namespace=namespace,
        )
    connection.print(limit, lambda: [f"{limit['name']}: {_what(limit)}"])


@app.command()
@grouped
def show(
    name: Name, *, key: Key = None, namespace: Namespace = None, connection: Connection
) -> None:
    """A limit, and how it is used: what runs, what waits, when the next task may start."""
    with connection.connect() as client:
        limit = client.limits.get(name, key=key, namespace=namespace)
    connection.print(limit, lambda: _lines(limit, fmt.now()))


@app.command("list")
@grouped
def list_limits(
    *, namespace: Namespaces = None, key: Key = None, paging: Paging, connection: Connection
) -> None:
    """Limits, by namespace and name."""
    from duetime.cli.paging import print_list

    with connection.connect() as client:
        page = paging.read(
            lambda size, at: client.limits.page(namespace=namespace, key=key, limit=size, cursor=at)
        )
    print_list(connection, page, _table, empty=NO_LIMITS)


@app.command()
@grouped
def delete(
    name: Name,
    *,
    drain: Annotated[
        bool,
        typer.Option(
            "--drain",
            help="Also if it is in use: no new task may name it, and it goes after the last one.",
        ),
    ] = False,
    namespace: Namespace = None,
    connection: Connection,
) -> None:
    """Delete a limit. One that is in use is kept, unless you drain it."""
    with connection.connect() as client:
        client.limits.delete(name, drain=drain, namespace=namespace)
    if not connection.json:
        print_text(f"Deleted {name}" if not drain else f"{name} goes when no task is under it")


def _rate(text: str, burst: int | None) -> "LimitRateFields":
    """Reads 5/s, or 3/10s."""
    count, slash, period = text.partition("/")
    one = period in UNITS
    if not slash or not count.isdecimal() or not (one or period[:1].isdecimal()):
        refuse("--rate", f"{text!r} does not look like {EXAMPLES}")
    seconds = duration("--rate", f"1{period}" if one else period)
    rate: LimitRateFields = {"count": int(count), "period": seconds}
    return rate if burst is None else {**rate, "burst": burst}


def _what(limit: "Limit") -> str:
    parts = []
    if rate := limit["rate"]:
        burst = f", {rate['burst']} more after a pause" if rate["burst"] else ""
        parts.append(f"{rate['count']} every {_period(rate['period'])}{burst}")
    if limit["concurrency"] is not None:
        parts.append(f"{limit['concurrency']} at a time")
    return "; ".join(parts) + ("; being deleted" if limit["draining"] else "")


def _period(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 60 else length(seconds)


def _lines(limit: "Limit", now: datetime) -> Iterator[str]:
    yield f"{limit['name']}  {_what(limit)}"
    rows = {
        "namespace": limit["namespace"],
        "key": limit["key"],
        "running": limit["holding"],
        "waiting": limit["waiting"],
        "next start": fmt.when(limit["next_slot"], now),
        "changed": fmt.when(limit["updated_at"], now),
    }
    yield from (f"  {label:<11}{text}" for label, text in rows.items() if text is not None)


def _table(limits: "Sequence[Limit]", _now: datetime) -> "Table":
    from duetime.cli.views import cell, list_table

    table = list_table({"NAME": 12, "RUNNING": 7, "WAITING": 7})
    table.add_column("LIMIT")
    table.add_column("NAMESPACE")
    for limit in limits:
        used = ("" if n is None else str(n) for n in (limit["holding"], limit["waiting"]))
        table.add_row(limit["name"], *used, cell(_what(limit)), cell(limit["namespace"]))
    return table

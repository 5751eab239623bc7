"""`duetime me`, `duetime stuck`, `duetime handlers`: about Duetime itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.terminal import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.client import HandlerDescription, Me, Stuck, StuckTask

REASONS = {
    "not_claimed": "the scanner has not come to it",
    "held_back": "its lane catches up after an outage",
    "set_aside": "it failed to be read or written; tried again within an hour",
    "queued_behind": "others come first",
    "no_worker": "no executor or worker takes it",
    "not_taken": "its message was sent and not taken; sent again soon",
    "lease_run_out": "its executor has died",
}


@grouped
def me(*, connection: Connection) -> None:
    """Who you are for Duetime, and what you may do."""
    with connection.connect() as client:
        found = client.me()
    connection.print(found, lambda: [_sentence(found)])


def _sentence(found: "Me") -> str:
    who = found["actor"] or "You"
    where = f" of {found['stage']}" if found["stage"] else ""
    *first, last = found["rights"] or ["do nothing"]
    may = f"{', '.join(first)} and {last}" if first else last
    return one_line(f"{who}: may {may}. Duetime {found['version']}{where}.")


@grouped
def stuck(
    *,
    namespace: Annotated[str | None, typer.Option(help="Only of this namespace.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 50,
    connection: Connection,
) -> None:
    """What is past its time by more than a minute, and why."""
    with connection.connect() as client:
        found = client.stuck(namespace=namespace, limit=limit)
    connection.print(found, lambda: _stuck_lines(found))


def _stuck_lines(found: "Stuck") -> "Iterator[RenderableType]":
    from duetime.cli.views import cell, list_table

    table = list_table({"ID": 26, "STATUS": 8, "LANE": 6, "SINCE": 10})
    for header in ("WHY", "TASK"):
        table.add_column(header)
    for task in found["items"]:
        table.add_row(
            task["id"],
            task["status"] or "?",
            task["lane"],
            fmt.relative(task["since"], fmt.now(), rough=True),
            cell(_why(task)),
            cell(one_line(task["name"] or task["target"] or "")),
        )
    yield table if found["items"] else "Nothing is stuck."
    if not found["complete"]:
        yield "There may be more: not everything was read."


def _why(task: "StuckTask") -> str:
    waits = task.get("waiting_for") or {}
    if "ordering_key" in waits:
        return one_line(f"waits for its turn under {waits['ordering_key']}")
    if "worker" in waits:
        return one_line(f"waits for {fmt.waiting_for(waits)}")
    if "limit" in waits:
        key = f" {waits['key']}" if waits.get("key") else ""
        return one_line(f"waits for the limit {waits['limit']}{key}")
    return REASONS.get(task["why"], task["why"])


@grouped
def handlers(*, connection: Connection) -> None:
    """The Python handlers that tasks may name, and what each takes."""
    with connection.connect() as client:
        found = client.handlers()
    connection.print({"items": found}, lambda: _handler_lines(found))


def _handler_lines(found: "list[HandlerDescription]") -> "Iterator[RenderableType]":
    from duetime.cli.views import cell, list_table

    if not found:
        yield "No handlers. On this machine: duetime local --handlers FILE"
        return
    table = list_table({"HANDLER": 12})
    for header in ("WHERE", "TAKES", "SCHEDULES", "WHAT"):
        table.add_column(header)
    for one in found:
        table.add_row(
            one_line(one["name"]),
            cell(f"{one['module']}:{one['line']}" if one["module"] else ""),
            cell(", ".join((one["payload_schema"] or {}).get("properties", {}))),
            cell(one_line(", ".join(schedule["name"] for schedule in one["schedules"]))),
            cell(one_line(one["doc"] or "")),
        )
    yield table

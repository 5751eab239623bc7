"""`duetime workers`: who runs handlers elsewhere, and what they run."""

from typing import TYPE_CHECKING

from duetime.cli import format as fmt
from duetime.cli.live_table import LiveTable
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.terminal import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.client import Worker

SHOWN = 3  # tasks or handlers of one worker; `--json` has all


@grouped
def workers(*, connection: Connection, table: LiveTable) -> None:
    """Who runs handlers elsewhere, since when, and what they run."""
    table.check()
    with connection.connect() as client:
        table.print(client.workers, _shown, connection)


def _shown(found: "list[Worker]") -> "RenderableType":
    from duetime.cli.views import cell, list_table

    if not found:
        return "No workers. Start one with: duetime worker --handlers FILE"
    table = list_table({"WORKER": 12, "POOL": 8, "SINCE": 10, "SEEN": 8})
    for header in ("LANES", "HANDLERS", "RUNS"):
        table.add_column(header)
    for worker in found:
        now = fmt.now()
        table.add_row(
            one_line(worker["name"]),
            worker["pool"] or "-",
            fmt.relative(worker["since"], now, rough=True),
            fmt.relative(worker["seen"], now, rough=True),
            ", ".join(worker["lanes"]),
            cell(one_line(_few(worker["handlers"]))),
            cell(one_line(_running(worker))),
        )
    return table


def _running(worker: "Worker") -> str:
    """Returns how many tasks a worker runs, and the ids of the first."""
    running, most = len(worker["running"]), worker["concurrency"]
    count = f"{running} of {most}" if most else f"{running}"
    ids = _few([one["task_id"] for one in worker["running"]])
    drains = "; draining" if worker["draining"] else ""
    return f"{count}{f': {ids}' if ids else ''}{drains}"


def _few(names: list[str]) -> str:
    left = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {left} more" if left > 0 else "")

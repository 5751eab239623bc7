"""`duetime lanes`: how busy the lanes are."""

from typing import TYPE_CHECKING

from duetime.cli.live_table import LiveTable
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection

if TYPE_CHECKING:
    from rich.table import Table

    from duetime.client import LaneState


@grouped
def lanes(*, connection: Connection, table: LiveTable) -> None:
    """How many tasks wait in each lane, how many run, and how fast they come and go."""
    table.check()
    with connection.connect() as client:
        table.print(client.lanes, _table, connection)


def _table(found: "list[LaneState]") -> "Table":
    from duetime.cli.views import lane_table

    return lane_table(found)

"""Lists of tasks and schedules, newest first: the ids of a page."""

from collections.abc import Sequence
from sqlite3 import Connection

from duetime.core.ports import Listing

READ_LIMIT = 1_000  # rows read for one page
LAST = "~"  # sorts after every id


def page_ids(connection: Connection, listing: Listing) -> tuple[list[str], str | None]:
    """Returns the ids of a page and the cursor of the next. Reads at most READ_LIMIT rows."""
    whose = {"namespace": listing.namespace, "schedule_id": listing.schedule_id}
    given = {name: value for name, value in whose.items() if value is not None}
    terms = " AND ".join(f"{name} = ?" for name in given)
    rows = connection.execute(
        f"SELECT id, status FROM tasks WHERE {terms} AND id < ? ORDER BY id DESC LIMIT ?",
        (*given.values(), min(listing.cursor or LAST, listing.below or LAST), READ_LIMIT),
    ).fetchall()
    return page_of(rows, listing.status, listing.limit)


def page_of(
    rows: Sequence[tuple[str, str]], status: str | None, limit: int
) -> tuple[list[str], str | None]:
    """Filters rows of id and status. Returns the ids of the page and the cursor of the next."""
    wanted = [i for i, found in rows if status in (None, found)]
    if len(wanted) > limit:
        return wanted[:limit], wanted[limit - 1]
    return wanted, rows[-1][0] if len(rows) == READ_LIMIT else None

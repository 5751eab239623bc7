"""Lists of tasks and schedules: the ids of a page.

A page of tasks is read along one index (its source) in the order of the list. The conditions that
the source does not cover are checked while reading, on at most READ_LIMIT rows. Of several sources
that a filter allows, the page uses the one whose next READ_LIMIT rows reach furthest.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from sqlite3 import Connection
from typing import Any, NamedTuple

from duetime.core.codec import from_json
from duetime.core.list_positions import LAST, Newest, Soonest, newest_from, soonest_from
from duetime.core.listings import Listing, ListOrder
from duetime.core.times import DAY
from duetime.sqlite.list_sources import Arm, Condition, Source, conditions_of, sources_of

READ_LIMIT = 1_000  # rows read for one page
MAX_ARMS = 100  # of one statement
LATEST_DAY = 10**9

Key = tuple[int, str]  # what a list is sorted by: the day or the due time, and the id
Position = Newest | Soonest

NAMESPACES = """
WITH RECURSIVE found (namespace) AS (
    SELECT min(namespace) FROM tasks WHERE namespace > ''
    UNION ALL
    SELECT (SELECT min(tasks.namespace) FROM tasks WHERE tasks.namespace > found.namespace)
    FROM found WHERE found.namespace IS NOT NULL
) SELECT namespace FROM found WHERE namespace IS NOT NULL
"""


class Order(NamedTuple):
    """How a list is sorted. A key is still to be read if it is `past` the place reached."""

    column: str
    past: str
    direction: str

    def sorted(self, keys: Sequence[Key]) -> list[Key]:
        return sorted(keys, reverse=self.direction == "DESC")


NEWEST = Order("day", "<", "DESC")
SOONEST = Order("due_at", ">", "ASC")


class Span(NamedTuple):
    """The keys that a page may have: past the first, up to the last and with it."""

    order: Order
    start: Key
    end: Key

    def up_to(self, end: Key) -> "Span":
        return self._replace(end=end)


def page_ids(connection: Connection, listing: Listing) -> tuple[list[str], Position | None]:
    """Returns the ids of a page, and where the next one starts."""
    wanted = listing.filter
    names = [wanted.namespace] if wanted.namespace is not None else namespaces(connection)
    span = span_of(listing)
    conditions = conditions_of(wanted)
    sources = sources_of(wanted, listing.order, names)
    reach: Key | None = None
    source, left = sources[0], _left(sources[0], conditions)
    if left or len(sources) > 1:
        source, reach = _furthest(connection, sources, span)
        left = _left(source, conditions)
    part = span if reach is None else span.up_to(reach)
    keys = _keys(connection, source.arms, part, left, listing.limit + 1)
    if len(keys) > listing.limit:
        keys, reach = keys[: listing.limit], keys[listing.limit - 1]
    return [task_id for _, task_id in keys], reach and _position(listing.order, reach)


def start_of(listing: Listing) -> Position:
    if listing.order is ListOrder.SOONEST:
        return soonest_from(listing.cursor, earliest=listing.due_from)
    return newest_from(listing.cursor, latest=LATEST_DAY)


def span_of(listing: Listing) -> Span:
    start = start_of(listing).key
    if listing.order is ListOrder.SOONEST:
        due_before = listing.filter.due_before
        end = (LATEST_DAY * DAY, LAST) if due_before is None else (due_before, "")
        return Span(SOONEST, start, end)
    before, since = listing.filter.created_before, listing.filter.created_since
    if before is not None:
        start = min(start, ((before - 1) // DAY, listing.filter.below or LAST))
    return Span(NEWEST, start, (0 if since is None else since // DAY, ""))


def namespaces(connection: Connection) -> list[str]:
    """Returns the namespaces of listed tasks: see duetime.sqlite.task_rows.UNLISTED."""
    return [name for (name,) in connection.execute(NAMESPACES).fetchall()]


def _left(source: Source, conditions: Sequence[Condition]) -> list[Condition]:
    return [condition for condition in conditions if condition.name not in source.covers]


def _furthest(
    connection: Connection, sources: Sequence[Source], span: Span
) -> tuple[Source, Key | None]:
    """Returns the source of which READ_LIMIT rows reach furthest, and the key that they reach; None
    if there are fewer rows."""
    reached: list[tuple[Source, Key]] = []
    for source in sources:
        reach = _reach(connection, source.arms, span)
        if reach is None:
            return source, None
        reached.append((source, reach))
    return min(reached, key=lambda found: found[1])  # only the order `newest` has several sources


def _reach(connection: Connection, arms: Sequence[Arm], span: Span) -> Key | None:
    reached = [
        key
        for chunk in _chunks(arms)
        for key in _select(connection, chunk, span, (), f"1 OFFSET {READ_LIMIT - 1}")
    ]
    return span.order.sorted(reached)[0] if reached else None


def _keys(
    connection: Connection, arms: Sequence[Arm], span: Span, left: Sequence[Condition], limit: int
) -> list[Key]:
    chunks = [_select(connection, chunk, span, left, str(limit)) for chunk in _chunks(arms)]
    if len(chunks) == 1:
        return chunks[0]
    return span.order.sorted([key for keys in chunks for key in keys])[:limit]


def _select(
    connection: Connection, arms: Sequence[Arm], span: Span, left: Sequence[Condition], limit: str
) -> list[Key]:
    """Merges the arms: each is read in the order of its index, and only as far as needed."""
    parts, values = [], []
    for arm in arms:
        sql, given = _arm(arm, span, left)
        parts.append(sql)
        values += given
    column, _, direction = span.order
    order = f"ORDER BY {column} {direction}, id {direction} LIMIT {limit}"
    rows = f"{' UNION ALL '.join(parts)} {order}"
    sql = f"SELECT json_group_array(json_array({column}, id)) FROM ({rows})"
    [text] = connection.execute(sql, values).fetchone()  # one step: see load_listed
    return span.order.sorted([(at, task_id) for at, task_id in from_json(text)])


def _arm(arm: Arm, span: Span, left: Sequence[Condition]) -> tuple[str, list[Any]]:
    at = "t" if arm.index else "g"
    table = f"tasks AS t INDEXED BY {arm.index}" if arm.index else "tags AS g"
    if not arm.index and left:
        table += " CROSS JOIN tasks AS t ON t.id = g.id"
    column, past, _ = span.order
    key = f"({at}.{column}, {at}.id)"
    terms = [arm.where, f"{key} {past} (?, ?)", f"{key} {_reversed(past)}= (?, ?)"]
    terms += [condition.sql for condition in left]
    values = [*arm.values, *span.start, *span.end, *(v for c in left for v in c.values)]
    return f"SELECT {at}.{column} AS {column}, {at}.id AS id FROM {table}" + (
        f" WHERE {' AND '.join(terms)}"
    ), values


def _reversed(past: str) -> str:
    return ">" if past == "<" else "<"


def _chunks(arms: Sequence[Arm]) -> Iterator[Sequence[Arm]]:
    rest = iter(arms)
    while chunk := list(islice(rest, MAX_ARMS)):
        yield chunk


def _position(order: ListOrder, key: Key) -> Position:
    if order is ListOrder.SOONEST:
        return Soonest(due_at=key[0], above=key[1])
    return Newest(day=key[0], below=key[1])


def page_of(
    rows: Sequence[tuple[str, str]], status: str | None, limit: int
) -> tuple[list[str], str | None]:
    """Filters rows of id and status. Returns the ids of the page and the cursor of the next."""
    wanted = [i for i, found in rows if status in (None, found)]
    if len(wanted) > limit:
        return wanted[:limit], wanted[limit - 1]
    return wanted, rows[-1][0] if len(rows) == READ_LIMIT else None

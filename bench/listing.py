"""Times a page of a list on SQLite without HTTP, with many tasks stored: each filter, with one
reader and with many, beside the page of version 0.1.0, which read 1,000 rows for each page.

    .venv/bin/python bench/listing.py --tasks 1000000 --readers 16
"""

import argparse
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from harness import report
from percentile import percentile
from stored_tasks import fill, lists

from duetime.api.filters import filter_of_query
from duetime.api.http import Request
from duetime.api.query import Query
from duetime.api.summaries import summary_json
from duetime.core.listings import Listing, ListOrder
from duetime.core.task import Task
from duetime.core.task_filter import TaskFilter
from duetime.core.task_json import task_json
from duetime.core.times import Millis
from duetime.engine.clock import SystemClock
from duetime.sqlite.task_rows import load_each
from duetime.sqlite.task_store import SqliteTaskStore

LIMIT = 100
BEFORE = "CREATE INDEX IF NOT EXISTS before_listing ON tasks (namespace, id)"

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--readers", type=int, default=16)
    parser.add_argument("--pages", type=int, default=200, help="read with each filter")
    given = parser.parse_args()
    with TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        now = SystemClock().now()
        store = SqliteTaskStore(Path(folder) / "duetime.db")
        fill(store, given.tasks, now)
        store._database.write(lambda connection: connection.execute(BEFORE))
        rows = measure(store, now, given.readers, given.pages)
        store.close()
    report("listing", f"a page of {LIMIT} with {given.tasks:,} tasks stored, in the process", rows)


def measure(store: SqliteTaskStore, now: Millis, readers: int, pages: int) -> list[Row]:
    rows = []

    def add(what: str, read: Callable[[], int]) -> None:
        rows.append(times(what, read, readers, pages))

    for listed in lists(now):
        listing = listing_of(listed.query, now)
        if listed.what in ("newest", "status PENDING"):
            wanted = listing.filter
            add(f"0.1.0: {listed.what}", lambda w=wanted: page_before(store, w))
        add(listed.what, lambda at=listing: page_of(store, at))
    return rows


def listing_of(query: Mapping[str, str], now: Millis) -> Listing:
    parameters = Query(Request(method="GET", path="/v1/tasks", query=query))
    return Listing(
        filter=filter_of_query(parameters, now),
        order=ListOrder(query.get("order", ListOrder.NEWEST)),
        due_from=now,
        summary=query.get("fields") == "summary",
        limit=LIMIT,
    )


def page_before(store: SqliteTaskStore, wanted: TaskFilter) -> int:
    """Reads a page as version 0.1.0 did: 1,000 rows of the index and their statuses."""
    with store._database.read() as connection:
        rows = connection.execute(
            "SELECT id, status FROM tasks INDEXED BY before_listing"
            " WHERE namespace = ? AND id < '~' ORDER BY id DESC LIMIT 1000",
            (wanted.namespace,),
        ).fetchall()
        ids = [i for i, status in rows if not wanted.statuses or status in wanted.statuses]
        found = load_each(connection, ids[:LIMIT])
    return len([task_json(task) for task in found.values() if isinstance(task, Task)])


def page_of(store: SqliteTaskStore, listing: Listing) -> int:
    page = store.page(listing)
    render = summary_json if listing.summary else task_json
    return len([render(task) for task in page.tasks])


def times(what: str, read: Callable[[], int], readers: int, pages: int) -> Row:
    shown = read()
    alone = timed(read, pages)
    together = side_by_side(read, readers, pages // readers + 1)
    return {
        "what": what,
        "tasks": shown,
        "p50 ms": percentile(alone, 0.5),
        "p99 ms": percentile(alone, 0.99),
        f"p50 ms of {readers}": percentile(together, 0.5),
        f"p99 ms of {readers}": percentile(together, 0.99),
    }


def timed(read: Callable[[], int], repeats: int) -> list[float]:
    found = []
    for _ in range(repeats):
        begun = perf_counter()
        read()
        found.append((perf_counter() - begun) * 1_000)
    return found


def side_by_side(read: Callable[[], int], readers: int, repeats: int) -> list[float]:
    with ThreadPoolExecutor(readers) as pool:
        runs = [pool.submit(timed, read, repeats) for _ in range(readers)]
        return [time for run in runs for time in run.result()]


if __name__ == "__main__":
    main()

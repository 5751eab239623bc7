"""A page of a list on SQLite, with many tasks stored: how long each filter takes, with one reader
and with many, beside the page of version 0.1.0 (which read 1,000 rows for each page).

    python -m bench.listing --tasks 1000000 --readers 16
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from duetime.api.views import task_json

from bench.percentile import percentile
from duetime.api.summaries import summary_json
from duetime.core.ids import new_id
from duetime.core.lifecycle import Status
from duetime.core.ports import Listing, ListOrder
from duetime.core.task import Spec, Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import DAY, HOUR
from duetime.sqlite.task_rows import load_each
from duetime.sqlite.task_store import SqliteTaskStore

NOW = 1_794_819_600_000
SPAN = 10 * DAY
BATCH = 5_000
REPEATS = 200
BEFORE = "CREATE INDEX IF NOT EXISTS before_listing ON tasks (namespace, id)"
STATUSES = {7: Status.DEAD, 13: Status.RUNNING, 29: Status.CANCELLED, 31: Status.RETRYING}

FILTERS = {
    "newest": TaskFilter(),
    "all namespaces": TaskFilter(namespace=None),
    "status PENDING": TaskFilter(statuses=frozenset({Status.PENDING})),
    "status RUNNING": TaskFilter(statuses=frozenset({Status.RUNNING})),
    "status DEAD,RETRYING": TaskFilter(statuses=frozenset({Status.DEAD, Status.RETRYING})),
    "tag team:growth (1 in 100)": TaskFilter(tags=("team:growth",)),
    "tag team:rare (1 in 9,973)": TaskFilter(tags=("team:rare",)),
    "handler (1 in 100)": TaskFilter(handler="shop.h7"),
    "tag and handler": TaskFilter(tags=("team:growth",), handler="shop.h11"),
    "a time range": TaskFilter(created_since=NOW - 5 * DAY, created_before=NOW - 4 * DAY - HOUR),
    "name (while reading)": TaskFilter(name="restock 9"),
    "status SUCCEEDED (while reading)": TaskFilter(statuses=frozenset({Status.SUCCEEDED})),
}


def tasks(count: int) -> Iterator[Task]:
    step = SPAN / count
    for n in range(count):
        at = NOW - SPAN + int(n * step)
        yield _task(n, at, STATUSES.get(n % 100, Status.SUCCEEDED if n % 5 else Status.PENDING))


def _task(n: int, at: int, status: Status) -> Task:
    team = "rare" if n % 9_973 == 0 else "growth" if n % 100 == 3 else None
    spec = Spec(
        target={"type": "python", "handler": f"shop.h{n * 37 % 100}"},
        run_at=NOW + n,
        payload={"item": n, "text": "x" * 200},
        name=f"restock {n}",
        namespace=("default", "default", "shop")[n % 3],
        tags={"team": team} if team else {},
    )
    return Task(
        id=new_id(at, n),
        spec=spec,
        status=status,
        token=f"{at}-{n}",
        due_at=NOW + n,
        wake=None,
        created_at=at,
        updated_at=at,
        budget=5,
        result='{"ok":true}' if status is Status.SUCCEEDED else None,
    )


def fill(store: SqliteTaskStore, count: int) -> None:
    batch: list[Task] = []
    for task in tasks(count):
        batch.append(task)
        if len(batch) == BATCH:
            store.put(batch)
            batch = []
    store.put(batch)


def page_before(store: SqliteTaskStore, wanted: TaskFilter, limit: int) -> int:
    """Reads a page as version 0.1.0 did: 1,000 rows of the index and their statuses."""
    with store._database.read() as connection:
        rows = connection.execute(
            "SELECT id, status FROM tasks INDEXED BY before_listing"
            " WHERE namespace = ? AND id < '~' ORDER BY id DESC LIMIT 1000",
            (wanted.namespace,),
        ).fetchall()
        ids = [i for i, status in rows if not wanted.statuses or status in wanted.statuses]
        found = load_each(connection, ids[:limit])
    return len([task_json(task) for task in found.values() if isinstance(task, Task)])


def page_of(store: SqliteTaskStore, listing: Listing) -> int:
    page = store.page(listing)
    render = summary_json if listing.summary else task_json
    return len([render(task) for task in page.tasks])


def timed(read: Callable[[], int], repeats: int) -> list[float]:
    times = []
    for _ in range(repeats):
        begun = perf_counter()
        read()
        times.append((perf_counter() - begun) * 1_000)
    return times


def side_by_side(read: Callable[[], int], readers: int, repeats: int) -> list[float]:
    with ThreadPoolExecutor(readers) as pool:
        runs = [pool.submit(timed, read, repeats) for _ in range(readers)]
        return [time for run in runs for time in run.result()]


def report(name: str, read: Callable[[], int], readers: int) -> None:
    shown = read()
    alone = timed(read, REPEATS)
    together = side_by_side(read, readers, REPEATS // readers + 1)
    print(
        f"{name:36} {shown:5} {percentile(alone, 0.5):8.1f} {percentile(alone, 0.99):8.1f}"
        f" {percentile(together, 0.5):10.1f} {percentile(together, 0.99):8.1f}",
        flush=True,
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--readers", type=int, default=16)
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="duetime-bench-") as folder:
        store = SqliteTaskStore(Path(folder) / "duetime.db")
        begun = perf_counter()
        fill(store, options.tasks)
        print(f"{options.tasks:,} tasks stored in {perf_counter() - begun:.0f} s", flush=True)
        store._database.write(lambda connection: connection.execute(BEFORE))
        print(f"page of 100 in ms{'':25} p50      p99   {options.readers:3} readers p50  p99")
        for name in ("newest", "status PENDING"):
            wanted = FILTERS[name]
            report(f"before: {name}", lambda w=wanted: page_before(store, w, 100), options.readers)
        for name, wanted in FILTERS.items():
            listing = Listing(filter=wanted, limit=100)
            report(name, lambda at=listing: page_of(store, at), options.readers)
        for order in ListOrder:
            listing = Listing(order=order, limit=100, summary=True)
            report(f"summary, {order}", lambda at=listing: page_of(store, at), options.readers)
        store.close()


if __name__ == "__main__":
    main(sys.argv[1:])

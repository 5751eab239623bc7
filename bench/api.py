"""Measures the HTTP API of one runner, with `hey` as the load generator (Debian's package `hey`).

Submits tasks that are due in an hour, so that nothing runs: single submissions over 16 connections
as fast as they go, single submissions at half of that rate, and batches of 100. With `--before`,
another checkout with its own .venv is measured in turns with this one, and ratios are shown:

    git worktree add ../before REVISION && make -C ../before setup
    .venv/bin/python bench/api.py --before ../before

With `--lists`, stores many tasks and reads a page of 100 with each filter, by one reader and by 16
at once; the ratio compares a page with a read of one task beside it. Exits with 1 if an indexed
filter is above a limit:

    .venv/bin/python bench/api.py --lists --tasks 1000000
"""

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import http_load
from harness import Running, duetime_local, report
from http_load import CONNECTIONS
from stored_tasks import Listed, fill, lists

from duetime.engine.clock import SystemClock
from duetime.sqlite.task_store import SqliteTaskStore

BATCH = 100
TASK = {"target": {"type": "python", "handler": "bench.noop"}, "payload": {"n": 1}, "delay": 3_600}
ALONE_LIMIT, TOGETHER_LIMIT = 20, 150  # ms of a page: p50 of one reader, p99 of all readers

Row = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--before", type=Path, help="a checkout to compare with")
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--lists", action="store_true", help="measure lists, not submissions")
    arguments.add_argument("--tasks", type=int, default=100_000, help="stored before the lists")
    arguments.add_argument("--pages", type=int, default=50, help="read by each reader of a list")
    given = arguments.parse_args()
    http_load.check_hey()
    if given.lists:
        sys.exit(compare_lists(given.tasks, given.pages))
    compare_submissions(given.before, given.requests, given.rounds)


def compare_submissions(before: Path | None, requests: int, rounds: int) -> None:
    versions = {"now": None, **({"before": before} if before else {})}
    rows = []
    for number in range(rounds):
        for version, checkout in versions.items():
            with duetime_local(None, checkout=checkout) as running:
                figures = measure(running, requests)
            rows.append({"what": f"round {number + 1}, {version}", **figures})
    report("api", title(rows), rows)


def measure(running: Running, requests: int) -> dict[str, float]:
    single = json.dumps(TASK)
    batch = json.dumps({"tasks": [TASK] * BATCH})
    full = http_load.post(running, "/v1/tasks", single, requests)
    half = http_load.post(running, "/v1/tasks", single, requests // 2, rate=full.rate / 2)
    batches = http_load.post(running, "/v1/tasks/batch", batch, requests // BATCH)
    return {
        "single/s": full.rate,
        "p99 ms": full.p99,
        "p50 ms at half": half.p50,
        "p99 ms at half": half.p99,
        "tasks/s in batches": batches.rate * BATCH,
    }


def title(rows: list[Row]) -> str:
    best = {
        version: max(row["single/s"] for row in rows if str(row["what"]).endswith(version))
        for version in {str(row["what"]).rpartition(" ")[2] for row in rows}
    }
    text = f"single submissions over {CONNECTIONS} connections: {best['now']:,.0f}/s"
    return f"{text}, {best['now'] / best['before']:.2f} x as before" if "before" in best else text


def compare_lists(tasks: int, pages: int) -> int:
    """Returns the exit code."""
    with TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as scratch:
        folder = Path(scratch)
        now = SystemClock().now()
        store = SqliteTaskStore(folder / "duetime.db")
        fill(store, tasks, now)
        store.close()
        with duetime_local(folder) as running:
            rows = [measure_list(running, listed, pages) for listed in lists(now)]
    report("lists", f"a page of 100 with {tasks:,} tasks stored, over HTTP", rows)
    slow = [row["what"] for row in rows if row["limits"] == "missed"]
    if slow:
        print(f"above {ALONE_LIMIT} ms alone or {TOGETHER_LIMIT} ms together: {', '.join(slow)}")
    return 1 if slow else 0


def measure_list(running: Running, listed: Listed, pages: int) -> Row:
    page = f"/v1/tasks?{urlencode({**listed.query, 'limit': 100})}"
    shown = items(running, page)
    newest = items(running, "/v1/tasks?limit=1")[0]["id"]
    one_task = http_load.get(running, f"/v1/tasks/{newest}", pages, connections=1)
    alone = http_load.get(running, page, pages, connections=1)
    together = http_load.get(running, page, pages * CONNECTIONS)
    kept = alone.p50 <= ALONE_LIMIT and together.p99 <= TOGETHER_LIMIT
    return {
        "what": listed.what,
        "tasks": len(shown),
        "p50 ms": alone.p50,
        "x one task": alone.p50 / one_task.p50,
        f"p50 ms of {CONNECTIONS}": together.p50,
        f"p99 ms of {CONNECTIONS}": together.p99,
        "limits": ("kept" if kept else "missed") if listed.indexed else "none",
    }


def items(running: Running, path: str) -> list[dict[str, Any]]:
    connection = running.connect()
    connection.request("GET", path)
    found: list[dict[str, Any]] = json.loads(connection.getresponse().read())["items"]
    connection.close()
    return found


if __name__ == "__main__":
    main()

"""Cancels and shifts many tagged tasks of a local runner, over HTTP.

The same runner first cancels tasks one by one over one connection; the ratio compares both ways on
the same machine at the same time. Exits with 1 if a bulk cancel is below its limit.
"""

import argparse
import json
import sys
import time
from http.client import HTTPConnection
from typing import Any

from harness import Running, duetime_local, report

LIMIT = 5_000  # cancelled tasks a second
BATCH = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=20_000)
    arguments.add_argument("--singly", type=int, default=1_000, help="cancelled one by one")
    given = arguments.parse_args()
    with duetime_local() as running:
        rows = measure(running, given.tasks, given.singly)
    report("bulk", "bulk operations by tag, on one machine", rows)
    sys.exit(0 if rows[1]["tasks_per_s"] >= LIMIT else 1)


def measure(running: Running, tasks: int, singly: int) -> list[dict[str, Any]]:
    connection = running.connect()
    ids = submit(connection, singly, "singly")
    submit(connection, tasks, "bulk")
    began = time.perf_counter()
    for task_id in ids:
        call(connection, "DELETE", f"/v1/tasks/{task_id}")
    one_by_one = singly / (time.perf_counter() - began)
    rows = [{"what": "cancel, one by one", "tasks_per_s": round(one_by_one), "ratio": 1.0}]
    count = {"tag": "run:bulk", "dry_run": True}
    for what, operation, body in (
        ("cancel, by tag", "cancel", {"tag": "run:bulk"}),
        ("dry run of a cancel", "cancel", count),
        ("shift, by tag", "shift", {"tag": "run:bulk", "by": 60, "idempotency_key": "bench"}),
    ):
        if what != "cancel, by tag":
            submit(connection, tasks, "bulk")
        rate = run(connection, operation, body)
        row = {"what": what, "tasks_per_s": round(rate), "ratio": round(rate / one_by_one, 1)}
        rows.append(row)
    return rows


def run(connection: HTTPConnection, operation: str, body: dict[str, Any]) -> float:
    began, done, cursor = time.perf_counter(), 0, None
    while True:
        at = {"cursor": cursor} if cursor else {}
        answer = call(connection, "POST", f"/v1/tasks/{operation}", {**body, **at})
        done += answer["changed"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return done / (time.perf_counter() - began)


def submit(connection: HTTPConnection, tasks: int, tag: str) -> list[str]:
    target = {"type": "python", "handler": "bench.noop"}
    task = {"target": target, "delay": 86_400, "tags": {"run": tag}, "payload": {"order": 17}}
    ids = []
    for start in range(0, tasks, BATCH):
        body = {"tasks": [task] * min(BATCH, tasks - start)}
        answer = call(connection, "POST", "/v1/tasks/batch", body)
        ids += [result["task"]["id"] for result in answer["results"]]
    return ids


def call(connection: HTTPConnection, method: str, path: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body)
    connection.request(method, path, content, {"content-type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    if response.status >= 400:
        raise SystemExit(f"{method} {path}: {answer}")
    return answer


if __name__ == "__main__":
    main()

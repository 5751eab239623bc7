"""Measures what isolation costs: how long an attempt of a trivial handler takes in the runner's own
process, and in a child process."""

import argparse
import json
import time
from datetime import datetime
from http.client import HTTPConnection
from statistics import median
from typing import Any

from harness import HERE, duetime_local, post, report

ENCODING = HERE.parent / "examples" / "handlers" / "encoding.py"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=20)
    given = arguments.parse_args()
    rows = []
    with duetime_local(None, "--handlers", str(ENCODING)) as running:
        connection = running.connect()
        for what, handler in (("in the runner", "bench.noop"), ("in a child", "video.encode")):
            took = sorted(attempt(connection, handler) for _ in range(given.tasks))
            rows.append({"what": what, "median": median(took), "slowest": took[-1]})
    report("isolated", f"{given.tasks} attempts each: ms from start to end", rows)


def attempt(connection: HTTPConnection, handler: str) -> float:
    """Returns the milliseconds from the start of a task to its end."""
    target = {"type": "python", "handler": handler}
    body = json.dumps({"target": target, "payload": {"rounds": 1}}).encode()
    task = json.loads(post(connection, "/v1/tasks", body))
    while task["status"] != "SUCCEEDED":
        time.sleep(0.01)
        task = read(connection, task["id"])
    began, ended = (datetime.fromisoformat(task[key]) for key in ("started_at", "finished_at"))
    return (ended - began).total_seconds() * 1_000


def read(connection: HTTPConnection, task_id: str) -> Any:
    connection.request("GET", f"/v1/tasks/{task_id}")
    return json.loads(connection.getresponse().read())


if __name__ == "__main__":
    main()

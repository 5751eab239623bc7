"""Measures how late tasks start, at their target.

1,000 HTTP tasks and then 1,000 Python tasks are due over 30 s, submitted 10 s ahead; the scanner
ticks once a minute. The HTTP sink records when a request arrives, the Python handler when it
begins.
"""

import argparse
import json
import random
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness import Running, duetime_local, post, report, wait_for

from bench.percentile import percentile

BATCH = 100


class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arrivals: dict[str, float] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        now = time.time()
        body = self.rfile.read(int(self.headers["content-length"]))
        self.arrivals[json.loads(body)["n"]] = now
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=1_000)
    arguments.add_argument("--over", type=float, default=30, help="seconds over which they are due")
    arguments.add_argument(
        "--ahead", type=float, default=10, help="seconds from the submission to the first due time"
    )
    given = arguments.parse_args()
    sink = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{sink.server_port}/"
    rows = []
    for what, target in (
        ("http", {"type": "http", "url": url}),
        ("python", {"type": "python", "handler": "bench.stamp"}),
    ):
        with duetime_local() as running:
            due = submit(running, target, given.tasks, given.ahead, given.over)
            wait_for(running, given.tasks, timeout=given.ahead + given.over + 60)
            began = Sink.arrivals if what == "http" else stamps(running)
            rows.append({"what": what, **summary(due, began)})
    report("drift", f"{given.tasks:,} tasks each, tick 60 s: drift in ms", rows)


def submit(
    running: Running, target: dict[str, Any], tasks: int, ahead: float, over: float
) -> dict[str, float]:
    """Submits the tasks and returns their due times, rounded to the millisecond."""
    dice = random.Random(1)
    start = time.time() + ahead
    due = {str(n): round(start + dice.random() * over, 3) for n in range(tasks)}
    bodies = [
        {"target": target, "payload": {"n": n}, "name": n, "run_at": rfc3339(at)}
        for n, at in due.items()
    ]
    connection = running.connect()
    for begin in range(0, tasks, BATCH):
        batch = {"tasks": bodies[begin : begin + BATCH]}
        post(connection, "/v1/tasks/batch", json.dumps(batch).encode())
    return due


def rfc3339(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def stamps(running: Running) -> dict[str, float]:
    with closing(running.database()) as database:
        rows = database.execute("SELECT spec, result FROM tasks").fetchall()
    return {json.loads(spec)["name"]: json.loads(result) for spec, result in rows}


def summary(due: dict[str, float], began: dict[str, float]) -> dict[str, Any]:
    drifts = [(began[n] - at) * 1_000 for n, at in due.items()]
    return {
        "early": sum(1 for drift in drifts if drift < -0.001),
        "p50": percentile(drifts, 0.5),
        "p90": percentile(drifts, 0.9),
        "p99": percentile(drifts, 0.99),
        "max": max(drifts),
    }


if __name__ == "__main__":
    main()

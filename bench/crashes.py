"""Kills the runner with -9 several times while it works, and counts calls and outcomes.

The runner has 500 slow HTTP tasks, and a sink counts the calls by idempotency key. After five kills
every task must have succeeded once: a call that a kill interrupted is made again with the next
attempt's number, and no attempt is made twice. With --window they are the items of one map.
"""

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from harness import Running, duetime_local, post, report, wait_for

BATCH = 100


class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    takes = 0.0
    calls: ClassVar[Counter[tuple[str, str]]] = Counter()  # by idempotency key and attempt
    answered: ClassVar[Counter[str]] = Counter()  # by idempotency key

    def do_POST(self) -> None:
        key = self.headers["idempotency-key"]
        self.rfile.read(int(self.headers["content-length"]))
        Sink.calls[key, self.headers["duetime-attempt"]] += 1
        time.sleep(self.takes * random.uniform(0.5, 1.5))
        self.send_response(204)
        self.end_headers()
        self.wfile.flush()
        Sink.answered[key] += 1

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: Any) -> None:
        """Ignores the closed connection of a killed caller."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=500)
    arguments.add_argument("--kills", type=int, default=5)
    arguments.add_argument("--takes", type=float, default=4.0, help="seconds a call takes")
    arguments.add_argument("--window", type=int, help="start them as a map, so many at a time")
    given = arguments.parse_args()
    Sink.takes = given.takes
    server = Server(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        rows = crash(Path(folder), server.server_port, given)
    kind = f"items of a map, {given.window} at a time," if given.window else "tasks"
    report("crashes", f"{given.tasks} {kind} of {given.takes:g} s, {given.kills} × kill -9", rows)


def crash(data: Path, port: int, given: argparse.Namespace) -> list[dict[str, Any]]:
    for number in range(given.kills):
        with duetime_local(data) as running:
            if number == 0:
                submit(running, port, given)
            time.sleep(random.uniform(0.3, 0.9) * given.takes)
            done = succeeded(running)
            os.kill(running.pid, signal.SIGKILL)
            print(f"killed with {done} of {given.tasks} recorded as SUCCEEDED")
    with duetime_local(data) as running:
        wait_for(running, given.tasks + bool(given.window), timeout=300)  # and the map itself
        return [judged(running)]


def submit(running: Running, port: int, given: argparse.Namespace) -> None:
    task = {"target": {"type": "http", "url": f"http://127.0.0.1:{port}/"}, "payload": {}}
    with closing(running.connect()) as connection:
        if given.window:
            over = {"items": given.tasks, "max_concurrency": given.window}
            run = {"steps": [{"name": "each", "map": over, **task}]}
            post(connection, "/v1/runs", json.dumps(run).encode())
            return
        for _ in range(0, given.tasks, BATCH):
            body = {"tasks": [task] * min(BATCH, given.tasks)}
            post(connection, "/v1/tasks/batch", json.dumps(body).encode())


def succeeded(running: Running) -> int:
    with closing(running.database()) as database:
        query = "SELECT count(*) FROM tasks WHERE status = 'SUCCEEDED'"
        (count,) = database.execute(query).fetchone()
        return int(count)


def judged(running: Running) -> dict[str, Any]:
    with closing(running.database()) as database:
        statuses = Counter(s for (s,) in database.execute("SELECT status FROM tasks"))
        ended = "SELECT id, attempt FROM tasks UNION ALL SELECT task_id, number FROM attempts"
        numbers = Counter(database.execute(ended).fetchall())
        (done,) = database.execute(
            "SELECT count(*) FROM attempts WHERE attempt LIKE '%,succeeded,%'"
        ).fetchone()
    return {
        "what": "tasks",
        **statuses,
        "keys seen": len({key for key, _ in Sink.calls}),
        "calls": sum(Sink.calls.values()),
        "attempts called twice": sum(1 for calls in Sink.calls.values() if calls > 1),
        "outcomes recorded twice": sum(1 for n in numbers.values() if n > 1) + done,
        "most attempts": max(attempt for _, attempt in numbers),
    }


if __name__ == "__main__":
    main()

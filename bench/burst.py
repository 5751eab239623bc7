"""Measures a burst: how late 100,000 tasks start that are all due within one second.

The tasks are submitted ahead and call a Python handler that returns when it began. From the second
in which they are due until all of them have started, another process submits single tasks and reads
single ones, each 20 times a second; its latencies are those of the API under the burst. Exits with
1 if a task started early, if one started more than 20 s after its due time, or if the p99 of a
request was 200 ms or more.
"""

import argparse
import json
import multiprocessing
import sys
import threading
import time
from contextlib import closing
from http.client import HTTPConnection
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from drift import rfc3339
from harness import Running, duetime_local, post, report, wait_for

from bench.percentile import percentile

BATCH = 100
PERIOD = 0.05  # between two requests of a kind
START_LIMIT, API_LIMIT = 20, 200  # seconds; milliseconds
TARGET = {"type": "python", "handler": "bench.stamp"}

Row = dict[str, Any]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=100_000)
    arguments.add_argument("--over", type=float, default=1, help="seconds over which they are due")
    arguments.add_argument(
        "--ahead", type=float, default=60, help="seconds from the start to the first due time"
    )
    arguments.add_argument("--options", default="", help="more options for `duetime local`")
    given = arguments.parse_args()
    with duetime_local(None, *given.options.split()) as running:
        first = time.time() + given.ahead
        due = submit(running, given.tasks, first, given.over)
        with Probe(running.port, submit_one(running.connect())) as probe:
            time.sleep(max(1, first - 1 - time.time()))
            quiet = probe.taken()
            wait_for(running, given.tasks, timeout=given.over + 600, every=0.25)
            busy = probe.taken()
        began = stamps(running)
        memory = running.memory_mb()
    late = [began[name] - at for name, at in due.items()]
    starts = {
        "what": f"{given.tasks:,} starts after their due time, in s",
        "early": sum(1 for one in late if one < -0.000_001),
        **figures(late),
    }
    report("burst", f"{given.tasks:,} tasks due in {given.over:g} s; {memory:.0f} MB", [starts])
    rows = [*answers("before", quiet), *answers("meanwhile", busy)]
    report("burst-api", "single requests beside the burst, in ms", rows)
    slow = [row for row in rows if row["what"].startswith("meanwhile") and row["p99"] >= API_LIMIT]
    return int(bool(starts["early"] or starts["max"] > START_LIMIT or slow))


def submit(running: Running, tasks: int, first: float, over: float) -> dict[str, float]:
    """Submits the tasks in batches and returns their due times, rounded to the millisecond."""
    due = {str(n): round(first + n * over / tasks, 3) for n in range(tasks)}
    bodies = [{"target": TARGET, "name": name, "run_at": rfc3339(at)} for name, at in due.items()]
    with closing(running.connect()) as connection:
        for begin in range(0, tasks, BATCH):
            batch = {"tasks": bodies[begin : begin + BATCH]}
            post(connection, "/v1/tasks/batch", json.dumps(batch).encode())
    if time.time() > first:
        sys.exit(f"the submission took {time.time() - first:.0f} s too long; give more --ahead")
    return due


def submit_one(connection: HTTPConnection) -> str:
    """Submits a task that is due much later, and returns its id."""
    body = json.dumps({"target": TARGET, "delay": 86_400}).encode()
    task_id: str = json.loads(post(connection, "/v1/tasks", body))["id"]
    return task_id


def stamps(running: Running) -> dict[str, float]:
    """Returns when each task began, by its name."""
    ended = "SELECT spec, result FROM tasks WHERE status = 'SUCCEEDED'"
    with closing(running.database()) as database:
        rows = database.execute(ended).fetchall()
    return {json.loads(spec)["name"]: json.loads(result) for spec, result in rows}


class Probe:
    """A process that sends single requests and keeps their latencies."""

    def __init__(self, port: int, task_id: str) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pipe, its_end = spawning.Pipe()
        self._process = spawning.Process(target=probe, args=(port, task_id, its_end), daemon=True)

    def __enter__(self) -> "Probe":
        self._process.start()
        self._pipe.recv()  # it is ready
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def taken(self) -> dict[str, list[float]]:
        """Returns the latencies since the last call, in ms, by kind of request."""
        self._pipe.send(None)
        latencies: dict[str, list[float]] = self._pipe.recv()
        return latencies


def probe(port: int, task_id: str, pipe: Connection) -> None:
    taken: dict[str, list[float]] = {"GET": [], "POST": []}

    def read(connection: HTTPConnection) -> None:
        connection.request("GET", f"/v1/tasks/{task_id}")
        response = connection.getresponse()
        response.read()
        if response.status != 200:
            raise RuntimeError(f"GET was answered with {response.status}")

    def repeat(kind: str, request: Any) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        begin = time.monotonic()
        for number in count():
            time.sleep(max(0, begin + number * PERIOD - time.monotonic()))
            asked = time.monotonic()
            request(connection)
            taken[kind].append((time.monotonic() - asked) * 1_000)

    for kind, request in (("GET", read), ("POST", submit_one)):
        threading.Thread(target=repeat, args=(kind, request), daemon=True).start()
    pipe.send(None)
    while True:
        pipe.recv()
        pipe.send({kind: taken[kind][:] for kind in taken})
        for latencies in taken.values():
            latencies.clear()


def answers(when: str, taken: dict[str, list[float]]) -> list[Row]:
    return [
        {"what": f"{when}: {kind}", "requests": len(latencies), **figures(latencies)}
        for kind, latencies in taken.items()
    ]


def figures(values: list[float]) -> dict[str, float]:
    shares = {f"p{share:.0%}".rstrip("%"): percentile(values, share) for share in (0.5, 0.99)}
    return {**shares, "max": max(values)}


if __name__ == "__main__":
    sys.exit(main())

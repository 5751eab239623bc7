"""Measures how many cores handlers use that compute: tasks a second in threads of the runner, in
handler processes and isolated, beside bare processes that do the same work, one alone and one for
each core, in the same run."""

import argparse
import json
import multiprocessing
import os
import time
from http.client import HTTPConnection

from harness import HERE, Running, duetime_local, post, report, wait_for

HANDLERS = HERE / "cpu_handlers.py"
BATCH = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=1_000)
    arguments.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = arguments.parse_args()
    cores = given.cores
    rows = []

    def add(what: str, rate: float) -> None:
        best = next((row["tasks a second"] for row in rows if row["what"] == ALL), rate)
        one = rows[0]["tasks a second"] if rows else rate
        rows.append(
            {"what": what, "tasks a second": rate, "of one": rate / one, "of all": rate / best}
        )

    ALL = f"bare processes, {cores} at once"
    add("bare process, 1 alone", bare(1, given.tasks // 2))
    add(ALL, bare(cores, given.tasks // 2))
    add("threads", rate(given.tasks // 2, "cpu.burn"))
    for count in sorted({1, cores}):
        add(f"--workers {count}", rate(given.tasks, "cpu.burn", "--workers", str(count)))
    add("isolated", rate(given.tasks // 2, "cpu.isolated"))
    report("cores", f"{given.tasks} tasks of 5 ms of Python, {cores} cores", rows)


def bare(processes: int, each: int) -> float:
    """Returns how many rounds a second bare processes do."""
    start = multiprocessing.get_context("spawn")
    ready, go = start.Semaphore(0), start.Event()
    children = [start.Process(target=_burn, args=(each, ready, go)) for _ in range(processes)]
    for child in children:
        child.start()
    for _ in children:
        ready.acquire()
    go.set()
    began = time.monotonic()
    for child in children:
        child.join()
    return processes * each / (time.monotonic() - began)


def _burn(rounds: int, ready, go) -> None:  # type: ignore[no-untyped-def]
    from cpu_handlers import work

    work()
    ready.release()
    go.wait()
    for _ in range(rounds):
        work()


def rate(tasks: int, handler: str, *options: str) -> float:
    """Returns the tasks a second, from the first submission until every outcome is on disk."""
    with duetime_local(None, "--handlers", str(HANDLERS), *options) as running:
        connection = running.connect()
        submit(connection, handler, 20)  # the processes have started then
        wait_for(running, 20)
        began = time.monotonic()
        submit(connection, handler, tasks)
        return tasks / (wait_for_all(running, 20 + tasks) - began)


def submit(connection: HTTPConnection, handler: str, count: int) -> None:
    task = {"target": {"type": "python", "handler": handler}}
    for first in range(0, count, BATCH):
        tasks = [task] * min(BATCH, count - first)
        post(connection, "/v1/tasks/batch", json.dumps({"tasks": tasks}).encode())


def wait_for_all(running: Running, count: int) -> float:
    return wait_for(running, count, timeout=600)


if __name__ == "__main__":
    main()

"""Measures how many cores handlers use that compute (5 ms of Python each): tasks a second in
threads of the runner, in its handler processes, isolated, and in workers that reach it over HTTP.

Bare processes that do the same work, one alone and one for each core, are measured in the same
rounds: the cores of a machine may be threads of one core, and then two processes do not reach twice
the rate of one. All take turns, round after round. `of cores`: the rate divided by cores × the rate
of one bare process; `of bare`: divided by what the bare processes reach together. Both are medians
over the rounds.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

from harness import HERE, Running, duetime_local, post, report, wait_for

HANDLERS = HERE / "cpu_handlers.py"
PROGRAM = HERE.parent / ".venv/bin/duetime"
BATCH = 100
WARM_UP = 40  # tasks after which every process has started
POOL = "cores"
ALONE = "bare process, alone"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=1_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = arguments.parse_args()
    tasks, cores = given.tasks, given.cores
    together = f"bare processes, {cores} at once"
    measured: dict[str, Callable[[], float]] = {
        ALONE: partial(bare, 1, tasks // 2),
        together: partial(bare, cores, tasks // 2),
        "threads": partial(rate, tasks // 2, "cpu.burn"),
        f"--workers {cores}": partial(rate, tasks, "cpu.burn", "--workers", str(cores)),
        "isolated": partial(rate, tasks, "cpu.isolated"),
    }
    if workers_have_url():
        measured[f"{cores} × duetime worker --url"] = partial(rate_over_http, tasks, cores)
    else:
        print("this version has no `duetime worker --url`")
    rates: dict[str, list[float]] = {what: [] for what in measured}
    for _ in range(given.rounds):
        for what, measure in measured.items():
            rates[what].append(measure())
    rows = [
        {
            "what": what,
            "tasks/s": median(its),
            "of cores": median(
                one / (cores * alone) for one, alone in zip(its, rates[ALONE], strict=True)
            ),
            "of bare": median(one / bare for one, bare in zip(its, rates[together], strict=True)),
        }
        for what, its in rates.items()
    ]
    report("cores", f"{tasks:,} tasks of 5 ms of Python, {cores} cores", rows)


def bare(processes: int, each: int) -> float:
    """Returns how many tasks a second bare processes do."""
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
    """Returns the tasks a second in the runner and its processes."""
    with duetime_local(None, "--handlers", str(HANDLERS), *options) as running:
        return _rate(running, tasks, handler)


def rate_over_http(tasks: int, workers: int) -> float:
    """Returns the tasks a second of so many workers over HTTP; the runner runs none itself."""
    with duetime_local(None, "--pool", POOL) as running, ExitStack() as stack:
        for _ in range(workers):
            stack.enter_context(_worker(running))
        return _rate(running, tasks, "cpu.burn", POOL)


def workers_have_url() -> bool:
    shown = subprocess.run(
        [PROGRAM, "worker", "--help"], capture_output=True, text=True, check=False
    )
    return "--url" in shown.stdout


@contextmanager
def _worker(running: Running) -> Iterator[None]:
    command: list[str | Path] = [PROGRAM, "worker", "--url", f"http://127.0.0.1:{running.port}"]
    command += ["--pool", POOL, "--handlers", HANDLERS, "--log-level", "warning"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def _rate(running: Running, tasks: int, handler: str, pool: str | None = None) -> float:
    """Returns the tasks a second, from the first submission until every outcome is on disk."""
    connection = running.connect()
    submit(connection, handler, WARM_UP, pool)
    wait_for(running, WARM_UP)
    began = time.monotonic()
    submit(connection, handler, tasks, pool)
    return tasks / (wait_for(running, WARM_UP + tasks, timeout=600) - began)


def submit(connection: HTTPConnection, handler: str, count: int, pool: str | None) -> None:
    task = {"target": {"type": "python", "handler": handler}, **({"pool": pool} if pool else {})}
    for first in range(0, count, BATCH):
        tasks = [task] * min(BATCH, count - first)
        post(connection, "/v1/tasks/batch", json.dumps({"tasks": tasks}).encode())


if __name__ == "__main__":
    main()

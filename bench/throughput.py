"""Measures how many tasks a second one runner completes, from submission to a durable outcome.

Submits 10,000 no-op Python tasks over HTTP in batches of 100, over two connections from another
process. The time runs from the first submission until all outcomes are on disk.
"""

import argparse
import json
import threading
import time
from itertools import repeat

from harness import Running, duetime_local, post, report, wait_for

BATCH = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=10_000)
    arguments.add_argument("--clients", type=int, default=2, help="connections that submit")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--concurrency", type=int, default=None)
    given = arguments.parse_args()
    options = ["--concurrency", str(given.concurrency)] if given.concurrency else []
    rows = []
    for number in range(given.rounds):
        with duetime_local(None, *options) as running:
            rows.append(
                {"what": f"round {number + 1}", **measure(running, given.tasks, given.clients)}
            )
    best = max(row["tasks/s"] for row in rows)
    worst = min(row["tasks/s"] for row in rows)
    report("throughput", f"{given.tasks:,} no-op tasks: {worst:,.0f} to {best:,.0f} tasks/s", rows)


def measure(running: Running, tasks: int, clients: int, before: int = 0) -> dict[str, float]:
    """`before`: how many tasks have ended already, such as those of a warm-up."""
    body = json.dumps(
        {"tasks": list(repeat({"target": {"type": "python", "handler": "bench.noop"}}, BATCH))}
    ).encode()
    batches = iter(range(tasks // BATCH))
    taking = threading.Lock()

    def submit() -> None:
        connection = running.connect()
        while True:
            with taking:
                if next(batches, None) is None:
                    return
            post(connection, "/v1/tasks/batch", body)

    threads = [threading.Thread(target=submit) for _ in range(clients)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    submitted = time.monotonic()
    done = wait_for(running, before + tasks)
    return {
        "submitted after s": submitted - start,
        "recorded after s": done - start,
        "tasks/s": tasks / (done - start),
        "memory MB": running.memory_mb(),
    }


if __name__ == "__main__":
    main()

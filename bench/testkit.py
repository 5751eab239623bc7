"""Measures the test kit: what a world costs to open, and a day of virtual time in it.

.venv/bin/python bench/testkit.py
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from harness import report

from duetime import task
from duetime.testing import World, world


@task("bench.kit")
def noop() -> None: ...


def idle(_: World) -> None: ...


def one_task(_: World) -> None:
    noop.submit_in("12h")


def hourly(w: World) -> None:
    schedule(w, "0 * * * *")


def minutely(w: World) -> None:
    schedule(w, "* * * * *")


def thousand(_: World) -> None:
    noop.submit_many([{}] * 1_000)


def schedule(w: World, expression: str) -> None:
    w.client.schedules.create(
        rule={"type": "cron", "expression": expression, "timezone": "Europe/Berlin"},
        task={"target": {"type": "python", "handler": "bench.kit"}},
    )


CASES: dict[str, tuple[str, Callable[[World], None]]] = {
    "open and close a world": ("0s", idle),
    "24 h, idle": ("24h", idle),
    "24 h, one task": ("24h", one_task),
    "365 d, one task": ("365d", one_task),
    "24 h, an hourly schedule": ("24h", hourly),
    "1 h, a minutely schedule": ("1h", minutely),
    "24 h, a minutely schedule": ("24h", minutely),
    "1,000 tasks that are due": ("1s", thousand),
}


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    with world() as w:  # imports
        noop.submit()
        minutely(w)
        w.advance("2m")
    rows = [measure(name, given.rounds) for name in CASES]
    report("testkit", "The test kit", rows)


def measure(name: str, rounds: int) -> dict[str, Any]:
    span, prepare = CASES[name]
    times, runs = [], 0
    for _ in range(rounds):
        start = perf_counter()
        with world() as w:
            prepare(w)
            w.advance(span)
            times.append(perf_counter() - start)
            runs = len(w.runs())
    return {"what": name, "runs": runs, "ms": median(times) * 1_000, "max ms": max(times) * 1_000}


if __name__ == "__main__":
    main()

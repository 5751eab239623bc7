"""Measures how lanes and tenants share one runner that has too much to do.

Shares: the lanes high, medium and low get three, two and one batch of tasks in turn, due one batch
after another and faster than the slots can run them. Prints and plots the share of each priority in
the starts, second by second, with and without aging, and how long half of its tasks wait at least.

Tenants: ten tasks of a quiet namespace, alone and beside many of a noisy one that are due at the
same second. Prints how long the quiet ones take until they have ended, the ratio, and how many
noisy tasks started before the last quiet one: a fair queue starts one for each, whatever else uses
the machine.
"""

import argparse
import json
import time
from collections import Counter, defaultdict
from contextlib import closing
from math import ceil
from statistics import mean
from typing import Any, NamedTuple

from harness import RESULTS, Running, duetime_local, post, report, wait_for
from plot import Panel, save

from bench.drift import rfc3339
from bench.percentile import percentile

BATCH = 100
LANES = ("high", "medium", "low")
TASKS = {"high": 3, "medium": 2, "low": 1}  # parts of the load
QUIET = 10


class Start(NamedTuple):
    at: float
    due: float
    priority: str
    promoted: bool


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=1_000, help="of the lane low")
    arguments.add_argument("--nap", type=float, default=0.02, help="seconds that a task takes")
    arguments.add_argument("--slots", type=int, default=8)
    arguments.add_argument("--over", type=float, default=10, help="seconds in which tasks are due")
    arguments.add_argument("--age-after", type=float, default=5, help="seconds, in the second run")
    arguments.add_argument("--noisy", type=int, default=100_000, help="tasks of the noisy tenant")
    arguments.add_argument("--tenant-nap", type=float, default=0.1, help="seconds of their tasks")
    given = arguments.parse_args()
    rows, panels = [], []
    for what, age_after in (("no aging", 0.0), (f"aging {given.age_after:g} s", given.age_after)):
        row, shares = measure_shares(given, age_after)
        rows.append({"what": what, **row})
        panels.append(Panel(f"starts in %, {what}", "seconds", shares))
    total = given.tasks * sum(TASKS.values())
    report("fairness-shares", f"{total:,} tasks, {given.slots} slots: the first 1,000 starts", rows)
    (alone, _), (beside, turns) = (measure_tenants(given, noisy) for noisy in (0, given.noisy))
    rows = [
        {
            "what": what,
            "mean until ended s": mean(times),
            "last s": times[-1],
            "ratio": mean(times) / mean(alone),
            "noisy before the last": before,
        }
        for what, times, before in (("alone", alone, 0), (f"beside {given.noisy:,}", beside, turns))
    ]
    report("fairness-tenants", f"{QUIET} tasks of a quiet tenant, one slot", rows)
    lines = {"alone": list(enumerate(alone, 1)), "beside a noisy one": list(enumerate(beside, 1))}
    panels.append(Panel("seconds until ended", "task of the quiet tenant", lines, ceil(beside[-1])))
    path = RESULTS / "fairness.png"
    print(f"{path}, drawn by {save(path, panels)}")


def measure_shares(
    given: argparse.Namespace, age_after: float
) -> tuple[dict[str, Any], dict[str, list[tuple[float, float]]]]:
    options = ("--concurrency", str(given.slots), "--age-after", f"{age_after:g}")
    with duetime_local(None, *options) as running:
        total = given.tasks * sum(TASKS.values())
        due = time.time() + 2 + total / 1_000
        rounds = given.tasks // BATCH
        for number in range(rounds):
            at = due + given.over * number / rounds
            for lane, parts in TASKS.items():
                for _ in range(parts):
                    submit(running, BATCH, at, given.nap, priority=lane)
        wait_for(running, total, timeout=600)
        return summary(starts(running), due)


def summary(
    found: list[Start], due: float
) -> tuple[dict[str, Any], dict[str, list[tuple[float, float]]]]:
    first = Counter(start.priority for start in found[:1_000])
    waits = defaultdict(list)
    for start in found:
        waits[start.priority].append(start.at - start.due)
    seconds: dict[int, Counter[str]] = defaultdict(Counter)
    for start in found:
        seconds[int(start.at - due)][start.priority] += 1
    row = {f"{lane} %": 100 * first[lane] / first.total() for lane in LANES}
    row |= {"promoted": sum(start.promoted for start in found)}
    row |= {f"{lane} p50 s": percentile(waits[lane], 0.5) for lane in LANES}
    shares = {
        lane: [
            (second, 100 * seconds[second][lane] / seconds[second].total()) for second in seconds
        ]
        for lane in LANES
    }
    return row, shares


def measure_tenants(given: argparse.Namespace, noisy: int) -> tuple[list[float], int]:
    """Returns after how many seconds each of the ten has ended, and how many of the others started
    before the last of them. One slot makes them wait for each other, too; with more, alone they
    would not wait."""
    with duetime_local(None, "--concurrency", "1") as running:
        due = time.time() + 5 + noisy / 1_000
        for _ in range(noisy // BATCH):
            submit(running, BATCH, due, given.tenant_nap, namespace="noisy")
        submit(running, QUIET, due, given.tenant_nap, namespace="quiet")
        late = time.time() - due
        if late > 0:
            raise RuntimeError(f"the tasks were submitted {late:.0f} s late")
        return ends(running, due), turns_of_others(running)


def submit(running: Running, count: int, due: float, nap: float, **fields: str) -> None:
    task = {"target": {"type": "python", "handler": "bench.nap"}, "payload": nap, **fields}
    task["run_at"] = rfc3339(due)
    with closing(running.connect()) as connection:
        post(connection, "/v1/tasks/batch", json.dumps({"tasks": [task] * count}).encode())


def starts(running: Running) -> list[Start]:
    with closing(running.database()) as database:
        rows = database.execute("SELECT spec, current, due_at, promoted FROM tasks").fetchall()
    return sorted(
        Start(
            at=int(attempt.split(",")[1]) / 1_000,
            due=due_at / 1_000,
            priority=json.loads(spec).get("priority", "medium"),
            promoted=promoted is not None,
        )
        for spec, attempt, due_at, promoted in rows
    )


def ends(running: Running, due: float) -> list[float]:
    query = "SELECT updated_at FROM tasks WHERE namespace = 'quiet' AND status = 'SUCCEEDED'"
    give_up = time.monotonic() + 120
    with closing(running.database()) as database:
        while len(rows := database.execute(query).fetchall()) < QUIET:
            if time.monotonic() > give_up:
                raise TimeoutError(f"only {len(rows)} of the quiet tasks have ended")
            time.sleep(0.1)
    return sorted(at / 1_000 - due for (at,) in rows)


def turns_of_others(running: Running) -> int:
    with closing(running.database()) as database:
        rows = database.execute("SELECT namespace, current FROM tasks WHERE current NOT NULL")
        began = [(int(current.split(",")[1]), namespace) for namespace, current in rows]
    last = max(at for at, namespace in began if namespace == "quiet")
    return sum(at < last for at, namespace in began if namespace != "quiet")


if __name__ == "__main__":
    main()

"""Measures workflow runs on one machine: `duetime local`, the SQLite store, no-op Python handlers.

- How long a run takes by itself, from its submission over HTTP until its end is on disk: ten steps
  in a row, and a diamond of 100 parallel steps.
- How many items a second a map of 10,000 completes, compared with as many plain tasks
  (bench/throughput.py). The two take turns, each with a new runner.
- 1,000 runs of five steps at once, submitted over two connections, and the same again and again in
  the same runner: how much memory each round adds. SQLite's caches fill in the first rounds.

Exits with 1 if ten steps take more than 50 ms (the median), or if the map has less than half of the
plain throughput (the median of the rounds).
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection
from statistics import median
from typing import Any

import throughput
from harness import Running, duetime_local, post, report

from bench.percentile import percentile

CHAIN_LIMIT = 50  # ms, for ten steps in a row
MAP_LIMIT = 0.5  # of the plain throughput
WINDOW = 1_000  # items of the map under way at once
CLIENTS = 2
NOOP = {"type": "python", "handler": "bench.noop"}
PARTS = ("alone", "map", "crowd")

Steps = Sequence[Mapping[str, Any]]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--part", choices=PARTS, action="append", help="only this part")
    arguments.add_argument("--repeats", type=int, default=50, help="of a run by itself")
    arguments.add_argument("--parallel", type=int, default=100, help="steps of the diamond")
    arguments.add_argument("--items", type=int, default=10_000, help="of the map")
    arguments.add_argument("--rounds", type=int, default=5, help="of map and plain tasks")
    arguments.add_argument("--runs", type=int, default=1_000, help="at once")
    arguments.add_argument("--crowds", type=int, default=12, help="rounds of so many runs")
    given = arguments.parse_args()
    parts = given.part or PARTS
    kept = [
        "alone" not in parts or alone(given.repeats, given.parallel),
        "map" not in parts or beside_plain(given.items, given.rounds),
    ]
    if "crowd" in parts:
        crowd(given.runs, given.crowds)
    return int(not all(kept))


def alone(repeats: int, parallel: int) -> bool:
    """Returns whether ten steps in a row keep their limit."""
    rows = []
    with duetime_local() as running, closing(running.connect()) as connection:
        for what, steps in (
            ("ten steps in a row", chain(10)),
            (f"diamond of {parallel}", diamond(parallel)),
        ):
            run_alone(running, connection, steps)  # loads code
            used = running.cpu_s()
            took = [run_alone(running, connection, steps) for _ in range(repeats)]
            used = (running.cpu_s() - used) * 1_000 / repeats
            rows.append(
                {
                    "what": what,
                    "best": min(took),
                    "median": median(took),
                    "p90": percentile(took, 0.9),
                    "slowest": max(took),
                    "CPU": used,
                    "CPU of a step": used / len(steps),
                }
            )
    report("workflows-alone", f"{repeats} runs, one after the other: ms from start to end", rows)
    return rows[0]["median"] <= CHAIN_LIMIT


def run_alone(running: Running, connection: HTTPConnection, steps: Steps) -> float:
    """Returns the milliseconds from the submission of a run until its end is on disk."""
    began = time.monotonic()
    run_id = json.loads(post(connection, "/v1/runs", body_of(steps)))["id"]
    return (ended(running, [run_id]) - began) * 1_000


def beside_plain(items: int, rounds: int) -> bool:
    """Returns whether the map keeps its limit."""
    rows = []
    for number in range(1, rounds + 1):
        with duetime_local() as running:
            plain = throughput.measure(running, items, CLIENTS)["tasks/s"]
        with duetime_local() as running, closing(running.connect()) as connection:
            began = time.monotonic()
            run_id = json.loads(post(connection, "/v1/runs", body_of(mapped(items))))["id"]
            rate = items / (ended(running, [run_id]) - began)
        rows.append(
            {"what": f"round {number}", "plain/s": plain, "items/s": rate, "ratio": rate / plain}
        )
    ratios = [row["ratio"] for row in rows]
    share = f"{median(ratios):.0%} of as many plain tasks a second"
    report("workflows-map", f"a map of {items:,} no-op items: {share}", rows)
    return median(ratios) >= MAP_LIMIT


def crowd(runs: int, rounds: int) -> None:
    """Runs many runs at once, again and again in the same runner."""
    steps = chain(5)
    rows = []
    with duetime_local() as running, closing(running.connect()) as connection:
        run_id = json.loads(post(connection, "/v1/runs", body_of(steps)))["id"]
        ended(running, [run_id])
        rows.append({"what": "at the start", "s": 0.0, "runs/s": 0.0, "steps/s": 0.0})
        rows[0]["memory MB"] = running.resident_mb()
        for number in range(1, rounds + 1):
            took = submit_at_once(running, runs, body_of(steps))
            rates = {"runs/s": runs / took, "steps/s": runs * len(steps) / took}
            memory = running.resident_mb()
            rows.append({"what": f"round {number}", "s": took, **rates, "memory MB": memory})
    half = rows[-1]["memory MB"] - rows[-1 - rounds // 2]["memory MB"]
    grown = f"the last {rounds // 2} rounds added {half:.1f} MB"
    report("workflows-crowd", f"{runs:,} runs of {len(steps)} steps at once; {grown}", rows)


def submit_at_once(running: Running, runs: int, body: bytes) -> float:
    """Returns the seconds from the first submission until every run has ended on disk."""
    ids: list[str] = []
    left = iter(range(runs))
    taking = threading.Lock()

    def submit() -> None:
        with closing(running.connect()) as connection:
            while True:
                with taking:
                    if next(left, None) is None:
                        return
                ids.append(json.loads(post(connection, "/v1/runs", body))["id"])

    threads = [threading.Thread(target=submit) for _ in range(CLIENTS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended(running, ids) - began


def ended(running: Running, run_ids: Sequence[str], timeout: float = 300) -> float:
    """Waits until the runs have succeeded on disk; returns the monotonic time of that."""
    give_up = time.monotonic() + timeout
    pause = 0.001 if len(run_ids) == 1 else 0.02
    wanted = (json.dumps(list(run_ids)),)
    with closing(running.database()) as database:
        while time.monotonic() < give_up:
            (done,) = database.execute(
                "SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'"
                " AND id IN (SELECT value FROM json_each(?))",
                wanted,
            ).fetchone()
            if done == len(run_ids):
                return time.monotonic()
            time.sleep(pause)
    raise TimeoutError(f"only {done} of {len(run_ids)} runs have succeeded")


def chain(length: int) -> Steps:
    names = [f"s{number}" for number in range(length)]
    needs = [[], *([name] for name in names)]
    return [step(name, need) for name, need in zip(names, needs, strict=False)]


def diamond(parallel: int) -> Steps:
    middle = [f"p{number}" for number in range(parallel)]
    return [step("first", []), *(step(name, ["first"]) for name in middle), step("join", middle)]


def mapped(items: int) -> Steps:
    return [{**step("each", []), "map": {"items": items, "max_concurrency": WINDOW}}]


def step(name: str, needs: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "target": NOOP, "needs": list(needs)}


def body_of(steps: Steps) -> bytes:
    return json.dumps({"steps": list(steps)}).encode()


if __name__ == "__main__":
    sys.exit(main())

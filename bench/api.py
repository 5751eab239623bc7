"""Measures the HTTP API of one runner, with `hey` as the load generator (Debian's package `hey`).

Submits tasks that are due in an hour, so that nothing runs: single submissions over 16 connections
as fast as they go, single submissions at half of that rate, and batches of 100. With `--before`,
another checkout with its own .venv is measured in turns with this one, and ratios are shown:

    git worktree add ../before REVISION && make -C ../before setup
    .venv/bin/python bench/api.py --before ../before
"""

import argparse
import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from harness import Running, duetime_local, report
from percentile import percentile

CONNECTIONS = 16
BATCH = 100
TASK = {"target": {"type": "python", "handler": "bench.noop"}, "payload": {"n": 1}, "delay": 3_600}


class Load(NamedTuple):
    """What one run of the load generator saw."""

    rate: float  # requests a second
    p50: float  # milliseconds
    p99: float


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--before", type=Path, help="a checkout to compare with")
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    if shutil.which("hey") is None:
        sys.exit("bench/api.py needs the load generator hey: apt-get install hey")
    versions = {"now": None, **({"before": given.before} if given.before else {})}
    rows = []
    for number in range(given.rounds):
        for version, checkout in versions.items():
            with duetime_local(None, checkout=checkout) as running:
                figures = measure(running, given.requests)
            rows.append({"what": f"round {number + 1}, {version}", **figures})
    report("api", title(rows), rows)


def measure(running: Running, requests: int) -> dict[str, float]:
    single = json.dumps(TASK)
    full = load(running, "/v1/tasks", single, requests)
    half = load(running, "/v1/tasks", single, requests // 2, rate=full.rate / 2)
    batches = load(
        running, "/v1/tasks/batch", json.dumps({"tasks": [TASK] * BATCH}), requests // BATCH
    )
    return {
        "single/s": full.rate,
        "p99 ms": full.p99,
        "p50 ms at half": half.p50,
        "p99 ms at half": half.p99,
        "tasks/s in batches": batches.rate * BATCH,
    }


def load(running: Running, path: str, body: str, requests: int, rate: float | None = None) -> Load:
    """`rate`: requests a second of all connections together; without it, as fast as they go."""
    command = ["hey", "-n", str(requests), "-c", str(CONNECTIONS), "-m", "POST", "-o", "csv"]
    command += ["-T", "application/json", "-d", body]
    command += ["-q", f"{rate / CONNECTIONS:.2f}"] if rate else []
    output = subprocess.run(
        [*command, f"http://127.0.0.1:{running.port}{path}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    answers = list(csv.DictReader(io.StringIO(output)))
    failed = [answer for answer in answers if answer["status-code"] not in ("200", "201")]
    if failed or not answers:
        raise RuntimeError(f"{len(failed)} of {len(answers)} requests failed")
    took = [float(answer["response-time"]) * 1_000 for answer in answers]
    span = max(float(a["offset"]) + float(a["response-time"]) for a in answers)
    return Load(rate=len(answers) / span, p50=percentile(took, 0.5), p99=percentile(took, 0.99))


def title(rows: list[dict[str, float]]) -> str:
    best = {
        version: max(row["single/s"] for row in rows if str(row["what"]).endswith(version))
        for version in {str(row["what"]).rpartition(" ")[2] for row in rows}
    }
    text = f"single submissions over {CONNECTIONS} connections: {best['now']:,.0f}/s"
    return f"{text}, {best['now'] / best['before']:.2f} x as before" if "before" in best else text


if __name__ == "__main__":
    main()

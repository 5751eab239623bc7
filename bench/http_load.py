"""HTTP load on a runner, made by `hey` (Debian's package `hey`)."""

import csv
import io
import shutil
import subprocess
import sys
from typing import NamedTuple

from harness import Running
from percentile import percentile

CONNECTIONS = 16


class Load(NamedTuple):
    """What one run of the load generator saw."""

    rate: float  # requests a second
    p50: float  # milliseconds
    p99: float


def check_hey() -> None:
    if shutil.which("hey") is None:
        sys.exit("this benchmark needs the load generator hey: apt-get install hey")


def get(running: Running, path: str, requests: int, connections: int = CONNECTIONS) -> Load:
    return _load(running, path, requests, connections)


def post(running: Running, path: str, body: str, requests: int, rate: float | None = None) -> Load:
    """`rate`: requests a second of all connections together; without it, as fast as they go."""
    options = ["-m", "POST", "-T", "application/json", "-d", body]
    options += ["-q", f"{rate / CONNECTIONS:.2f}"] if rate else []
    return _load(running, path, requests, CONNECTIONS, *options)


def _load(running: Running, path: str, requests: int, connections: int, *options: str) -> Load:
    command = ["hey", "-n", str(requests), "-c", str(connections), "-o", "csv", *options]
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

"""Measures the Python clients against bare httpx.

Installs the package into new environments (their size), imports it there (time), submits tasks one
by one beside a POST of the same body, in turns, and 10,000 at a time beside batches that were
encoded before. The tasks are due in an hour, so that nothing runs.

    .venv/bin/python bench/client.py
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from harness import HERE, Running, duetime_local, report
from percentile import percentile

from duetime import AsyncClient, Client, Submission, task, use
from duetime.client import make_id
from duetime.handlers.handler import Prepared

TASK: Any = {
    "target": {"type": "python", "handler": "bench.noop"},
    "payload": {"items": ["tea", "salt"], "dry_run": False},
    "delay": 3_600,
}
EXTRAS = {
    "duetime": "",
    "cli": "[cli]",
    "local": "[local]",
    "testing": "[testing]",
    "local, aws": "[local,aws]",
}
IMPORTS = {
    "import httpx": "import httpx; httpx.Client",
    "import duetime, Client": "import duetime; duetime.Client",
    "import duetime, AsyncClient": "import duetime; duetime.AsyncClient",
}
MANY = 10_000
BATCH = 100


@task("bench.noop")
def noop(items: list[str], dry_run: bool = False) -> None:
    """Submitted here; the runner has a handler of this name."""


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--imports", type=int, default=40, help="how often each is imported")
    arguments.add_argument("--requests", type=int, default=3_000, help="submissions of each kind")
    arguments.add_argument("--rounds", type=int, default=5, help="of 10,000 submissions each")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        installed, python = install(Path(scratch))
        report("client-install", "Installed size", installed)
        rows = import_times(python, given.imports)
    ratio = rows[1]["ms"] / rows[0]["ms"]
    report("client-import", f"Import: {ratio:.2f} × httpx", rows)
    with duetime_local() as running:
        rows = submissions(running, given.requests)
    ratio = rows[-1]["p50 ms"] / rows[0]["p50 ms"]
    report("client-submit", f"One submission: {ratio:.2f} × a bare POST", rows)
    with duetime_local() as running:
        report("client-many", f"{MANY:,} submissions", many(running, given.rounds))


def install(folder: Path) -> tuple[list[dict[str, Any]], Path]:
    """Returns the size of each installation, and the Python of the smallest."""
    rows = []
    for name, extra in EXTRAS.items():
        home = folder / f"env{len(rows)}"
        uv("venv", "--quiet", "--python", sys.executable, str(home))
        python = home / "bin" / "python"
        package = f"{HERE.parent}{extra}"
        options = ("--quiet", "--link-mode=copy", "--compile-bytecode", "--python", str(python))
        uv("pip", "install", *options, package)
        [site] = home.glob("lib/*/site-packages")
        files = [path for path in site.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        size = sum(path.stat().st_size for path in files)
        packages = len([*site.glob("*.dist-info")])
        rows.append({"what": name, "packages": packages, "MB": size / 1e6})
    return rows, folder / "env0" / "bin" / "python"


def uv(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", *words], check=True)


def import_times(python: Path, count: int) -> list[dict[str, Any]]:
    """Measures inside the process, so that the start of Python itself does not count. The first
    round, which reads the files from the disk, is left out."""
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(count + 1):
        for name, code in IMPORTS.items():
            timed = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
            ran = subprocess.run([python, "-c", timed], capture_output=True, text=True, check=True)
            times[name].append(float(ran.stdout) * 1e3)
    return [{"what": name, "ms": median(found[1:])} for name, found in times.items()]


def submissions(running: Running, count: int) -> list[dict[str, Any]]:
    """The kinds take turns, so that a busy machine slows all of them alike."""
    url = f"http://127.0.0.1:{running.port}"
    with httpx.Client(base_url=url, trust_env=False) as http, Client(url) as client, use(client):

        def post() -> None:
            body = json.dumps({**TASK, "id": make_id()}).encode()
            http.post("/v1/tasks", content=body, headers={"content-type": "application/json"})

        kinds: dict[str, Callable[[], object]] = {
            "httpx.Client.post": post,
            "Client.submit": lambda: client.submit(**TASK),
            "handler.submit_in": lambda: noop.submit_in(TASK["delay"], **TASK["payload"]),
        }
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(count):
            for name, call in kinds.items():
                start = time.perf_counter()
                call()
                times[name].append((time.perf_counter() - start) * 1e3)
    return [
        {"what": name, "p50 ms": percentile(found, 0.5), "p99 ms": percentile(found, 0.99)}
        for name, found in times.items()
    ]


def many(running: Running, rounds: int) -> list[dict[str, Any]]:
    url = f"http://127.0.0.1:{running.port}"
    kinds: dict[str, Callable[[list[bytes]], None]] = {
        "httpx, 1 connection": lambda bodies: asyncio.run(bare(url, bodies, 1)),
        "httpx, 4 connections": lambda bodies: asyncio.run(bare(url, bodies, 4)),
        "Client.submit_many": lambda _: submit_many(url),
        "AsyncClient.submit_many": lambda _: asyncio.run(submit_many_async(url)),
        "handler.submit_many": lambda _: submit_many_of_handler(url),
    }
    rates: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, call in kinds.items():
            bodies = encoded_batches()
            start = time.perf_counter()
            call(bodies)
            rates[name].append(MANY / (time.perf_counter() - start))
    return [{"what": name, "tasks/s": median(found)} for name, found in rates.items()]


def encoded_batches() -> list[bytes]:
    """The same bodies as the clients send: each task has an id."""
    tasks = [json.dumps({**TASK, "id": make_id()}) for _ in range(MANY)]
    batches = [", ".join(tasks[start : start + BATCH]) for start in range(0, MANY, BATCH)]
    return [f'{{"tasks": [{batch}]}}'.encode() for batch in batches]


async def bare(url: str, bodies: list[bytes], connections: int) -> None:
    left = iter(bodies)
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:

        async def post() -> None:
            for body in left:
                answer = await http.post(
                    "/v1/tasks/batch", content=body, headers={"content-type": "application/json"}
                )
                answer.raise_for_status()

        await asyncio.gather(*(post() for _ in range(connections)))


def submit_many(url: str) -> None:
    with Client(url) as client:
        check(client.submit_many(TASK for _ in range(MANY)))


async def submit_many_async(url: str) -> None:
    async with AsyncClient(url) as client:
        check(await client.submit_many(TASK for _ in range(MANY)))


def submit_many_of_handler(url: str) -> None:
    with Client(url) as client, use(client):
        # There is no submit_many_in, and tasks that run would slow what is measured after them.
        later = Prepared(noop._parameters, {**noop._fields, "delay": TASK["delay"]})
        found = later.submit_many(TASK["payload"] for _ in range(MANY))
    if not all(isinstance(one, Submission) for one in found):
        raise RuntimeError("a task was refused")


def check(results: list[Any]) -> None:
    if [result["status"] for result in results] != [201] * MANY:
        raise RuntimeError("a task was refused")


if __name__ == "__main__":
    main()

"""Shared by the benchmarks: a runner in its own process, and a report as table and JSON file."""

import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from socket import create_server
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))  # infra and tests are not installed
RESULTS = Path(os.environ.get("BENCH_RESULTS", HERE / "results"))
MIN_WIDTH = 100  # of a table, also without a terminal


@dataclass(frozen=True)
class Running:
    port: int
    data: Path
    pid: int

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)

    def database(self) -> sqlite3.Connection:
        path = self.data / "duetime.db"
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)

    def memory_mb(self) -> float:
        """Returns the peak of resident memory."""
        return self._memory("VmHWM")

    def resident_mb(self) -> float:
        """Returns the resident memory at this moment."""
        return self._memory("VmRSS")

    def cpu_s(self) -> float:
        """Returns the CPU time that the runner has used, user and system."""
        user, system = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _memory(self, name: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith(name))
        return int(line.split()[1]) / 1024


@contextmanager
def duetime_local(
    data: Path | None = None, *options: str, checkout: Path | None = None
) -> Iterator[Running]:
    """Runs `duetime local` with the benchmarks' handlers and a new store. `checkout`: another
    folder with the code to run, and its own .venv."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as scratch:
        folder = data or Path(scratch)
        port = free_port()
        program = (checkout.resolve() if checkout else HERE.parent) / ".venv/bin/duetime"
        command = [str(program), "local", "--no-demo"]
        command += ["--port", str(port), "--data", str(folder), "--log-level", "warning"]
        command += ["--handlers", str(HERE / "handlers.py"), *options]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                _wait_until_up(port, process)
                yield Running(port, folder, process.pid)
            finally:
                process.terminate()


def post(connection: HTTPConnection, path: str, body: bytes) -> Any:
    connection.request("POST", path, body, {"content-type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    if response.status >= 300:
        raise RuntimeError(f"{response.status}: {content[:500]!r}")
    return content


# Read from an index: a look at every row, many times a second, would take time from the runner.
ENDED = (
    "SELECT count(*) FROM tasks"
    " WHERE status IN ('SUCCEEDED', 'CANCELLED', 'EXPIRED') AND wake_bucket IS NULL"
)
SUCCEEDED = "SELECT count(*) FROM tasks WHERE status = 'SUCCEEDED'"


def wait_for(running: Running, count: int, timeout: float = 120, every: float = 0.02) -> float:
    """Waits until `count` tasks are SUCCEEDED on disk; returns the monotonic time of that.
    Counting takes longer the more tasks there are; `every`: the seconds between two counts."""
    give_up = time.monotonic() + timeout
    done = 0
    with closing(running.database()) as database:
        while time.monotonic() < give_up:
            (done,) = database.execute(ENDED).fetchone()
            if done >= count and database.execute(SUCCEEDED).fetchone()[0] >= count:
                return time.monotonic()
            time.sleep(every)
    raise TimeoutError(f"only {done} of {count} tasks have ended")


def report(name: str, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints a table and saves it as JSON."""
    table = Table(title=title)
    for column in rows[0]:
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in rows:
        table.add_row(*(_shown(value) for value in row.values()))
    console = Console()
    Console(width=max(console.width, MIN_WIDTH)).print(table)
    RESULTS.mkdir(exist_ok=True)
    machine = {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],  # of the last minute, with the benchmark's own
    }
    text = json.dumps({"title": title, "machine": machine, "rows": list(rows)}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if value >= 100 else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"duetime local ended with {process.returncode}")
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/v1/health")
            connection.getresponse().read()
            return
        except ConnectionError:
            time.sleep(0.05)
    raise TimeoutError("duetime local does not answer")

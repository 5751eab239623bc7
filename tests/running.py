"""`duetime local` in a process of its own, as a user starts it."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds: what takes so long has failed, even on a busy machine


class Runner:
    def __init__(
        self, data: Path, port: int, *options: str, cwd: Path = ROOT, package: Path = ROOT
    ) -> None:
        """`package` is the folder that has the package duetime. The output goes to a file: of a
        pipe that no one reads, lines would be dropped."""
        self._output = TemporaryFile("a+")  # noqa: SIM115
        command = [sys.executable, "-m", "duetime", "local", "--no-demo", "--data", str(data)]
        self._child = subprocess.Popen(
            [*command, "--port", str(port), *options],
            cwd=cwd,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TERM": "dumb", "COLUMNS": "200", "PYTHONPATH": str(package)},
        )
        self.pid = self._child.pid
        # Without the certificates of all authorities, which take 20 ms to load.
        no_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        url = f"http://127.0.0.1:{port}/v1"
        self.api = httpx.Client(base_url=url, timeout=PATIENCE, verify=no_tls)

    def is_up(self) -> bool:
        if self._child.poll() is not None:
            raise AssertionError(f"it ended: {self._said()}")
        try:
            return self.api.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    def submit(self, **body: Any) -> str:
        answer = self.api.post("/tasks", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def submit_many(self, bodies: list[dict[str, Any]]) -> list[str]:
        ids = []
        for start in range(0, len(bodies), 100):
            answer = self.api.post("/tasks/batch", json={"tasks": bodies[start : start + 100]})
            ids += [result["task"]["id"] for result in answer.json()["results"]]
        return ids

    def task(self, task_id: str) -> dict[str, Any]:
        return dict(self.api.get(f"/tasks/{task_id}").json())

    def ids(self, status: str) -> set[str]:
        found: set[str] = set()
        cursor: dict[str, str] = {}
        while True:
            query = {"status": status, "limit": "100", **cursor}
            page = self.api.get("/tasks", params=query).json()
            found |= {task["id"] for task in page["items"]}
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Sends a signal. Returns the exit code and the whole output."""
        self._child.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        code = self._child.wait(PATIENCE)
        self.api.close()
        return code, self._said()

    def _said(self) -> str:
        self._output.seek(0)
        return self._output.read()

    def leave(self) -> None:
        self._child.wait(PATIENCE)
        self.api.close()

    def kill(self) -> None:
        if self._child.poll() is None:
            self.end(signal.SIGKILL)


@contextmanager
def running(
    data: Path, port: int, *options: str, cwd: Path = ROOT, package: Path = ROOT
) -> Iterator[Runner]:
    runner = Runner(data, port, *options, cwd=cwd, package=package)
    try:
        until(runner.is_up)
        yield runner
    finally:
        runner.kill()


def until(done: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < give_up, "it took too long"
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])

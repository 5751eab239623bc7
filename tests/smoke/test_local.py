"""`duetime local` as a user starts it: the one place where a test waits for the clock."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.sink import a_sink

ROOT = Path(__file__).parents[2]
PATIENCE = 10.0
MANY = 300
HELLO = {"type": "python", "handler": "duetime.hello"}


class Runner:
    def __init__(self, data: Path, port: int) -> None:
        command = [sys.executable, "-m", "duetime.cli", "local", "--no-demo", "--data", str(data)]
        self._child = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"TERM": "dumb", "COLUMNS": "200"},
        )
        self._api = httpx.Client(base_url=f"http://127.0.0.1:{port}/v1", timeout=PATIENCE)

    def is_up(self) -> bool:
        if self._child.poll() is not None:
            raise AssertionError(f"it ended: {self._child.communicate()[0]}")
        try:
            return self._api.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    def submit(self, **body: Any) -> str:
        answer = self._api.post("/tasks", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def submit_many(self, bodies: list[dict[str, Any]]) -> list[str]:
        ids = []
        for start in range(0, len(bodies), 100):
            answer = self._api.post("/tasks/batch", json={"tasks": bodies[start : start + 100]})
            ids += [result["task"]["id"] for result in answer.json()["results"]]
        return ids

    def task(self, task_id: str) -> dict[str, Any]:
        return dict(self._api.get(f"/tasks/{task_id}").json())

    def ids(self, status: str) -> set[str]:
        found: set[str] = set()
        cursor: dict[str, str] = {}
        while True:
            query = {"status": status, "limit": "100", **cursor}
            page = self._api.get("/tasks", params=query).json()
            found |= {task["id"] for task in page["items"]}
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal; the exit code and all that was said."""
        self._child.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        said, _ = self._child.communicate(timeout=PATIENCE)
        self._api.close()
        return self._child.returncode, said

    def kill(self) -> None:
        if self._child.poll() is None:
            self.end(signal.SIGKILL)


@contextmanager
def running(data: Path, port: int) -> Iterator[Runner]:
    runner = Runner(data, port)
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


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_tasks_run_on_time_and_ctrl_c_drains(tmp_path: Path, port: int):
    with a_sink() as sink, running(tmp_path / "data", port) as runner:
        due = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
        hello = runner.submit(target=HELLO, payload={"name": "Ada"}, run_at=due)
        target = {"type": "http", "url": f"{sink.url}/hook"}
        hook = runner.submit(target=target, payload={"n": 1}, delay=1)
        until(lambda: runner.ids("SUCCEEDED") == {hello, hook})

        assert runner.task(hello)["result"] == "Hello, Ada!"
        assert [asked.json for asked in sink.asked] == [{"n": 1}]
        assert sink.asked[0].headers["Idempotency-Key"] == hook
        for task_id in (hello, hook):
            assert 0 <= runner.task(task_id)["drift_ms"] < 1_000

        code, said = runner.end(signal.SIGINT)

    assert code == 0, said
    assert "Stopped." in said
    assert "Traceback" not in said


def test_killed_in_the_middle_nothing_is_lost(tmp_path: Path, port: int):
    data = tmp_path / "data"
    with running(data, port) as runner:
        due = time.time() + 1
        bodies = [
            {
                "target": HELLO,
                "run_at": datetime.fromtimestamp(due + n / MANY, UTC).isoformat(),
                "retry": {"base_delay": 0.1},
            }
            for n in range(MANY)
        ]
        ids = set(runner.submit_many(bodies))
        until(lambda: len(runner.ids("SUCCEEDED")) > 0)
        code, _ = runner.end(signal.SIGKILL)
        assert code == -signal.SIGKILL

    with running(data, port) as runner:
        until(lambda: runner.ids("SUCCEEDED") == ids)
        code, said = runner.end(signal.SIGTERM)

    assert code == 0, said


def test_what_stands_in_the_way_is_said_plainly(tmp_path: Path, port: int):
    with running(tmp_path / "data", port):
        same_port = Runner(tmp_path / "other", port)
        same_data = Runner(tmp_path / "data", port + 1)
        code, said = same_port.wait()
        assert (code, f"cannot listen on 127.0.0.1:{port}" in said) == (1, True), said
        assert "Traceback" not in said
        code, said = same_data.wait()
        assert (code, "another Duetime is running on" in said) == (1, True), said
        assert "Traceback" not in said

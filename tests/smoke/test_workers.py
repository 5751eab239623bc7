"""`duetime worker --url` in processes of their own, beside a runner."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx
import pytest

from tests.running import PATIENCE, ROOT, Runner, free_port, running, until

POOL = ("--pool", "batch")
HANDLERS = """
import time
from pathlib import Path
from duetime import task


@task("shop.wait")
def wait(payload, ctx):
    "Runs until the file of the payload is there."
    ctx.progress(0.5)
    while not Path(payload).exists():
        if ctx.cancelled:
            raise InterruptedError(ctx.reason)
        time.sleep(0.01)
    return ctx.attempt
"""
NODE = ROOT / "examples/worker/worker.mjs"
SHELL = ROOT / "examples/worker/worker.sh"
LACKED_BY_SHELL = [name for name in ("curl", "jq", "timeout") if shutil.which(name) is None]


class Worker:
    def __init__(self, name: str, command: list[str], **environment: str) -> None:
        self.name = name
        self._output = TemporaryFile("a+")  # noqa: SIM115
        self._child = subprocess.Popen(
            command,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "dumb"} | environment,
            start_new_session=True,
        )

    def send(self, number: signal.Signals) -> None:
        self._child.send_signal(number)

    def end(self, number: signal.Signals) -> int:
        self.send(number)
        return self.wait()

    def wait(self) -> int:
        return self._child.wait(PATIENCE)

    def said(self) -> str:
        self._output.seek(0)
        return self._output.read()

    def kill(self) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait(PATIENCE)


@contextmanager
def a_worker(folder: Path, port: int, name: str, *options: str, **env: str) -> Iterator[Worker]:
    (folder / "shop.py").write_text(HANDLERS)
    url, handlers = f"http://127.0.0.1:{port}", str(folder / "shop.py")
    command = [sys.executable, "-m", "duetime", "worker", "--url", url, "--handlers", handlers]
    worker = Worker(name, [*command, *POOL, "--name", name, *options], **env)
    try:
        yield worker
    finally:
        worker.kill()


def holder(runner: Runner, task_id: str) -> str | None:
    """The worker that runs the task."""
    for worker in runner.api.get("/workers").json()["items"]:
        if task_id in [task["task_id"] for task in worker["running"]]:
            return str(worker["name"])
    return None


def outcomes(runner: Runner, task_id: str) -> list[Any]:
    return [
        each["outcome"] for each in runner.api.get(f"/tasks/{task_id}/attempts").json()["items"]
    ]


def submit(runner: Runner, payload: Any, handler: str = "shop.wait", **fields: Any) -> str:
    target = {"type": "python", "handler": handler}
    return runner.submit(target=target, payload=payload, pool="batch", timeout=300, **fields)


@pytest.fixture
def port() -> int:
    return free_port()


def test_task_of_a_worker_outlives_a_runner_that_is_killed(tmp_path: Path, port: int):
    data, done = tmp_path / "data", tmp_path / "done"
    with a_worker(tmp_path, port, "w1") as worker:
        with running(data, port, *POOL) as runner:
            task_id = submit(runner, str(done))
            until(lambda: runner.task(task_id)["progress"] is not None)
            lanes = runner.api.get("/lanes").json()["items"]
            assert {each["lane"]: each["running"] for each in lanes}["batch/medium"] == 1
            runner.end(signal.SIGKILL)
        with running(data, port, *POOL) as runner:
            done.touch()
            until(lambda: runner.task(task_id)["status"] == "SUCCEEDED")
            found = runner.task(task_id)

            assert (found["attempt"], found["result"]) == (1, 1)
            assert worker.end(signal.SIGTERM) == 0, worker.said()


def test_drained_worker_hands_its_task_to_another_one(tmp_path: Path, port: int):
    done = tmp_path / "done"
    with ExitStack() as stack:
        runner = stack.enter_context(running(tmp_path / "data", port, *POOL))
        retry = {"max_attempts": 1}  # an interruption may use up none
        task_id = submit(runner, str(done), retry=retry)
        workers = {
            name: stack.enter_context(a_worker(tmp_path, port, name, "--grace", "1"))
            for name in ("w1", "w2")
        }
        until(lambda: holder(runner, task_id) is not None)
        first = str(holder(runner, task_id))

        assert workers[first].end(signal.SIGTERM) == 0, workers[first].said()
        until(lambda: holder(runner, task_id) not in (None, first))
        done.touch()
        until(lambda: runner.task(task_id)["status"] == "SUCCEEDED")

        assert outcomes(runner, task_id) == ["interrupted", "succeeded"], workers[first].said()
        assert '"message": "worker drained"' in workers[first].said()


def test_token_of_workers_leases_and_reads_nothing(tmp_path: Path, port: int):
    tokens = {"DUETIME_WORKER_TOKEN": "t0ken-of-workers"}
    options = ("--token", "t0ken-of-ada", "--worker-token", "t0ken-of-workers")
    done = tmp_path / "done"
    done.touch()
    runner = Runner(tmp_path / "data", port, *POOL, *options)
    try:
        runner.api.headers["authorization"] = "Bearer t0ken-of-ada"
        until(runner.is_up)
        task_id = submit(runner, str(done))
        with (
            a_worker(tmp_path, port, "w1", "--log-level", "debug", **tokens) as worker,
            a_worker(tmp_path, port, "w2", DUETIME_WORKER_TOKEN="wrong") as stranger,
        ):
            assert stranger.wait() == 2
            assert "The token is missing or wrong" in stranger.said()
            until(lambda: runner.task(task_id)["status"] == "SUCCEEDED")
            assert worker.end(signal.SIGTERM) == 0
            assert "t0ken" not in worker.said()

        url, sent = f"http://127.0.0.1:{port}", {"authorization": "Bearer t0ken-of-workers"}
        for path in ("/v1/tasks", "/v1/workers", "/metrics"):
            assert httpx.get(url + path, headers=sent).status_code == 403, path
            assert httpx.get(url + path).status_code == 401, path
        _, said = runner.end(signal.SIGTERM)
        assert "t0ken" not in said
    finally:
        runner.kill()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_worker_in_node_runs_tasks(tmp_path: Path, port: int):
    with running(tmp_path / "data", port, *POOL) as runner:
        worker = Worker("node", ["node", str(NODE), f"http://127.0.0.1:{port}", "batch"])
        try:
            resize = submit(runner, {"width": 300}, "node.resize")
            bad = submit(runner, None, "node.resize", retry={"max_attempts": 1})
            until(lambda: runner.task(resize)["status"] == "SUCCEEDED")
            until(lambda: runner.task(bad)["status"] == "DEAD")

            assert runner.task(resize)["result"] == {"width": 300, "height": 200}
            assert runner.task(bad)["error"]["type"] == "TypeError"
        finally:
            worker.kill()


def test_page_shows_the_worker_in_node_as_it_is():
    page = (ROOT / "docs/reference/worker-protocol.md").read_text()

    assert f"```js\n{NODE.read_text()}```" in page


@pytest.mark.skipif(bool(LACKED_BY_SHELL), reason=f"needs {', '.join(LACKED_BY_SHELL)}")
def test_worker_in_shell_runs_tasks_and_ends_after_the_one_it_has(tmp_path: Path, port: int):
    command = ["sh", str(SHELL), f"http://127.0.0.1:{port}", "batch", "shell.run"]
    program = ["sh", "-c", "jq -r .script | sh"]
    temporary, done = tmp_path / "temporary", tmp_path / "done"
    temporary.mkdir()
    with running(tmp_path / "data", port, *POOL) as runner:
        worker = Worker("shell", [*command, *program], TMPDIR=str(temporary))
        try:

            def submitted(script: str) -> str:
                once = {"max_attempts": 1}
                return submit(runner, {"script": script}, "shell.run", retry=once)

            counted = submitted("echo '\"tea\"' | jq length")
            failed = submitted("echo no tea >&2; exit 3")
            unreadable = submitted("echo no JSON")
            ended = [counted, failed, unreadable]
            until(lambda: {runner.task(each)["status"] for each in ended} <= {"SUCCEEDED", "DEAD"})
            last = submitted(f"while [ ! -e {done} ]; do sleep 0.05; done; echo null")
            until(lambda: runner.task(last)["status"] == "RUNNING")
            worker.send(signal.SIGTERM)
            done.touch()

            assert worker.wait() == 0, worker.said()
            assert runner.task(counted)["result"] == 3
            assert runner.task(failed)["error"]["type"] == "Exit3"
            assert runner.task(failed)["error"]["message"] == "no tea\n"
            assert runner.task(unreadable)["error"]["type"] == "Exit65"
            assert runner.task(last)["status"] == "SUCCEEDED"
            assert list(temporary.iterdir()) == []
        finally:
            worker.kill()


def test_worker_of_a_pool_that_the_runner_lacks_ends_with_2(tmp_path: Path, port: int):
    with (
        running(tmp_path / "data", port),
        a_worker(tmp_path, port, "w1") as worker,
    ):
        assert worker.wait() == 2

        [line] = worker.said().splitlines()
        assert "there is no pool 'batch'" in json.loads(line)["message"]


def test_worker_whose_control_port_is_taken_leases_nothing(tmp_path: Path, port: int):
    with running(tmp_path / "data", port, *POOL) as runner:
        waiting = submit(runner, str(tmp_path / "go"))
        with a_worker(tmp_path, port, "w1", "--control-port", str(port)) as worker:
            assert worker.wait() == 2

            assert f"the control port {port} cannot be used" in worker.said()
        assert outcomes(runner, waiting) == []
        assert runner.api.get("/workers").json()["items"] == []

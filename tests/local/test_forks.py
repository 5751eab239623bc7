"""A handler that forks: the child does the handler's work, and nothing of the runner's."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.running import Runner, free_port, running, until

HANDLERS = """
import asyncio
import multiprocessing
import os
import subprocess
import sys
import time

from duetime import task

LOG = os.environ["FORKS_LOG"]


def note(ctx):
    with open(LOG, "a") as log:
        log.write(f"{ctx.task_id}\\n")


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@task("forks.ends")
def ends(how, ctx):
    note(ctx)
    pid = os.fork()
    if pid:
        return ended(pid)
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise ValueError("in the child")
    return "from the child"


@task("forks.isolated", isolated=True)
def isolated(how, ctx):
    return ends(how, ctx)


@task("forks.awaits")
async def awaits(how, ctx):
    note(ctx)
    pid = os.fork()
    if pid:
        await asyncio.sleep(0.01)
        return ended(pid)
    return "from the child"


@task("forks.reports")
def reports(_, ctx):
    pid = os.fork()
    if pid:
        return ended(pid)
    try:
        ctx.progress(0.5)
    except RuntimeError:
        os._exit(7)


@task("forks.stays")
def stays(_, ctx):
    pid = os.fork()
    if not pid:
        time.sleep(600)
    return pid


@task("forks.naps", isolated=True)
def naps(_, ctx):
    ctx.progress(0, str(os.getpid()))
    time.sleep(600)


@task("forks.executes")
def executes(_, ctx):
    return subprocess.Popen(["sleep", "600"], close_fds=False).pid


@task("forks.pools")
def pools(words, ctx):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(len, words)


@task("forks.terminates")
def terminates(_, ctx):
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    process.start()
    process.terminate()
    process.join()
    return process.exitcode
"""


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    handlers = tmp_path / "forking.py"
    handlers.write_text(HANDLERS)
    monkeypatch.setenv("FORKS_LOG", str(tmp_path / "log"))
    return ("--handlers", str(handlers), "--concurrency", "4")


def submit(runner: Runner, handler: str, payload: Any = None) -> str:
    once = {"max_attempts": 1}
    target = {"type": "python", "handler": handler}
    return runner.submit(target=target, payload=payload, retry=once)


def result(runner: Runner, task_id: str) -> Any:
    until(lambda: runner.task(task_id)["status"] in ("SUCCEEDED", "DEAD"))
    task = runner.task(task_id)
    assert task["status"] == "SUCCEEDED", task["error"]
    return task["result"]


RETURNS = [
    ("return", 0),
    pytest.param("exit", 3, marks=pytest.mark.long),
    pytest.param("raise", 1, marks=pytest.mark.long),
]


@pytest.mark.parametrize("handler", ["forks.ends", "forks.isolated", "forks.awaits"])
@pytest.mark.parametrize(("how", "code"), RETURNS)
def test_forked_child_that_comes_back_ends_and_no_attempt_runs_twice(
    tmp_path: Path, options: tuple[str, ...], handler: str, how: str, code: int
):
    if handler == "forks.awaits" and how != "return":
        pytest.skip("the same way out")
    with running(tmp_path / "data", free_port(), *options) as runner:
        tasks = [submit(runner, handler, how) for _ in range(6 if "iso" in handler else 30)]
        results = [result(runner, task) for task in tasks]
        ended, said = runner.end(signal.SIGTERM)

    assert results == [code] * len(tasks)
    assert sorted((tmp_path / "log").read_text().split()) == sorted(tasks)
    assert (ended, said.count("runner stopped")) == (0, 1), said


def test_forked_child_cannot_report_on_the_attempt(tmp_path: Path, options: tuple[str, ...]):
    with running(tmp_path / "data", free_port(), *options) as runner:
        assert result(runner, submit(runner, "forks.reports")) == 7


def test_handlers_may_use_multiprocessing_with_fork(tmp_path: Path, options: tuple[str, ...]):
    with running(tmp_path / "data", free_port(), *options) as runner:
        assert result(runner, submit(runner, "forks.pools", ["a", "bb"])) == [1, 2]
        assert result(runner, submit(runner, "forks.terminates")) == -signal.SIGTERM


@contextmanager
def outliving(runner: Runner, handler: str) -> Iterator[int]:
    """A child of a handler that is alive after its runner was killed."""
    pid = result(runner, submit(runner, handler))
    try:
        os.kill(runner.pid, signal.SIGKILL)
        runner.leave()
        os.kill(pid, 0)
        yield pid
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("handler", ["forks.stays", "forks.executes"])
def test_child_that_outlives_a_killed_runner_keeps_neither_lock_nor_port(
    tmp_path: Path, options: tuple[str, ...], handler: str
):
    port = free_port()
    with (
        running(tmp_path / "data", port, *options) as first,
        outliving(first, handler) as pid,
        running(tmp_path / "data", port, *options) as second,
    ):
        assert result(second, submit(second, "forks.pools", ["abc"])) == [3]
        os.kill(pid, 0)


def test_forked_child_that_outlives_a_killed_runner_keeps_no_isolated_handler_alive(
    tmp_path: Path, options: tuple[str, ...]
):
    with running(tmp_path / "data", free_port(), *options) as runner:
        nap = submit(runner, "forks.naps")
        until(lambda: runner.task(nap)["progress"] is not None)
        napping = int(runner.task(nap)["progress"]["message"])
        os.kill(napping, 0)
        with outliving(runner, "forks.stays"):
            until(lambda: not Path(f"/proc/{napping}").exists())


@pytest.mark.parametrize("handler", ["forks.stays", "forks.executes"])
def test_child_of_a_handler_holds_no_file_and_no_socket_of_the_runner(
    tmp_path: Path, options: tuple[str, ...], handler: str
):
    with running(tmp_path / "data", free_port(), *options) as runner:
        pid = result(runner, submit(runner, handler))
        held, connections = descriptors(runner.pid), tcp_sockets()
        assert any(name.endswith("duetime.db") for name in held)
        assert connections & set(held)

        def is_rid_of_them() -> bool:
            inherited = descriptors(pid)
            return not (connections & set(inherited) or any("duetime" in i for i in inherited))

        until(is_rid_of_them)  # the runner may go on before its child does
        os.kill(pid, signal.SIGKILL)


def descriptors(pid: int) -> list[str]:
    """Returns what the process has open: files by name, sockets by number."""
    folder = Path(f"/proc/{pid}/fd")
    if not folder.exists():
        pytest.skip("there is no /proc here")
    return [os.readlink(link) for link in folder.iterdir()]


def tcp_sockets() -> set[str]:
    """Returns the listening and connected sockets of this machine, as /proc names them."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {f"socket:[{fields[9]}]" for fields in lines}

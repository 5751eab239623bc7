"""The output of `duetime local` with and without a terminal, with handlers that print and log."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from duetime.client import Client, Unreachable
from tests.running import until

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
NOT_WRAPPED = "x" * 300
HANDLERS = f"""
import logging, sys, warnings
from duetime import task

log = logging.getLogger("shop")
print("loaded")

@task("plain")
def plain(payload, ctx):
    print("printed by plain")
    print("to stderr", file=sys.stderr)
    log.warning("{NOT_WRAPPED}", extra={{"aisle": 7}})
    warnings.warn("old tea")
    return "done"

@task("later")
async def later(payload, ctx):
    print("printed by later")

@task("apart", isolated=True)
def apart(payload, ctx):
    print("printed by apart", end="")
    log.warning("logged by apart")

@task("broken")
def broken(payload, ctx):
    raise ValueError("no tea")
"""
NAMES = ("plain", "later", "apart", "broken")


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def command(tmp_path: Path, port: int) -> list[str]:
    (tmp_path / "shop.py").write_text(HANDLERS)
    words = f"local --memory --no-demo --port {port} --handlers {tmp_path / 'shop.py'}"
    return [sys.executable, "-m", "duetime", *words.split()]


def run_each(port: int) -> dict[str, str]:
    """The ids of ended tasks, one of each handler."""
    with Client(f"http://127.0.0.1:{port}") as client:
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                client.health()
                break
            except Unreachable:
                assert time.monotonic() < give_up, "it does not start"
                time.sleep(0.05)
        ids = {}
        for name in NAMES:
            target = {"type": "python", "handler": name}
            ids[name] = client.submit(target=target, retry={"max_attempts": 1})["id"]
            client.wait(ids[name], timeout=PATIENCE, poll=0.05)
        return ids


def said(command: list[str], port: int, *options: str) -> tuple[dict[str, str], str, str]:
    """The ids of the tasks, and what went to stdout and to stderr."""
    child = subprocess.Popen(
        [*command, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    try:
        ids = run_each(port)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
    assert child.returncode == 0, err
    return ids, out, err


def test_off_a_terminal_every_record_is_a_plain_line_with_its_ids(command: list[str], port: int):
    ids, out, err = said(command, port)
    of_plain = f"task_id={ids['plain']} attempt=1 handler=plain"
    lines = out.splitlines()
    # By the runner, and by the template of isolated handlers: such lines pass as they are.
    assert lines[0] == "loaded"
    assert lines.count("loaded") == 2
    words = [line.partition("Z ")[2] for line in lines if line != "loaded"]
    assert words == [
        f"INFO stdout printed by plain {of_plain}",
        f"INFO stdout printed by later task_id={ids['later']} attempt=1 handler=later",
        f"INFO stdout printed by apart task_id={ids['apart']} attempt=1 handler=apart",
    ]
    lines = [line.partition("Z ")[2] for line in err.splitlines()]
    assert f"INFO stderr to stderr {of_plain}" in lines
    assert f"WARNING shop {NOT_WRAPPED} aisle=7 {of_plain}" in lines
    assert f"WARNING shop logged by apart task_id={ids['apart']} attempt=1 handler=apart" in lines
    [died] = [line for line in lines if line.startswith("INFO duetime.events task died")]
    assert f" task_id={ids['broken']} attempt=1 status=DEAD " in died
    assert died.endswith('reason="ValueError: no tea"')
    assert lines[0].startswith(f"INFO duetime.runner runner started url=http://127.0.0.1:{port} ")
    assert lines[-1] == "INFO duetime.runner runner stopped"


def test_json_has_every_record_as_an_object_with_its_ids(command: list[str], port: int):
    ids, out, err = said(command, port, "--log-format", "json", "--log-level", "info")
    records: list[dict[str, Any]] = [json.loads(line) for line in err.splitlines()]
    records += [json.loads(line) for line in out.splitlines() if line != "loaded"]
    for record in records:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])
        assert {"level", "logger", "message"} <= set(record)
    by_message = {record["message"]: record for record in records}
    for name, message in [
        ("plain", "printed by plain"),
        ("plain", "to stderr"),
        ("plain", NOT_WRAPPED),
        ("later", "printed by later"),
        ("apart", "printed by apart"),
        ("apart", "logged by apart"),
        ("broken", "attempt failed"),
    ]:
        record = by_message[message]
        assert (record["task_id"], record["attempt"]) == (ids[name], 1)
        assert record["handler"] == name
    assert by_message[NOT_WRAPPED]["aisle"] == 7
    assert by_message["attempt failed"]["exception"].endswith("ValueError: no tea")
    [warned] = [record for record in records if record["logger"] == "py.warnings"]
    assert "old tea" in warned["message"]
    assert warned["task_id"] == ids["plain"]
    ended = [record for record in records if record["logger"] == "duetime.events"]
    assert {record["task_id"] for record in ended} == set(ids.values())
    assert [r["result"] for r in ended if r["task_id"] == ids["plain"]] == ["done"]


def test_a_reason_not_to_start_is_a_json_line_too(command: list[str], port: int):
    with socket.create_server(("127.0.0.1", port)):
        done = subprocess.run(
            [*command, "--log-format", "json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    [record] = [json.loads(line) for line in done.stderr.splitlines()]
    assert (done.returncode, record["level"], record["logger"]) == (1, "ERROR", "duetime.runner")
    assert record["message"].startswith(f"runner not started: cannot listen on 127.0.0.1:{port}")


class Terminal:
    """A pseudo-terminal of 80 columns with the runner on it."""

    def __init__(self, command: list[str]) -> None:
        self._child, self._screen = pty.fork()
        if self._child == 0:
            os.environ.pop("COLUMNS", None)
            os.environ["TERM"] = "xterm"
            os.chdir(ROOT)
            os.execv(command[0], command)
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 80, 0, 0))

    def stop(self) -> None:
        os.kill(self._child, signal.SIGINT)

    def read(self) -> str:
        """Returns everything shown until the runner has ended."""
        shown, give_up = b"", time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            if not select.select([self._screen], [], [], 1)[0]:
                continue
            try:
                shown += os.read(self._screen, 65_536)
            except OSError:  # the other side is closed
                break
        os.waitpid(self._child, 0)
        os.close(self._screen)
        return shown.decode()


def test_on_a_terminal_lines_fit_and_prints_are_left_alone(command: list[str], port: int):
    terminal = Terminal(command)
    run_each(port)
    terminal.stop()
    plain = re.sub(r"\x1b\][^\x1b]*\x1b\\|\x1b\[[\d;?]*[A-Za-z]", "", terminal.read())
    lines = [line for line in plain.replace("\r", "").split("\n") if "xxx" not in line]
    assert lines[0] == "loaded"
    assert lines[1].startswith(f"Duetime is running at http://127.0.0.1:{port}  ")
    assert "printed by plain" in lines
    events = [line for line in lines if re.match(r"\d\d:\d\d:\d\d  (SUCCEEDED|DEAD)", line)]
    assert [line.split()[1:3] for line in events] == [
        ["SUCCEEDED", "plain"],
        ["SUCCEEDED", "later"],
        ["SUCCEEDED", "apart"],
        ["DEAD", "broken"],
    ]
    assert lines.index("Press Ctrl-C to stop. Events:") < lines.index(events[0])
    assert max(len(line) for line in events) <= 80
    assert NOT_WRAPPED in plain
    assert "Stopped." in lines


def test_runner_whose_output_nobody_reads_serves_counts_and_stops(tmp_path: Path, port: int):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"-")
    os.set_blocking(writer, True)
    command = [sys.executable, "-m", "duetime", "local", "--no-demo", "--data", str(tmp_path)]
    child = subprocess.Popen(
        [*command, "--port", str(port)], cwd=ROOT, stdout=writer, stderr=writer, env=os.environ
    )
    os.close(writer)
    try:
        with Client(f"http://127.0.0.1:{port}") as client:
            until(lambda: is_up(client))
            target = {"type": "python", "handler": "duetime.hello"}
            for _ in range(20):
                client.wait(client.submit(target=target)["id"], timeout=PATIENCE)
            until(lambda: ended(client) == 20)
        child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE) == 0
    finally:
        child.kill()
        os.close(reader)


def is_up(client: Client) -> bool:
    try:
        return bool(client.health())
    except Unreachable:
        return False


def ended(client: Client) -> int:
    """How many tasks the relay has counted."""
    return sum(point["ends"]["SUCCEEDED"] for point in client.stats()["series"])

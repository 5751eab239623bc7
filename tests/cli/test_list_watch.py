"""`duetime list --watch`, and `duetime watch` with live updates."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from duetime.cli import list_watch
from duetime.cli.exit_codes import ExitCode
from duetime.client import Client
from duetime.client.live import Live
from duetime.handlers.context import Context
from duetime.handlers.registry import task
from tests.live_service import LiveService


@task("list_watch.echo")
def echo(payload: Any, ctx: Context) -> Any:
    return payload


ECHO: Any = {"target": {"type": "python", "handler": "list_watch.echo"}}


@pytest.fixture
def service() -> Iterator[LiveService]:
    with closing(LiveService()) as service:
        yield service


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, a_task: Any) -> dict[str, Any]:
    """What is read: two rows, a new one above them, a change of the first; then Ctrl-C."""
    first, second, third = (a_task(id=f"01M{n:023d}", name=f"task-{n}") for n in range(3))
    asked: dict[str, Any] = {}

    def page(self: Live, **fields: Any) -> Iterator[Any]:
        asked.update(fields)
        for items in ([second, first], [third, second, first], [third, second, ended]):
            yield {"items": items, "next_cursor": None}
        raise KeyboardInterrupt

    ended = {**first, "status": "SUCCEEDED", "attempt": 1}
    monkeypatch.setattr(Live, "page", page)
    return asked


def test_watched_list_prints_each_change_as_a_line(duetime: Any, pages: Any) -> None:
    result = duetime("list", "--watch", "--status", "pending", "--limit", "7")

    assert result.exit_code == ExitCode.INTERRUPTED
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [(row[1], row[-1]) for row in rows] == [
        ("ENQUEUED", "task-0"),
        ("ENQUEUED", "task-1"),
        ("ENQUEUED", "task-2"),
        ("SUCCEEDED", "task-0"),
    ]
    assert (pages["status"], pages["limit"], pages["fields"]) == (["PENDING"], 7, "summary")


def test_watched_list_prints_json_lines(duetime: Any, pages: Any) -> None:
    result = duetime("list", "--watch", "--json")

    tasks = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["name"], each["status"]) for each in tasks] == [
        ("task-0", "ENQUEUED"),
        ("task-1", "ENQUEUED"),
        ("task-2", "ENQUEUED"),
        ("task-0", "SUCCEEDED"),
    ]
    assert pages["fields"] is None


def test_watched_list_on_a_terminal_is_one_table_with_the_newest_above(
    duetime: Any, pages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_watch, "is_terminal", lambda: True)
    result = duetime("list", "--watch")

    assert result.exit_code == ExitCode.INTERRUPTED
    header, *rows = [line.split() for line in result.stdout.strip().splitlines()]
    assert header[0] == "ID"
    assert [(row[1], row[-1]) for row in rows] == [
        ("ENQUEUED", "task-2"),
        ("ENQUEUED", "task-1"),
        ("SUCCEEDED", "task-0"),
    ]


@pytest.mark.parametrize("options", [["--all"], ["--cursor", "x"], ["--limit", "101"]])
def test_watched_list_is_one_page(duetime: Any, options: list[str]) -> None:
    result = duetime("list", "--watch", *options)

    assert result.exit_code == ExitCode.USAGE
    assert options[0] in result.stderr


class Command:
    """`duetime …` in a process of its own."""

    def __init__(self, url: str, *words: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "duetime", *words, "--url", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TERM": "dumb"},
        )

    def line(self) -> str:
        assert self._child.stdout is not None
        return self._child.stdout.readline()

    def interrupt(self) -> tuple[int, str]:
        self._child.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> tuple[int, str]:
        _, errors = self._child.communicate(timeout=60)
        return self._child.returncode, errors


def test_watched_list_follows_a_running_duetime_until_ctrl_c(service: LiveService) -> None:
    with Client(service.url) as client:
        first = client.submit(**ECHO)
        command = Command(service.url, "list", "--watch", "--json")
        assert json.loads(command.line())["id"] == first["id"]
        second = client.submit(**ECHO)
        assert json.loads(command.line())["id"] == second["id"]
        service.run_due()
        ended: set[str] = set()
        while ended != {first["id"], second["id"]}:
            row = json.loads(command.line())
            ended |= {row["id"]} if row["status"] == "SUCCEEDED" else set()

    assert command.interrupt() == (ExitCode.INTERRUPTED, "")


def test_watched_task_is_shown_when_a_push_says_that_it_has_changed(service: LiveService) -> None:
    with Client(service.url) as client:
        task_id = client.submit(**ECHO)["id"]
    command = Command(service.url, "watch", task_id, "--every", "1h")
    assert "ENQUEUED" in command.line()
    service.run_due()
    assert "SUCCEEDED" in command.line()

    assert command.wait() == (ExitCode.OK, "")

"""`duetime outbox drain` against a real API."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from duetime.cli import outbox as command
from duetime.cli.exit_codes import ExitCode
from duetime.outbox.sql import Outbox


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "shop.db"
    add(file)
    return file


def add(file: Path, *handlers: str) -> None:
    connection = sqlite3.connect(file)
    Outbox().create_table(connection)
    for handler in handlers:
        Outbox().add(connection, handler, {"item": "tea"})
    connection.commit()
    connection.close()


def test_drain_submits_what_was_committed(live: Any, system: Any, file: Path) -> None:
    add(file, "echo", "echo")
    result = live("outbox", "drain", "--database", f"sqlite:///{file}")
    assert (result.exit_code, result.stdout) == (0, "Submitted 2 tasks.\n")
    listed = json.loads(live("list", "--json").stdout)["items"]
    assert [task["payload"] for task in listed] == [{"item": "tea"}] * 2


def test_drain_ends_with_1_if_a_task_is_refused(live: Any, file: Path, tmp_path: Path) -> None:
    add(file, "echo", "no.such.handler")
    url = tmp_path / "url"
    url.write_text(f"sqlite:///{file}\n")
    result = live("outbox", "drain", "--database", f"@{url}", "--json")
    assert result.exit_code == ExitCode.NOT_DONE
    assert json.loads(result.stdout) == {"submitted": 1, "refused": 1, "postponed": 0}
    again = live("outbox", "drain", "--database", f"@{url}")
    assert (again.exit_code, again.stdout) == (0, "Submitted 0 tasks.\n")


def test_drain_says_that_duetime_does_not_answer(
    duetime: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(file, "echo")
    monkeypatch.setattr("duetime.client.submissions.FIRST_PAUSE", 0)
    result = duetime("outbox", "drain", "--database", f"sqlite:///{file}")
    assert result.exit_code == ExitCode.UNREACHABLE
    assert "Duetime does not answer" in result.stderr


def test_drain_names_an_error_of_the_database(live: Any, file: Path) -> None:
    result = live("outbox", "drain", "--database", f"sqlite:///{file}", "--table", "missing")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr == "The database of the outbox failed: no such table: missing\n"


def test_follow_goes_on_after_an_error_and_reports_it_once(
    live: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        assert seconds == 2
        if pauses == 1:
            sqlite3.connect(file).execute("ALTER TABLE duetime_outbox RENAME TO away")
        elif pauses == 3:
            sqlite3.connect(file).execute("ALTER TABLE away RENAME TO duetime_outbox")
            add(file, "echo")
        elif pauses == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(command.time, "sleep", pause)
    words = ("outbox", "drain", "--database", f"sqlite:///{file}", "--follow", "--every", "2")
    result = live(*words)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert result.stdout == "Submitted 1 task.\n"
    assert result.stderr == (
        "The database of the outbox failed: no such table: duetime_outbox (trying again)\n"
    )


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--database mysql://h/db", "--database"),
        ("--database sqlite:///nowhere/x.db", "--database"),
        ("--database @nowhere", "--database"),
        ("--database postgresql://h/db --table a-b", "--table"),
        ("--database postgresql://h/db --every 0", "--every"),
    ],
)
def test_options_of_drain_are_checked(duetime: Any, words: str, option: str) -> None:
    result = duetime("outbox", "drain", *words.split())
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for {option}" in result.stderr

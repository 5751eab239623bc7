"""`duetime purge` against the real API, over HTTP."""

from typing import Any

import pytest

from duetime.cli import output
from duetime.cli.exit_codes import ExitCode
from duetime.client import purge as pages
from duetime.core.change import Unknown
from tests.cli.test_commands import data, submitted


@pytest.fixture
def done(live: Any, system: Any) -> list[str]:
    """Three tasks that have just SUCCEEDED."""
    ids = [submitted(live, "--handler", "echo")["id"] for _ in range(3)]
    system.run_due()
    return ids


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal is there to ask on."""
    monkeypatch.setattr(output, "can_ask", lambda: True)


def test_purge_removes_tasks_in_as_many_calls_as_needed(
    live: Any, system: Any, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PURGE_BATCH", 2)
    result = live("purge", "--older-than", "0", "--yes")

    assert (result.exit_code, result.stdout) == (0, "Removed 3 tasks.\n")
    assert system.store.get(done) == {}
    assert live("purge", "--older-than", "0", "--yes").stdout == "No tasks to remove.\n"


def test_purge_keeps_what_ended_within_a_week(live: Any, system: Any, done: list[str]) -> None:
    assert live("purge", "--yes").stdout == "No tasks to remove.\n"
    assert len(system.store.get(done)) == 3


def test_dry_run_of_a_purge_only_counts(live: Any, system: Any, done: list[str]) -> None:
    result = live("purge", "--older-than", "0", "--dry-run")
    assert result.stdout == "3 tasks would be removed.\n"
    counted = data(live("purge", "--older-than", "0", "--dry-run", "--json"))
    assert counted == {"matched": 3, "removed": 0, "dry_run": True}
    assert len(system.store.get(done)) == 3


def test_purge_asks_first(live: Any, system: Any, done: list[str], asked: None) -> None:
    declined = live("purge", "--older-than", "0", stdin="n\n")
    assert declined.exit_code == ExitCode.NOT_DONE
    assert "Remove 3 tasks? [y/N]" in declined.stderr
    assert len(system.store.get(done)) == 3

    assert live("purge", "--older-than", "0", stdin="y\n").stdout == "Removed 3 tasks.\n"


def test_purge_filters_by_status_and_namespace(live: Any, system: Any, done: list[str]) -> None:
    words = ("purge", "--older-than", "0", "--yes")
    assert live(*words, "--namespace", "other").stdout == "No tasks to remove.\n"
    assert live(*words, "--status", "expired").stdout == "No tasks to remove.\n"
    assert live(*words, "--status", "succeeded", "--namespace", "default").stdout.startswith("Rem")


def test_purge_that_leaves_a_task_says_so(
    live: Any, system: Any, done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system.store, "remove", lambda given: [Unknown("no answer")] * len(given))
    result = live("purge", "--older-than", "0", "--yes")

    assert (result.exit_code, result.stdout) == (ExitCode.NOT_DONE, "Removed 0 tasks.\n")


@pytest.mark.parametrize(
    "words", [["--older-than", "soon"], ["--status", "DEAD"], ["--older-than", "-1"]]
)
def test_purge_refuses_a_wrong_option(duetime: Any, words: list[str]) -> None:
    assert duetime("purge", "--yes", *words).exit_code == ExitCode.USAGE


def test_purge_without_a_terminal_needs_yes(duetime: Any) -> None:
    result = duetime("purge")
    assert result.exit_code == ExitCode.USAGE
    assert "--dry-run only counts them" in result.stderr

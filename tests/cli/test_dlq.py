"""`duetime dlq` and `duetime retry` against the real API, over HTTP."""

import json
from dataclasses import replace
from typing import Any

import pytest

from duetime.cli import output
from duetime.cli.exit_codes import ExitCode
from duetime.client import ApiError, dead_letter_calls
from duetime.core.task import TaskError
from tests.api.dead import a_dead_task
from tests.cli.test_commands import data, submitted


@pytest.fixture
def buried(live: Any, system: Any) -> Any:
    """Submits that many tasks which die at once; their ids."""

    def bury(count: int, *words: str) -> list[str]:
        ids = [submitted(live, "--handler", "fail", *words)["id"] for _ in range(count)]
        system.run_due()
        return ids

    return bury


@pytest.fixture
def status(live: Any) -> Any:
    return lambda task_id: data(live("show", task_id, "--json"))["status"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal is there to ask on."""
    monkeypatch.setattr(output, "can_ask", lambda: True)


def listed(live: Any, *words: str) -> list[str]:
    return [task["id"] for task in data(live("dlq", "list", *words, "--json"))["items"]]


def test_retry_continues_after_a_refusal(live: Any, system: Any, buried: Any) -> None:
    first, last = buried(2)
    waits = submitted(live, "--handler", "echo", "--in", "1h")["id"]
    result = live("retry", first, waits, "01NOPE", last)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == "".join(f"{i} is RETRYING and due at once\n" for i in (first, last))
    refused = result.stderr.splitlines()
    assert refused[0].startswith("The task cannot be retried: ")
    assert f"Task {waits} is PENDING" in refused[0]
    assert refused[1] == "Not found: There is no task 01NOPE."


def test_a_retried_task_runs(live: Any, system: Any, buried: Any) -> None:
    [task_id] = buried(1)
    [item] = data(live("retry", task_id, "--json"))["items"]
    assert (item["id"], item["status"]) == (task_id, "RETRYING")
    system.run_due()
    shown = data(live("show", task_id, "--json"))
    assert [attempt["number"] for attempt in shown["attempts"]] == [1, 2]


def test_no_dead_letters(live: Any) -> None:
    submitted(live, "--handler", "echo")
    assert live("dlq", "list").stdout == "No dead letters.\n"
    assert live("dlq", "list", "--error-type", "E").stdout == "No dead letter matches.\n"
    assert data(live("dlq", "list", "--json")) == {"items": [], "next_cursor": None}


def test_list_has_the_error_of_each_task(live: Any, buried: Any) -> None:
    [task_id] = buried(1, "--name", "the daily one", "--max-attempts", "3")
    head, row = live("dlq", "list").stdout.splitlines()
    assert head.split() == ["ID", "DIED", "ERROR", "TRIES", "TASK"]
    assert row.startswith(task_id)
    for words in (" s ago ", "  PermanentError: it must fail  ", " 1/3 ", "the daily one"):
        assert words in row


def test_list_continues_at_a_cursor(live: Any, buried: Any) -> None:
    ids = buried(3)
    page = data(live("dlq", "list", "--limit", "2", "--json"))
    rest = listed(live, "--cursor", page["next_cursor"])
    assert sorted([*(t["id"] for t in page["items"]), *rest]) == sorted(ids)
    assert "There are more" in live("dlq", "list", "--limit", "2").stdout
    assert "There are more" not in live("dlq", "list", "--all").stdout


def test_the_list_reads_as_many_pages_as_it_takes(live: Any, system: Any) -> None:
    system.store.put([a_dead_task() for _ in range(105)])
    assert len(listed(live, "--all")) == 105
    assert len(listed(live, "--limit", "103")) == 103
    assert len(listed(live)) == 20


def test_the_list_filters(live: Any, system: Any, buried: Any) -> None:
    [shop] = buried(1, "--namespace", "shop")
    old = a_dead_task(system.now() - 2 * 3_600_000)
    system.store.put([old])
    assert listed(live) == [shop, old.id]
    assert listed(live, "--namespace", "shop") == [shop]
    assert listed(live, "--error-type", "ValueError") == [old.id]
    assert listed(live, "--since", "1h") == [shop]
    assert listed(live, "--before", "1h") == [old.id]
    assert listed(live, "--since", "3h", "--before", "90m") == [old.id]
    assert listed(live, "--since", "2001-01-01T00:00:00+01:00") == [shop, old.id]
    assert listed(live, "--before", "2001-01-01T00:00:00+01:00") == []
    assert listed(live, "--since", "99999999999d") == [shop, old.id]


def test_show_prints_the_error_its_traceback_and_every_attempt(
    live: Any, system: Any, buried: Any
) -> None:
    [task_id] = buried(1)
    live("retry", task_id)
    system.run_due()
    result = live("dlq", "show", task_id)
    assert result.exit_code == ExitCode.OK
    assert result.stdout.count("PermanentError: it must fail") == 4, "error, trace, 2 attempts"
    assert 'raise PermanentError("it must fail")' in result.stdout
    assert result.stdout.endswith(f"Run it again: duetime retry {task_id}\n")
    shown = data(live("dlq", "show", task_id, "--json"))
    assert [attempt["outcome"] for attempt in shown["attempts"]] == ["failed"] * 2


@pytest.mark.parametrize("command", [("show",), ("dlq", "show")], ids=" ".join)
def test_show_prints_where_the_error_was_raised(
    live: Any, system: Any, command: tuple[str, ...]
) -> None:
    task = a_dead_task()
    system.store.put([task])
    assert 'File "reports.py", line 7, in daily' in live(*command, task.id).stdout


def test_show_refuses_a_task_that_is_not_dead(live: Any) -> None:
    task_id = submitted(live, "--handler", "echo")["id"]
    for words in ((), ("--json",)):
        result = live("dlq", "show", task_id, *words)
        assert result.exit_code == ExitCode.NOT_DONE
        assert result.stdout == ""
        assert result.stderr == f"{task_id} is ENQUEUED, not DEAD: duetime show {task_id}\n"


def test_show_of_an_unknown_task(live: Any) -> None:
    assert live("dlq", "show", "01NOPE").exit_code == ExitCode.NOT_FOUND


def test_control_characters_do_not_reach_the_terminal(live: Any, system: Any) -> None:
    evil = "\x1b[2Jgone\x07\nand on"
    task = a_dead_task(name=evil)
    error = TaskError(type=evil, message=evil, traceback=evil)
    system.store.put([replace(task, current=replace(task.current, error=error))])
    for words in (("list",), ("show", task.id)):
        shown = live("dlq", *words).stdout
        assert "gone" in shown
        assert "\x1b" not in shown
        assert "\x07" not in shown
    assert len(live("dlq", "list").stdout.splitlines()) == 2


def test_ids_are_redriven_without_a_question(live: Any, buried: Any, status: Any) -> None:
    first, second, third = buried(3)
    result = live("dlq", "redrive", first, second)
    assert (result.exit_code, result.stdout) == (ExitCode.OK, "Redriven 2 tasks.\n")
    assert [status(task_id) for task_id in (first, second, third)] == [
        "RETRYING",
        "RETRYING",
        "DEAD",
    ]


def test_task_that_is_not_redriven_is_reported_with_the_reason(live: Any, buried: Any) -> None:
    [task_id] = buried(1)
    waits = submitted(live, "--handler", "echo", "--in", "1h")["id"]
    words = ("dlq", "redrive", waits, task_id, "01NOPE")
    result = live(*words)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == "Redriven 1 task.\n"
    assert result.stderr.splitlines() == [
        f"{waits} was not redriven: it is PENDING",
        "01NOPE was not redriven: not found",
    ]
    again = live(*words, "--json")
    assert again.exit_code == ExitCode.NOT_DONE
    assert [left["reason"] for left in data(again)["not_redriven"]] == [
        "it is PENDING",
        "it is RETRYING",
        "not found",
    ]


@pytest.mark.parametrize("which", [("--all",), ("--namespace", "default", "--since", "1h")])
def test_redrive_with_yes_does_not_ask(live: Any, buried: Any, status: Any, which: Any) -> None:
    ids = buried(2)
    result = live("dlq", "redrive", *which, "--yes")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Redriven 2 tasks.\n", "")
    assert {status(task_id) for task_id in ids} == {"RETRYING"}


def test_a_filter_redrives_only_its_own(live: Any, buried: Any, status: Any) -> None:
    [shop], [other] = buried(1, "--namespace", "shop"), buried(1)
    total = data(live("dlq", "redrive", "--namespace", "shop", "--yes", "--json"))
    assert total == {"redriven": 1, "dry_run": False, "not_redriven": []}
    assert (status(shop), status(other)) == ("RETRYING", "DEAD")


def test_redrive_without_a_terminal_needs_yes(live: Any, buried: Any, status: Any) -> None:
    [task_id] = buried(1)
    result = live("dlq", "redrive", "--all", stdin="y\n")
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert "--yes" in result.stderr
    assert status(task_id) == "DEAD"


@pytest.mark.usefixtures("asked")
def test_redrive_that_is_confirmed(live: Any, buried: Any, status: Any) -> None:
    ids = buried(2)
    result = live("dlq", "redrive", "--all", stdin="y\n")
    assert result.exit_code == ExitCode.OK
    assert "Redrive 2 tasks? [y/N]" in result.stderr
    assert result.stdout == "Redriven 2 tasks.\n"
    assert {status(task_id) for task_id in ids} == {"RETRYING"}


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("answer", ["n\n", "\n", "", "no yes\n"], ids=repr)
def test_redrive_that_is_not_confirmed(live: Any, buried: Any, status: Any, answer: str) -> None:
    [task_id] = buried(1)
    result = live("dlq", "redrive", "--error-type", "PermanentError", stdin=answer)
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_DONE, "")
    assert "Redrive 1 task? [y/N]" in result.stderr
    assert status(task_id) == "DEAD"


@pytest.mark.usefixtures("asked")
def test_redrive_of_nothing_does_not_ask(live: Any) -> None:
    result = live("dlq", "redrive", "--all", stdin="")
    assert (result.exit_code, result.stdout) == (ExitCode.OK, "No dead letters to redrive.\n")
    assert result.stderr == ""


@pytest.mark.parametrize("by_id", [True, False])
def test_a_dry_run_only_counts(live: Any, buried: Any, status: Any, by_id: bool) -> None:
    ids = buried(2)
    which = ids if by_id else ["--all"]
    result = live("dlq", "redrive", *which, "--dry-run")
    assert (result.exit_code, result.stdout) == (ExitCode.OK, "2 tasks would be redriven.\n")
    assert data(live("dlq", "redrive", *which, "--dry-run", "--json"))["dry_run"] is True
    assert {status(task_id) for task_id in ids} == {"DEAD"}


@pytest.mark.parametrize("as_json", [True, False])
def test_redrive_prints_what_was_done_before_an_error(
    live: Any, buried: Any, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    buried(2)
    real = dead_letter_calls._redrive
    calls: list[Any] = []

    def one_then_none(body: Any) -> Any:
        calls.append(body)
        if len(calls) == 2:
            raise ApiError(503, "Try again")
        return real({**body, "limit": 1})

    monkeypatch.setattr(dead_letter_calls, "_redrive", one_then_none)
    result = live("dlq", "redrive", "--all", "--yes", *(["--json"] if as_json else []))
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr == "Try again\n"
    if as_json:
        assert json.loads(result.stdout)["redriven"] == 1
    else:
        assert result.stdout == "Redriven 1 task.\n"

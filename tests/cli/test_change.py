"""`duetime change` and `duetime run`."""

import json
from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode


@pytest.fixture
def later(live: Any) -> str:
    """The id of a task that is due in a day."""
    words = ("submit", "--handler", "echo", "--in", "1d", "--payload", "1", "--tag", "a=b")
    return str(json.loads(live(*words, "--json").stdout)["id"])


def shown(live: Any, task_id: str) -> Any:
    return json.loads(live("show", task_id, "--json").stdout)


def test_change_prints_when_the_task_is_due(live: Any, later: str) -> None:
    result = live("change", later, "--in", "48h", "--priority", "high")
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.startswith(f"{later} is PENDING, due ")
    assert "(in " in result.stdout
    assert shown(live, later)["priority"] == "high"


def test_change_sends_what_was_given_and_nothing_else(live: Any, later: str) -> None:
    before = shown(live, later)
    words = ("--payload", '{"n": 2}', "--timeout", "2m", "--max-attempts", "9", "--tag", "team=x")
    [task] = json.loads(live("change", later, *words, "--json").stdout)["items"]
    assert task == {
        **{name: value for name, value in before.items() if name != "attempts"},
        "payload": {"n": 2},
        "timeout": 120.0,
        "retry": {**before["retry"], "max_attempts": 9},
        "tags": {"team": "x"},
        "updated_at": task["updated_at"],
    }


def test_payload_may_be_null_and_fields_can_be_reset(live: Any, later: str) -> None:
    live("change", later, "--expires-at", "2099-01-01T00:00:00Z", "--base-delay", "9")
    live("change", later, "--payload", "null")
    assert shown(live, later)["payload"] is None
    words = ("--unset", "tags", "--unset", "expires_at", "--unset", "retry")
    assert live("change", later, *words).exit_code == ExitCode.OK
    task = shown(live, later)
    assert (task["tags"], task["expires_at"], task["retry"]["base_delay"]) == ({}, None, 1.0)


def test_change_continues_after_a_refusal(live: Any, system: Any, later: str) -> None:
    done = json.loads(live("submit", "--handler", "echo", "--json").stdout)["id"]
    system.run_due()
    result = live("change", done, "01NOPE", later, "--in", "1h")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout.startswith(f"{later} is PENDING, due ")
    first, second = result.stderr.splitlines()
    assert first.startswith(f"The task cannot be changed: Task {done} is SUCCEEDED. ")
    assert second == "Not found: There is no task 01NOPE."


def test_refused_change_names_the_field(live: Any, later: str) -> None:
    result = live("change", later, "--max-attempts", "101")
    assert result.exit_code == ExitCode.NOT_DONE
    assert "retry.max_attempts: must be at most 100" in result.stderr


def test_run_makes_tasks_due_at_once(live: Any, system: Any, later: str) -> None:
    result = live("run", later)
    assert (result.exit_code, result.stdout) == (
        ExitCode.OK,
        f"{later} is ENQUEUED and due at once\n",
    )
    system.run_due()
    assert shown(live, later)["status"] == "SUCCEEDED"


def test_run_continues_after_a_refusal(live: Any, later: str) -> None:
    live("cancel", later)
    other = json.loads(live("submit", "--handler", "echo", "--in", "1h", "--json").stdout)["id"]
    result = live("run", later, other)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout == f"{other} is ENQUEUED and due at once\n"
    assert "The task cannot be run now: " in result.stderr
    as_json = json.loads(live("run", other, "--json").stdout)
    assert [task["id"] for task in as_json["items"]] == [other]

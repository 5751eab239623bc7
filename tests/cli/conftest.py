from typing import Any

import pytest
from typer.testing import CliRunner, Result

from duetime.cli import app

TASK: dict[str, Any] = {
    "id": "01KA5V8Y3M0000000000000001",
    "status": "ENQUEUED",
    "name": None,
    "namespace": "default",
    "target": {"type": "python", "handler": "reports.daily"},
    "payload": None,
    "run_at": "2026-11-16T08:00:10.000Z",
    "due_at": "2026-11-16T08:00:10.000Z",
    "priority": "medium",
    "timeout": 60.0,
    "retry": {
        "max_attempts": 5,
        "base_delay": 1.0,
        "multiplier": 2.0,
        "max_delay": 3600.0,
        "jitter": 0.5,
    },
    "jitter": 0.0,
    "expires_at": None,
    "ordering_key": None,
    "idempotency_key": None,
    "tags": {},
    "attempt": 0,
    "created_at": "2026-11-16T08:00:00.000Z",
    "updated_at": "2026-11-16T08:00:00.000Z",
    "started_at": None,
    "finished_at": None,
    "drift_ms": None,
    "progress": None,
    "result": None,
    "error": None,
    "cancel_requested": False,
    "schedule_id": None,
    "scheduled_for": None,
    "workflow_id": None,
}


@pytest.fixture
def a_task() -> Any:
    """Makes a task as the API returns it."""
    return lambda **changes: {**TASK, **changes}


class Shell:
    """Runs `duetime …` and tells how it ended."""

    def __init__(self, env: dict[str, str]) -> None:
        self._runner = CliRunner(env=env)

    def __call__(self, *words: str, stdin: str | None = None) -> Result:
        result = self._runner.invoke(app, words, input=stdin, prog_name="duetime")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result


@pytest.fixture
def make_shell() -> Any:
    return lambda url: Shell({"DUETIME_URL": url, "TERM": "dumb", "COLUMNS": "200"})


@pytest.fixture
def duetime(make_shell: Any) -> Shell:
    """A command line with nobody at the other end: nothing listens on port 1."""
    return make_shell("http://127.0.0.1:1")

"""The context, as a handler author sees it."""

import subprocess
import sys

import pytest

from duetime.core.times import seconds, to_datetime
from duetime.handlers.context import Context
from tests.factories import a_running_task, a_task

PUBLIC_NAMES = {
    *("task_id", "attempt", "idempotency_key", "fencing_token", "deadline", "cancelled", "reason"),
    *("schedule_id", "schedule_name", "scheduled_for", "previous", "heartbeat", "progress"),
    *("submit", "results", "traceparent"),
}


def test_context_shows_only_what_is_a_handlers():
    context = Context(a_running_task())

    assert {name for name in dir(context) if not name.startswith("_")} == PUBLIC_NAMES


def test_context_works_without_an_executor():
    task = a_running_task()
    assert task.current is not None
    context = Context(task)
    context.progress(0.5, "half")

    assert context.heartbeat() is True
    assert context.previous is None
    with pytest.raises(RuntimeError, match="no executor"):
        list(context.results("pack"))
    ends_at = task.current.started_at + seconds(task.spec.timeout)
    assert context.deadline == to_datetime(ends_at)


def test_context_of_a_task_that_does_not_run_is_refused():
    with pytest.raises(ValueError, match="is not running"):
        Context(a_task())


def test_context_loads_nothing_of_the_executor():
    code = "import sys, duetime.handlers.context; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert not [name for name in loaded.decode().split() if name.startswith("duetime.executor")]

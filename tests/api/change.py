"""PATCH on a stored task, for the tests of changes."""

from dataclasses import replace
from typing import Any

from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.core.times import HOUR
from duetime.core.wakes import WakeKind
from tests.api.service import Service
from tests.factories import NOW, WAKE_POLICY, a_running_task, a_spec

LONG = "x" * 5_000


def put(service: Service, task: Task) -> str:
    service.store.put([task])
    service.store.writes.clear()
    return f"/v1/tasks/{task.id}"


def patch(service: Service, path: str, body: Any, **options: Any) -> Any:
    return service.call("PATCH", path, body, **options)


def stored(service: Service) -> Task:
    [task] = service.stored()
    return task


def a_retrying_task(**fields: Any) -> Task:
    """A task with one failed attempt, which is retried in an hour."""
    running = a_running_task(spec=a_spec(run_at=NOW))
    wake = WAKE_POLICY.wake(WakeKind.DISPATCH, running.id, running.lane, NOW + HOUR, now=NOW)
    task = replace(running, status=Status.RETRYING, due_at=NOW + HOUR, wake=wake, lease_until=None)
    return replace(task, **fields)

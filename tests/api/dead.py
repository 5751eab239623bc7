"""Dead tasks for tests."""

from collections.abc import Sequence
from typing import Any

from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import SECOND, Millis
from tests.api.service import Service
from tests.factories import NOW, a_spec, a_task

TRACEBACK = 'Traceback (most recent call last):\n  File "reports.py", line 7, in daily\n'


def a_dead_task(
    died_at: Millis = NOW,
    *,
    error_type: str = "ValueError",
    attempt: int = 5,
    id: str | None = None,
    **spec: Any,
) -> Task:
    error = TaskError(type=error_type, message="no such day", traceback=TRACEBACK)
    last = Attempt(
        number=attempt,
        started_at=died_at - SECOND,
        drift_ms=3,
        finished_at=died_at,
        outcome=Outcome.FAILED,
        error=error,
    )
    return a_task(
        id=id,
        spec=a_spec(**spec),
        status=Status.DEAD,
        wake=None,
        updated_at=died_at,
        attempt=attempt,
        budget=attempt,
        current=last,
    )


def bury(service: Service, *tasks: Task) -> list[str]:
    """Stored as they are; their ids."""
    service.store.put(tasks)
    service.store.writes.clear()
    return [task.id for task in tasks]


def statuses(service: Service, ids: Sequence[str]) -> list[str]:
    found = service.store.get(ids)
    return [found[task_id].status.value for task_id in ids]

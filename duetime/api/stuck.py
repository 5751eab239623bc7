"""/v1/stuck: tasks that are past their time, and why."""

from collections.abc import Mapping
from typing import Any

from duetime.api.http import Request, Response, Router, recent
from duetime.api.query import Query
from duetime.core.masking import masked
from duetime.core.ports import CursorStore, Ports
from duetime.core.target_names import target_name
from duetime.core.task import Task
from duetime.core.task_json import waiting_for_json
from duetime.core.times import rfc3339
from duetime.core.value import value
from duetime.core.workers import WorkerStore, wait_for_worker
from duetime.engine.stuck import StuckFinder, StuckTask


@value(frozen=True, slots=True)
class StuckTasks:
    ports: Ports
    cursors: CursorStore | None
    workers: WorkerStore | None = None

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/stuck", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        limit, namespace = query.limit(), query.word("namespace")
        query.done()
        found = StuckFinder(self.ports, self.cursors, self.workers).find(namespace)
        body = {
            "items": [_json(one) for one in found.tasks[:limit]],
            "complete": found.complete and len(found.tasks) <= limit,
            "looked_until": rfc3339(found.looked_until),
        }
        return recent(body)


def _json(found: StuckTask) -> dict[str, Any]:
    task = found.task
    shown = _fields(task) if task else dict.fromkeys(("namespace", "name", "target", "status"))
    waits = waiting_for_json(task) if task else None
    if task is not None and found.lacks_worker:
        waits = wait_for_worker(task)
    return {
        "id": found.id,
        **shown,
        "lane": found.lane,
        "due_at": rfc3339(task.due_at) if task else None,
        "since": rfc3339(found.stuck.since),
        "why": found.stuck.why.value,
        **({"waiting_for": waits} if waits else {}),
    }


def _fields(task: Task) -> dict[str, Any]:
    return {
        "namespace": task.spec.namespace,
        "name": task.spec.name,
        "target": target_name(masked(task.spec.target)),
        "status": task.status.value,
    }

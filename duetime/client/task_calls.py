"""Calls about one task, and lists of tasks."""

from typing import Any

from duetime.client.calls import Call, ask, items
from duetime.client.errors import ApiError
from duetime.client.filters import filter_query
from duetime.client.requests import task_path
from duetime.client.types import (
    ChangeFields,
    Fields,
    Json,
    LanePage,
    LaneState,
    Order,
    Task,
    TaskFilter,
    TaskPage,
)

TASKS = "/v1/tasks"


def get(task_id: str) -> Call[Task]:
    return ask("GET", task_path(task_id))


def cancel(task_id: str) -> Call[Task]:
    return ask("DELETE", task_path(task_id))


def change(task_id: str, fields: ChangeFields) -> Call[Task]:
    return ask("PATCH", task_path(task_id), body=fields)


def act(task_id: str, verb: str) -> Call[Task]:
    """`verb` is run or retry."""
    return ask("POST", f"{task_path(task_id)}/{verb}")


def attempts(task_id: str) -> Call[None]:
    return items(f"{task_path(task_id)}/attempts")


def text(task_id: str, name: str) -> Call[Any]:
    """`name` is payload or result."""
    return ask("GET", f"{task_path(task_id)}/{name}")


def page(
    which: TaskFilter,
    *,
    order: Order | None,
    fields: Fields | None,
    limit: int | None,
    cursor: str | None,
) -> Call[TaskPage]:
    at = {"order": order, "fields": fields, "limit": limit, "cursor": cursor}
    return ask("GET", TASKS, query={**filter_query(which), **at})


def every(which: TaskFilter, *, order: Order | None, fields: Fields | None) -> Call[None]:
    return items(TASKS, {**filter_query(which), "order": order, "fields": fields})


def lanes() -> Call[list[LaneState]]:
    found: LanePage = yield from ask("GET", "/v1/lanes")
    return found["items"]


def health() -> Call[Json]:
    try:
        found: Json = yield from ask("GET", "/v1/health")
    except ApiError as error:
        if "checks" not in error.problem:
            raise
        return {**error.problem, "status": "unhealthy"}
    return found

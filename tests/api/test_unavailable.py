"""A store that cannot be read is a 503 with a reason, on every route."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import PYTHON, Service
from tests.factories import SteppedClock, a_schedule, a_task

TASK, SCHEDULE = a_task(), a_schedule()

ROUTES = [
    ("GET", "/v1/tasks", None),
    ("GET", f"/v1/tasks/{TASK.id}", None),
    ("GET", f"/v1/tasks/{TASK.id}/attempts", None),
    ("DELETE", f"/v1/tasks/{TASK.id}", None),
    ("POST", f"/v1/tasks/{TASK.id}/retry", {}),
    ("GET", "/v1/dead-letters", None),
    ("POST", "/v1/dead-letters/redrive", {"all": True}),
    ("GET", "/v1/schedules", None),
    ("GET", f"/v1/schedules/{SCHEDULE.id}", None),
    ("GET", f"/v1/schedules/{SCHEDULE.id}/upcoming", None),
    ("GET", f"/v1/schedules/{SCHEDULE.id}/ledger", None),
    ("POST", f"/v1/schedules/{SCHEDULE.id}/pause", {}),
    ("POST", f"/v1/schedules/{SCHEDULE.id}/trigger", {}),
    ("DELETE", f"/v1/schedules/{SCHEDULE.id}", None),
    ("POST", "/v1/tasks", {"target": PYTHON}),
    ("POST", "/v1/tasks", {"target": PYTHON, "idempotency_key": "order-1"}),
]


class BrokenConnection:
    """Every statement fails, as on a disk that does not answer."""

    in_transaction = False

    def execute(self, sql: str, *values: object) -> object:
        raise sqlite3.OperationalError("disk I/O error")

    def close(self) -> None:
        pass


@contextmanager
def a_broken_disk(store: SqliteTaskStore) -> Iterator[None]:
    database = store._database
    kept = database._writer
    database._writer = BrokenConnection()  # type: ignore[assignment]
    try:
        yield
    finally:
        database._writer = kept


@pytest.mark.parametrize(("method", "path", "body"), ROUTES, ids=lambda part: str(part)[:40])
def test_store_that_does_not_answer_is_a_503_with_the_reason(
    method: str, path: str, body: object, caplog: pytest.LogCaptureFixture
):
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        store.put([TASK])
        service.schedules.put([SCHEDULE])

        with a_broken_disk(store), caplog.at_level(logging.ERROR):
            response = service.call(method, path, b"" if body is None else body)

    assert (response.status, response.headers["retry-after"]) == (503, "1"), response.body
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["type"] == "urn:duetime:problem:unavailable"
    assert "disk I/O error" in response.body["detail"]
    assert [record for record in caplog.records if record.exc_info] == []


def test_problem_of_a_read_does_not_mention_a_write():
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        with a_broken_disk(store):
            read, written = service.get("/v1/tasks"), service.submit()

    assert "may or may not" in written.body["detail"]
    assert "may or may not" not in read.body["detail"]

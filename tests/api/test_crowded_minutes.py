"""A submission into a minute in which many tasks are due gets a hint to use jitter."""

from collections.abc import Iterator
from typing import Any

import pytest

from duetime.api import crowded_minutes
from duetime.core.errors import Unavailable
from duetime.core.times import MINUTE
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import PYTHON, Service
from tests.backends import dynamo_stores
from tests.factories import SteppedClock, a_spec, a_task

MARK = 20
HINT = {
    "field": "jitter",
    "message": "about 20 tasks or more are due in the minute of 2026-11-16T10:00:00.000Z;"
    " jitter spreads them",
}


@pytest.fixture(params=["sqlite", "moto"])
def crowded(request: pytest.FixtureRequest) -> Iterator[Service]:
    if request.param == "sqlite":
        store = SqliteTaskStore(None)
        yield Service(store, SteppedClock(), crowded_minute=MARK)
        store.close()
        return
    with dynamo_stores(request.getfixturevalue("moto_dynamodb")) as stores:
        yield Service(stores.tasks, stores.clock, stores.schedules, crowded_minute=MARK)


def reads(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Returns the reads of the wake index from now on."""
    found: list[Any] = []
    wakes = service.store.wakes

    def read(*bucket: Any) -> Any:
        found.append(bucket)
        return wakes(*bucket)

    monkeypatch.setattr(service.store, "wakes", read, raising=False)
    return found


def submit(service: Service, **fields: Any) -> Any:
    response = service.submit(**({"delay": 3_600} | fields))
    assert response.status == 201
    return response.body.get("hints")


def test_submission_into_a_crowded_minute_gets_a_hint(crowded: Service):
    hints = [submit(crowded, delay=3_600 + n) for n in range(MARK + 1)]
    assert hints[: MARK // 2 - 1] == [None] * (MARK // 2 - 1)
    assert hints[MARK - 1 :] == [[HINT]] * 2
    assert submit(crowded, delay=3_660) is None


def test_tasks_that_other_processes_have_stored_are_counted(
    crowded: Service, monkeypatch: pytest.MonkeyPatch
):
    crowded.store.put([a_task(spec=a_spec()) for _ in range(4 * MARK)])
    asked = reads(crowded, monkeypatch)
    hints = [submit(crowded) for _ in range(crowded_minutes.UNCHECKED + 5)]
    assert hints == [None] * (crowded_minutes.UNCHECKED - 1) + [[HINT]] * 6
    assert len(asked) == 1


def test_quiet_minute_is_read_at_most_once_a_minute(
    crowded: Service, monkeypatch: pytest.MonkeyPatch
):
    # The shards of the tasks are drawn, and one with half of them makes the minute look crowded.
    monkeypatch.setattr(crowded_minutes, "CROWDED_FOR", crowded_minutes.CHECKED_FOR)
    asked = reads(crowded, monkeypatch)
    for _ in range(crowded_minutes.UNCHECKED + 3):
        submit(crowded, run_at="2026-11-16T12:00:00Z", delay=None)
    assert len(asked) == 1
    crowded.clock.advance(MINUTE)
    submit(crowded, run_at="2026-11-16T12:00:00Z", delay=None)
    assert len(asked) == 2


def test_task_with_jitter_gets_no_hint(crowded: Service):
    for _ in range(MARK):
        submit(crowded)
    assert submit(crowded, jitter=1) is None
    assert submit(crowded) == [HINT]


def test_task_that_is_due_within_the_horizon_gets_no_hint(
    crowded: Service, monkeypatch: pytest.MonkeyPatch
):
    asked = reads(crowded, monkeypatch)
    assert [submit(crowded, delay=30) for _ in range(MARK + 5)] == [None] * (MARK + 5)
    assert asked == []


def test_repeated_submission_gets_no_hint(crowded: Service):
    for _ in range(MARK):
        submit(crowded)
    assert crowded.submit(key="k", delay=3_600).body["hints"] == [HINT]
    again = crowded.submit(key="k", delay=3_600)
    assert (again.status, "hints" in again.body) == (200, False)


def test_tasks_of_a_batch_get_their_own_hints(crowded: Service):
    tasks = [{"target": PYTHON, "delay": 3_600} for _ in range(MARK)]
    results = crowded.batch(*tasks, {"target": PYTHON}).body["results"]
    assert [result["task"].get("hints") for result in results[-2:]] == [[HINT], None]
    assert results[0]["task"].get("hints") is None


def test_hint_that_cannot_be_made_does_not_fail_the_submission(
    crowded: Service, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any) -> None:
        raise Unavailable("DynamoDB timed out")

    monkeypatch.setattr(crowded.store, "wakes", fail, raising=False)
    assert [submit(crowded) for _ in range(MARK)][-1] == [HINT]


def test_no_hints_with_a_mark_of_zero(monkeypatch: pytest.MonkeyPatch):
    store = SqliteTaskStore(None)
    service = Service(store, SteppedClock(), crowded_minute=0)
    asked = reads(service, monkeypatch)
    assert {str(submit(service)) for _ in range(50)} == {"None"}
    assert asked == []
    store.close()


def test_minutes_that_are_remembered_are_bounded(crowded: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crowded_minutes, "MAX_REMEMBERED", 3)
    for minute in range(10):
        submit(crowded, delay=3_600 + 60 * minute)
    assert len(crowded.api._tasks.crowded._minutes) <= 3

"""The longest timeout depends on the executors."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import PYTHON, Service, refusal
from tests.factories import SteppedClock

DAYS_7 = 604_800


@pytest.fixture
def stage() -> Iterator[Service]:
    """An API before executors that have a quarter of an hour."""
    with closing(SqliteTaskStore(None)) as store:
        yield Service(store, SteppedClock(), longest_timeout=840)


def test_task_of_seven_days_is_accepted_where_executors_support_it(service: Service):
    assert service.submit(timeout=DAYS_7).body["timeout"] == DAYS_7
    task = {"target": PYTHON, "timeout": DAYS_7}
    assert service.schedule(task=task).body["task"]["timeout"] == DAYS_7


def test_refused_timeout_names_the_maximum_of_the_stage(stage: Service):
    assert stage.submit(timeout=840).status == 201
    refused = {"timeout": "must be at most 840 seconds here"}
    assert refusal(stage.submit(timeout=840.001)) == refused
    [result] = stage.batch({"target": PYTHON, "timeout": DAYS_7}).body["results"]
    assert result["error"]["errors"] == [{"field": "timeout", "message": refused["timeout"]}]


def test_schedule_is_refused_over_the_maximum_timeout_of_the_stage(stage: Service):
    made = stage.schedule(task={"target": PYTHON, "timeout": 840})
    assert made.status == 201
    task = {"target": PYTHON, "timeout": 841}
    refused = {"task.timeout": "must be at most 840 seconds here"}
    assert refusal(stage.schedule(task=task)) == refused
    body = {"rule": {"type": "cron", "expression": "0 12 * * *"}, "task": task}
    changed = stage.call("PUT", f"/v1/schedules/{made.body['id']}", body)
    assert refusal(changed) == refused

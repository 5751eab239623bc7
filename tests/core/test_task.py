from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lifecycle import FINISHED, Outcome, Status
from duetime.core.task import Attempt, Spec, TaskError, storable
from tests.factories import NOW, a_running_task, a_spec, a_task
from tests.strategies import ALIVE, moments, tasks, texts

BROKEN = TaskError(type="HTTPError", message="503")
FAILED = Attempt(
    number=1, started_at=NOW, drift_ms=0, finished_at=NOW + 1, outcome=Outcome.FAILED, error=BROKEN
)
RUNNING = Attempt(number=2, started_at=NOW + 2, drift_ms=0)


def test_defaults_of_a_spec_are_those_of_the_contract():
    spec = Spec(target={"type": "http"}, run_at=NOW)

    assert (spec.payload, spec.expires_at, spec.name) == (None, None, None)
    assert (spec.ordering_key, spec.idempotency_key) == (None, None)
    assert (spec.priority, spec.timeout, spec.jitter) == ("medium", 60, 0)
    assert (spec.namespace, spec.tags) == ("default", {})
    assert spec.retry.max_attempts == 5


def test_new_task_has_no_resends_and_no_skips():
    task = a_task()

    assert (task.resends, task.skips, task.cancel_requested) == (0, 0, False)


@given(tasks(*FINISHED))
def test_a_finished_task_ended_with_its_last_update(task):
    assert task.finished_at == task.updated_at


@given(tasks(*ALIVE))
def test_an_unfinished_task_has_no_end(task):
    assert task.finished_at is None


@given(tasks())
def test_a_task_goes_to_the_lane_of_its_priority(task):
    assert task.lane is task.spec.priority


@pytest.mark.parametrize(("now", "expired"), [(NOW - 1, False), (NOW, True), (NOW + 1, True)])
def test_a_task_expires_at_its_time_and_not_before(now, expired):
    assert a_task(spec=a_spec(expires_at=NOW)).expired(now) is expired


@given(moments)
def test_task_without_expires_at_never_expires(now):
    assert not a_task(spec=a_spec(expires_at=None)).expired(now)


@given(tasks(Status.RUNNING, Status.RETRYING), moments)
def test_task_that_has_started_does_not_expire(task, now):
    assert not task.expired(now)


@pytest.mark.parametrize(
    ("current", "previous", "failure"),
    [
        (None, None, None),
        (FAILED, None, FAILED),
        (RUNNING, FAILED, FAILED),  # while the next attempt runs, the last error is kept
        (replace(FAILED, number=2), FAILED, replace(FAILED, number=2)),
    ],
)
def test_the_last_failure_is_the_newest_with_an_error(current, previous, failure):
    task = a_task(status=Status.RUNNING, current=current, previous=previous)

    assert task.last_failure == failure


def test_a_task_that_succeeded_has_no_failure():
    task = a_task(status=Status.SUCCEEDED, current=RUNNING, previous=FAILED)

    assert task.last_failure is None


@given(st.text(st.characters()), st.integers(0, 20))
def test_any_text_of_a_handler_becomes_storable(text, limit):
    kept = storable(text, limit)

    assert kept.encode().decode() == kept
    assert len(kept) == min(len(text), limit)


@given(texts)
def test_storable_text_is_not_changed(text):
    assert storable(text, 1000) == text[:1000]


def test_lone_surrogate_is_replaced():
    assert storable("a\ud800b", 10) == "a?b"


def test_sends_counts_resends_before_the_lease():
    task = a_task(sends=2)

    assert (task.resends, task.message_written_at) == (2, None)


@pytest.mark.parametrize("status", [Status.RUNNING, Status.SUCCEEDED, Status.DEAD])
def test_sends_is_the_time_of_the_message_after_the_lease(status):
    task = replace(a_running_task(), status=status, sends=NOW)

    assert (task.resends, task.message_written_at) == (0, NOW)


def test_sends_counts_resends_again_in_a_retry():
    task = replace(a_running_task(), status=Status.RETRYING, sends=1)

    assert (task.resends, task.message_written_at) == (1, None)


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.EXPIRED])
def test_task_that_ended_before_its_first_lease_has_no_message_time(status):
    assert a_task(status=status, sends=1).message_written_at is None

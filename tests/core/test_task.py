from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lifecycle import FINISHED, Outcome, Status
from lambdas.core.task import Attempt, Spec, TaskError, storable
from tests.factories import NOW, a_spec, a_task
from tests.strategies import ALIVE, moments, tasks, texts

BROKEN = TaskError(type="HTTPError", message="503")
FAILED = Attempt(
    number=1, started_at=NOW, drift_ms=0, finished_at=NOW + 1, outcome=Outcome.FAILED, error=BROKEN
)
GOING_ON = Attempt(number=2, started_at=NOW + 2, drift_ms=0)


def test_the_defaults_of_the_contract():
    spec = Spec(target={"type": "http"}, run_at=NOW)

    assert (spec.payload, spec.expires_at, spec.name) == (None, None, None)
    assert (spec.ordering_key, spec.idempotency_key) == (None, None)
    assert (spec.priority, spec.timeout, spec.jitter) == ("medium", 60, 0)
    assert (spec.namespace, spec.tags) == ("default", {})
    assert spec.retry.max_attempts == 5


def test_a_new_task_was_never_sent_again_nor_held_back():
    task = a_task()

    assert (task.sends, task.skips, task.cancel_requested) == (0, 0, False)


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
def test_a_task_without_an_end_of_its_time_never_expires(now):
    assert not a_task(spec=a_spec(expires_at=None)).expired(now)


@given(tasks(Status.RUNNING, Status.RETRYING), moments)
def test_a_task_that_has_started_expires_no_more(task, now):
    assert not task.expired(now)


@pytest.mark.parametrize(
    ("current", "previous", "failure"),
    [
        (None, None, None),
        (FAILED, None, FAILED),
        (GOING_ON, FAILED, FAILED),  # while the next attempt runs, the last error still stands
        (replace(FAILED, number=2), FAILED, replace(FAILED, number=2)),
    ],
)
def test_the_last_failure_is_the_newest_with_an_error(current, previous, failure):
    task = a_task(status=Status.RUNNING, current=current, previous=previous)

    assert task.last_failure == failure


def test_a_task_that_succeeded_has_no_failure():
    task = a_task(status=Status.SUCCEEDED, current=GOING_ON, previous=FAILED)

    assert task.last_failure is None


@given(st.text(st.characters()), st.integers(0, 20))
def test_whatever_a_handler_says_can_be_stored(text, limit):
    kept = storable(text, limit)

    assert kept.encode().decode() == kept
    assert len(kept) == min(len(text), limit)


@given(texts)
def test_what_can_be_stored_is_kept_as_it_is(text):
    assert storable(text, 1000) == text[:1000]


def test_half_a_character_is_replaced():
    assert storable("a\ud800b", 10) == "a?b"

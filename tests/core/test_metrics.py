"""What is counted of a status change: each change once, whatever the sink."""

from dataclasses import replace

import pytest
from hypothesis import given

from duetime.core.events import StatusChange, status_change
from duetime.core.lifecycle import Outcome, Status
from duetime.core.metrics import AHEAD, ChangeMetrics, Path, metrics_of
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.task import Task
from duetime.core.times import HOUR, SECOND
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task
from tests.strategies import tasks


def change(before: Task | None, after: Task) -> StatusChange:
    found = status_change(before, after)
    assert found is not None
    return found


def counted(before: Task | None, after: Task) -> ChangeMetrics:
    found = metrics_of(change(before, after))
    assert found is not None
    return found


def running(**fields: object) -> Task:
    return a_running_task(spec=a_spec(run_at=NOW + HOUR), **fields)


def ended(task: Task) -> Task:
    return succeed(task, result=None, now=task.due_at + 70).applied_to(task)


def failed(task: Task, outcome: Outcome) -> Task:
    failure = Failure(outcome=outcome, error=None)
    return fail(WAKE_POLICY, task, failure, now=task.due_at, draw=a_draw()).applied_to(task)


def test_new_task_is_counted_by_its_path():
    assert counted(None, a_sent_task()).submitted is Path.FAST
    assert counted(None, a_task(spec=a_spec(run_at=NOW + HOUR))).submitted is Path.SCANNED


def test_new_task_that_starts_with_its_submission_is_counted_as_sent_at_once():
    found = counted(None, running())

    assert found.submitted is Path.FAST
    assert (found.outcome, found.end) == (None, None)


def test_start_of_an_attempt_counts_nothing():
    task = running()
    assert metrics_of(change(replace(task, status=Status.ENQUEUED), task)) is None


def test_end_of_an_attempt_has_its_outcome_drift_duration_and_status():
    task = running()
    task = replace(task, current=replace(task.current, drift_ms=7))
    found = counted(task, ended(task))

    assert (found.outcome, found.end) == (Outcome.SUCCEEDED, Status.SUCCEEDED)
    assert (found.drift_ms, found.duration_ms) == (7, 70)
    assert (found.lane, found.at) == (task.lane, task.due_at + 70)
    assert not found.retried


@pytest.mark.parametrize("uncounted", [Outcome.SNOOZED, Outcome.INTERRUPTED])
def test_failed_attempt_is_retried_and_an_uncounted_one_is_not(uncounted):
    task = running()
    retried, snoozed = failed(task, Outcome.FAILED), failed(task, uncounted)
    assert retried.status is snoozed.status is Status.RETRYING

    assert (counted(task, retried).retried, counted(task, retried).end) == (True, None)
    assert not counted(task, snoozed).retried
    assert counted(task, snoozed).outcome is uncounted


def test_end_without_an_attempt_is_an_end_only():
    task = a_sent_task()
    found = counted(task, replace(task, status=Status.CANCELLED))

    assert found == ChangeMetrics(lane=task.lane, at=found.at, end=Status.CANCELLED)


@pytest.mark.parametrize(
    ("ahead", "attempt", "known"),
    [(AHEAD, 1, True), (AHEAD - 1, 1, False), (-SECOND, 1, False), (HOUR, 2, False)],
)
def test_only_first_attempts_of_tasks_known_5_s_ahead_count_for_the_objective(
    ahead: int, attempt: int, known: bool
):
    task = running()
    current = replace(task.current, number=attempt, drift_ms=40, started_at=task.due_at + 40)
    task = replace(task, current=current, attempt=attempt, created_at=task.due_at - ahead)

    assert counted(task, ended(task)).known_ahead is known


@given(tasks(), tasks())
def test_every_finished_status_is_counted_as_one_end(before: Task, after: Task):
    found = status_change(before, after)
    metrics = metrics_of(found) if found else None

    if found and after.status.finished:
        assert metrics is not None
        assert metrics.end is after.status
    else:
        assert metrics is None or metrics.end is None
    if metrics and metrics.outcome:
        assert before.status is Status.RUNNING

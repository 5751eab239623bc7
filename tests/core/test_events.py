from dataclasses import replace

from hypothesis import given

from lambdas.core.events import status_change
from tests.strategies import tasks


@given(tasks())
def test_a_new_task_is_news(task):
    event = status_change(None, task)

    assert event.before is None
    assert event.after is task.status


@given(tasks(), tasks())
def test_only_another_status_is_news(before, after):
    event = status_change(before, after)

    assert (event is None) == (before.status is after.status)


@given(tasks())
def test_a_touch_that_leaves_the_status_is_no_news(task):
    assert status_change(task, replace(task, updated_at=task.updated_at + 1)) is None


@given(tasks(), tasks())
def test_an_event_tells_of_the_task_as_it_stands_now(before, after):
    event = status_change(before, after)

    if event is not None:
        assert (event.task_id, event.namespace, event.name) == (
            after.id,
            after.spec.namespace,
            after.spec.name,
        )
        assert (event.before, event.after) == (before.status, after.status)
        assert (event.attempt, event.at) == (after.attempt, after.updated_at)
        assert event.lane is after.spec.priority
        assert event.outcome == (after.current and after.current.outcome)
        assert event.error == (after.current and after.current.error)
        assert event.drift_ms == (after.current and after.current.drift_ms)
        assert (event.result, event.reason) == (after.result, after.reason)
        assert event.max_attempts == after.budget


@given(tasks())
def test_an_event_tells_how_long_the_last_attempt_took_once_it_has_ended(task):
    event = status_change(None, task)

    if task.current is None or task.current.finished_at is None:
        assert event.took_ms is None
    else:
        assert event.took_ms == task.current.finished_at - task.current.started_at

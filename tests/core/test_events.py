from dataclasses import fields, replace

from hypothesis import given

from duetime.core.events import StatusChange, StoredChange, status_change
from tests.strategies import occurrences, tasks


@given(tasks())
def test_new_task_is_a_status_change(task):
    event = status_change(None, task)

    assert event.before is None
    assert event.after is task.status


@given(tasks(), tasks())
def test_only_another_status_is_a_status_change(before, after):
    event = status_change(before, after)

    assert (event is None) == (before.status is after.status)


@given(tasks(), tasks())
def test_stored_change_has_every_field_of_a_status_change(before, after):
    event = status_change(before, after)

    if event is not None:
        stored = StoredChange(before, after)
        names = [field.name for field in fields(StatusChange)]
        assert {n: getattr(stored, n) for n in names} == {n: getattr(event, n) for n in names}


@given(tasks())
def test_update_without_another_status_is_no_status_change(task):
    assert status_change(task, replace(task, updated_at=task.updated_at + 1)) is None


@given(tasks(), tasks())
def test_status_change_has_the_current_values_of_the_task(before, after):
    event = status_change(before, after)

    if event is not None:
        assert (event.task_id, event.namespace, event.name) == (
            after.id,
            after.spec.namespace,
            after.spec.name,
        )
        assert (event.before, event.after) == (before.status, after.status)
        assert (event.attempt, event.at) == (after.attempt, after.updated_at)
        assert event.due_at == after.due_at
        assert event.lane is after.spec.priority
        assert event.outcome == (after.current and after.current.outcome)
        assert event.error == (after.current and after.current.error)
        assert event.drift_ms == (after.current and after.current.drift_ms)
        assert (event.result, event.reason) == (after.result, after.reason)
        assert event.max_attempts == after.budget


@given(tasks())
def test_status_change_has_the_duration_of_the_last_attempt_once_it_has_ended(task):
    event = status_change(None, task)

    if task.current is None or task.current.finished_at is None:
        assert event.took_ms is None
    else:
        assert event.took_ms == task.current.finished_at - task.current.started_at


@given(tasks(), occurrences)
def test_status_change_names_the_schedule_of_every_occurrence(task, occurrence):
    """`schedule_id` is set only for those that have ended, and that other runs may wait for."""
    of_schedule = replace(task, spec=replace(task.spec, occurrence=occurrence))

    assert status_change(None, of_schedule).occurrence_of == occurrence.schedule_id
    assert status_change(None, task).occurrence_of is None

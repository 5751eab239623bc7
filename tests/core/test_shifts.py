from dataclasses import replace

from duetime.core.codec import encode_spec
from duetime.core.shifts import MARKS_KEPT, is_marked, mark_of, shifted
from duetime.core.steps.defer import defer
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE
from tests.factories import NOW, WAKE_POLICY, a_draw, a_spec, a_task


def moved(task: Task, key: str | None, by: int = HOUR) -> Task:
    wanted = shifted(task, by, None if key is None else mark_of(key))
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw()).applied_to(task)


def test_shift_moves_the_due_time_and_the_submitted_time_and_keeps_the_jitter():
    task = replace(a_task(), due_at=NOW + HOUR + MINUTE)

    after = moved(task, None, -HOUR)

    assert (after.due_at, after.spec.run_at) == (NOW + MINUTE, NOW)
    assert after.spec.shifts == ()


def test_task_is_marked_by_the_shifts_that_moved_it():
    after = moved(a_task(), "first")

    assert is_marked(after, mark_of("first"))
    assert not is_marked(after, mark_of("second"))
    assert not is_marked(after, None)


def test_only_the_latest_marks_are_kept():
    task = a_task()
    keys = [f"key-{number}" for number in range(MARKS_KEPT + 2)]
    for key in keys:
        task = moved(task, key)

    assert [key for key in keys if is_marked(task, mark_of(key))] == keys[-MARKS_KEPT:]


def test_marks_take_little_room_in_the_task():
    plain, marked = a_spec(), a_spec(shifts=tuple(mark_of(str(n)) for n in range(MARKS_KEPT)))

    assert len(encode_spec(marked)) - len(encode_spec(plain)) <= 75

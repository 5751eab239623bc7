from dataclasses import replace

from duetime.core.change import Applied, Refused
from duetime.core.lanes import Lane
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.ports import TaskStore
from duetime.core.retry import RetryPolicy
from duetime.core.task import Progress, TaskError
from duetime.core.times import HOUR
from duetime.core.unique import HeldWhile, OnConflict, Unique
from tests.factories import NOW, a_running_task, a_spec, a_task, an_id

LONG = "ä" * 100_000  # 200 KB of UTF-8


def a_full_spec():
    return a_spec(
        target={"type": "http", "url": "https://example.org/hook", "headers": {"X-A": "1"}},
        payload={"text": "Größe 🚀 \u0000 'quoted\"", "list": [1, 2.5, None, True, {}]},
        priority=Lane.LOW,
        timeout=12.5,
        retry=RetryPolicy(max_attempts=3, base_delay=0.1),
        jitter=1.5,
        expires_at=NOW + 2 * HOUR,
        name="täglich 📦",
        namespace="growth",
        ordering_key="customer:7",
        idempotency_key="order-7",
        tags={"team": "growth"},
        unique=Unique(key="report:7", held_while=HeldWhile.PENDING, on_conflict=OnConflict.REPLACE),
        occurrence=Occurrence(
            schedule_id=an_id(),
            scheduled_for=NOW,
            version=3,
            overlap=OverlapPolicy.QUEUE,
            has_follow_up=True,
            name="nächtlich",
        ),
    )


def test_a_task_is_stored_as_it_was_given(store: TaskStore):
    task = a_task()

    assert store.put([task]) == [Applied(task)]
    assert store.get([task.id]) == {task.id: task}


def test_every_field_is_kept(store: TaskStore):
    running = a_running_task(spec=a_full_spec())
    task = replace(
        running,
        previous=replace(running.current, error=TaskError(type="ValueError", message="no ✗")),
        cancel_requested=True,
        sends=2,
        skips=1,
        progress=Progress(fraction=0.25, message="a quarter"),
        result='{"rows":3}',
        reason="overlap",
        body_hash="0123456789abcdef",
        budget=7,
    )

    store.put([task])

    assert store.get([task.id]) == {task.id: task}


def test_a_long_payload_is_kept(store: TaskStore):
    task = a_task(spec=a_spec(payload=LONG))

    assert store.put([task]) == [Applied(task)]
    assert store.get([task.id])[task.id].spec.payload == LONG


def test_an_id_that_is_taken_stays_with_the_first(store: TaskStore):
    first = a_task()
    second = a_task(id=first.id, spec=a_spec(payload="other"))
    store.put([first])

    assert store.put([second]) == [Refused(first)]
    assert store.get([first.id]) == {first.id: first}


def test_a_loser_with_a_long_payload_changes_nothing(store: TaskStore):
    first = a_task(spec=a_spec(payload=LONG))
    second = a_task(id=first.id, spec=a_spec(payload=LONG + "!"))
    store.put([first])

    assert store.put([second]) == [Refused(first)]
    assert store.get([first.id]) == {first.id: first}


def test_a_repeated_put_is_applied(store: TaskStore):
    task = a_task()
    store.put([task])

    assert store.put([task]) == [Applied(task)]


def test_several_puts_are_answered_each_alone_and_in_order(store: TaskStore):
    taken = a_task()
    store.put([taken])
    fresh = [a_task() for _ in range(5)]
    intruder = a_task(id=taken.id)

    answers = store.put([*fresh[:2], intruder, *fresh[2:]])

    expected = [Applied(task) for task in fresh]
    expected.insert(2, Refused(taken))
    assert answers == expected


def test_of_two_tasks_with_one_id_in_a_batch_one_is_stored(store: TaskStore):
    one = a_task()
    two = a_task(id=one.id)

    answers = store.put([one, two])

    [winner] = store.get([one.id]).values()
    assert winner in (one, two)
    assert answers == [Applied(t) if t == winner else Refused(winner) for t in (one, two)]


def test_get_returns_what_exists(store: TaskStore):
    tasks = [a_task() for _ in range(3)]
    store.put(tasks)
    missing = an_id()

    found = store.get([tasks[0].id, missing, tasks[2].id, tasks[0].id])

    assert found == {tasks[0].id: tasks[0], tasks[2].id: tasks[2]}
    assert store.get([]) == {}


def test_get_takes_more_than_a_hundred(store: TaskStore):
    tasks = [a_task() for _ in range(105)]
    store.put(tasks)

    assert store.get([task.id for task in tasks]) == {task.id: task for task in tasks}

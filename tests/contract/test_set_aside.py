"""A wake is set aside without a read of its task; tests/flow has unreadable tasks."""

from dataclasses import replace

from duetime.core.change import Applied
from duetime.core.lifecycle import Status
from duetime.core.ports import TaskStore
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import claim, set_aside
from duetime.core.times import HOUR
from duetime.core.wakes import minute_of, shard_of
from tests.factories import NOW, WAKE_POLICY, a_draw, a_spec, a_task


def test_a_wake_is_moved_and_nothing_else(store: TaskStore):
    task = a_task(spec=a_spec(run_at=NOW + HOUR))
    store.put([task])
    change = set_aside(WAKE_POLICY, task.wake, now=NOW + HOUR)
    later = change.sets["wake"]

    store.set_aside(change)

    assert store.get([task.id]) == {task.id: replace(task, wake=later)}
    shard = shard_of(task.id, WAKE_POLICY.shards)
    assert list(store.wakes(minute_of(task.wake.at), shard)) == []
    assert list(store.wakes(minute_of(later.at), shard)) == [later]
    [answer] = store.apply([claim(WAKE_POLICY, later, now=NOW + 2 * HOUR, draw=a_draw())])
    assert isinstance(answer, Applied)


def test_a_wake_that_has_moved_stays_where_it_is(store: TaskStore):
    task = a_task()
    store.put([task])
    store.apply([claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())])
    claimed = store.get([task.id])

    store.set_aside(set_aside(WAKE_POLICY, task.wake, now=NOW))

    assert store.get([task.id]) == claimed


def test_a_finished_task_gets_no_wake_again(store: TaskStore):
    task = a_task()
    store.put([task])
    store.apply([cancel(task, now=NOW)])

    store.set_aside(set_aside(WAKE_POLICY, task.wake, now=NOW))

    assert store.get([task.id])[task.id].wake is None


def test_a_change_does_not_create_a_task(store: TaskStore):
    task = a_task()
    store.set_aside(set_aside(WAKE_POLICY, task.wake, now=NOW))

    assert store.get([task.id]) == {}


def test_a_wake_is_set_aside_in_any_status(store: TaskStore):
    task = a_task(status=Status.WAITING)
    store.put([task])
    change = set_aside(WAKE_POLICY, task.wake, now=NOW + HOUR)

    store.set_aside(change)

    assert store.get([task.id])[task.id].wake == change.sets["wake"]

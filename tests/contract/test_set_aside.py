"""A wake can be moved without its task being read; see tests/flow for tasks that cannot be."""

from dataclasses import replace

from lambdas.core.change import Applied
from lambdas.core.lifecycle import Status
from lambdas.core.ports import TaskStore
from lambdas.core.steps.cancel import cancel
from lambdas.core.steps.claim import claim, set_aside
from lambdas.core.times import HOUR
from lambdas.core.wakes import minute_of, shard_of
from tests.factories import NOW, RULES, a_draw, a_spec, a_task


def test_a_wake_is_moved_and_nothing_else(store: TaskStore):
    task = a_task(spec=a_spec(run_at=NOW + HOUR))
    store.put([task])
    change = set_aside(RULES, task.wake, now=NOW + HOUR)
    later = change.sets["wake"]

    store.set_aside(change)

    assert store.get([task.id]) == {task.id: replace(task, wake=later)}
    shard = shard_of(task.id, RULES.shards)
    assert list(store.wakes(minute_of(task.wake.at), shard)) == []
    assert list(store.wakes(minute_of(later.at), shard)) == [later]
    [answer] = store.apply([claim(RULES, later, now=NOW + 2 * HOUR, draw=a_draw())])
    assert isinstance(answer, Applied)


def test_a_wake_that_has_moved_stays_where_it_is(store: TaskStore):
    task = a_task()
    store.put([task])
    store.apply([claim(RULES, task.wake, now=NOW, draw=a_draw())])
    claimed = store.get([task.id])

    store.set_aside(set_aside(RULES, task.wake, now=NOW))

    assert store.get([task.id]) == claimed


def test_a_finished_task_gets_no_wake_again(store: TaskStore):
    task = a_task()
    store.put([task])
    store.apply([cancel(task, now=NOW)])

    store.set_aside(set_aside(RULES, task.wake, now=NOW))

    assert store.get([task.id])[task.id].wake is None


def test_a_task_that_is_not_there_does_not_come_into_being(store: TaskStore):
    task = a_task()
    store.set_aside(set_aside(RULES, task.wake, now=NOW))

    assert store.get([task.id]) == {}


def test_the_status_does_not_matter_for_it_may_be_what_cannot_be_read(store: TaskStore):
    task = a_task(status=Status.WAITING)
    store.put([task])
    change = set_aside(RULES, task.wake, now=NOW + HOUR)

    store.set_aside(change)

    assert store.get([task.id])[task.id].wake == change.sets["wake"]

from dataclasses import replace

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.ports import TaskStore
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import claim, set_aside
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind, minute_of
from tests.factories import NOW, a_draw, a_spec, a_task, an_id

ONE_SHARD = WakePolicy(shards=1)
DUE = NOW + HOUR


def a_wakeful_task(
    at: int = DUE, lane: Lane = Lane.MEDIUM, kind: WakeKind = WakeKind.DISPATCH
) -> Task:
    task = a_task(id=an_id(), spec=a_spec(run_at=at, priority=lane))
    return replace(task, wake=ONE_SHARD.wake(kind, task.id, lane, at, now=NOW))


def test_a_bucket_holds_its_own_minute_and_shard(store: TaskStore):
    here, later = a_wakeful_task(DUE), a_wakeful_task(DUE + MINUTE)
    store.put([here, later])

    assert list(store.wakes(minute_of(DUE), 0)) == [here.wake]
    assert list(store.wakes(minute_of(DUE) + 1, 0)) == [later.wake]
    assert list(store.wakes(minute_of(DUE), 1)) == []
    assert list(store.wakes(minute_of(DUE) + 2, 0)) == []


def test_wakes_come_by_kind_lane_time_and_id(store: TaskStore):
    ordered = [
        a_wakeful_task(DUE + 30 * SECOND, Lane.HIGH),
        a_wakeful_task(DUE + 10 * SECOND, Lane.MEDIUM),
        a_wakeful_task(DUE + 20 * SECOND, Lane.MEDIUM),
        a_wakeful_task(DUE + 20 * SECOND, Lane.MEDIUM),  # ids are made in order
        a_wakeful_task(DUE, Lane.LOW),
        a_wakeful_task(DUE, Lane.HIGH, WakeKind.WATCH),
    ]
    store.put(list(reversed(ordered)))

    assert list(store.wakes(minute_of(DUE), 0)) == [task.wake for task in ordered]


def test_a_bucket_can_be_read_by_kind(store: TaskStore):
    dispatches = [a_wakeful_task() for _ in range(9)]
    watches = [a_wakeful_task(kind=WakeKind.WATCH) for _ in range(9)]
    store.put([*watches, *dispatches])

    for kind, tasks in ((WakeKind.DISPATCH, dispatches), (WakeKind.WATCH, watches)):
        assert list(store.wakes(minute_of(DUE), 0, kind)) == [task.wake for task in tasks]


def test_a_bucket_is_read_to_its_end(store: TaskStore):
    tasks = [a_wakeful_task() for _ in range(40)]
    store.put(tasks)

    assert list(store.wakes(minute_of(DUE), 0)) == [task.wake for task in tasks]


def test_a_claim_moves_the_wake(store: TaskStore):
    task = a_wakeful_task()
    store.put([task])
    change = claim(ONE_SHARD, task.wake, now=NOW, draw=a_draw())
    watch = change.sets["wake"]

    store.apply([change])

    assert list(store.wakes(minute_of(DUE), 0)) == []
    assert list(store.wakes(minute_of(watch.at), 0)) == [watch]


def test_a_wake_is_set_aside_if_it_has_not_moved(store: TaskStore):
    task = a_wakeful_task()
    store.put([task])
    change = set_aside(ONE_SHARD, task.wake, now=DUE)
    later = change.sets["wake"]

    for _ in range(2):
        store.set_aside(change)
        assert list(store.wakes(minute_of(DUE), 0)) == []
        assert list(store.wakes(minute_of(later.at), 0)) == [later]
    assert store.get([task.id]) == {task.id: change.applied_to(task)}


def test_a_wake_that_has_moved_on_is_not_set_aside(store: TaskStore):
    task = a_wakeful_task()
    store.put([task])
    [claimed] = store.apply([claim(ONE_SHARD, task.wake, now=NOW, draw=a_draw())])

    store.set_aside(set_aside(ONE_SHARD, task.wake, now=DUE))
    store.set_aside(set_aside(ONE_SHARD, a_wakeful_task().wake, now=DUE))

    assert store.get([task.id]) == {task.id: claimed.stored}


def test_a_task_without_a_wake_is_not_in_the_index(store: TaskStore):
    task, finished = a_wakeful_task(), a_task(status=Status.SUCCEEDED, wake=None)
    store.put([task, finished])

    store.apply([cancel(task, now=NOW)])

    assert list(store.wakes(minute_of(DUE), 0)) == []


def test_a_small_index_is_read_at_one_go_in_the_order_of_its_buckets(store: TaskStore):
    two_shards = WakePolicy(shards=2)
    minutes = range(minute_of(DUE), minute_of(DUE) + 3)
    tasks = [
        replace(task, wake=two_shards.wake(kind, task.id, task.lane, task.due_at, now=NOW))
        for at in (DUE + 2 * MINUTE, DUE, DUE + 30 * SECOND, DUE + MINUTE)
        for lane in (Lane.LOW, Lane.HIGH)
        for kind in (WakeKind.WATCH, WakeKind.DISPATCH)
        for task in [a_wakeful_task(at, lane)]
    ]
    store.put(tasks)

    bucket_by_bucket = [
        found for minute in minutes for shard in (0, 1) for found in store.wakes(minute, shard)
    ]
    assert len(bucket_by_bucket) == len(tasks)
    assert store.few_wakes(100) == bucket_by_bucket


def test_a_small_index_has_at_most_so_many_wakes(store: TaskStore):
    assert store.few_wakes(0) == []
    tasks = [a_wakeful_task(DUE + number * MINUTE) for number in range(12)]
    store.put(tasks)

    assert store.few_wakes(13) == [task.wake for task in tasks]
    assert store.few_wakes(12) == [task.wake for task in tasks]
    assert store.few_wakes(11) is None
    assert store.few_wakes(0) is None


def test_rows_without_a_wake_do_not_count_as_wakes(store: TaskStore):
    task = a_wakeful_task()
    store.put([task, *(a_task(id=an_id(), status=Status.DEAD, wake=None) for _ in range(20))])
    assert store.few_wakes(1) == [task.wake]

    change = claim(ONE_SHARD, task.wake, now=NOW, draw=a_draw())
    store.apply([change])
    assert store.few_wakes(1) == [change.sets["wake"]]

    store.apply([cancel(task, now=NOW)])
    assert store.few_wakes(0) == []

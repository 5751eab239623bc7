"""The wakes of schedules and tasks share one index."""

from dataclasses import replace

from duetime.core.lanes import Lane
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind, minute_of
from tests.backends import Stores
from tests.contract.test_wakes import DUE, a_wakeful_task
from tests.factories import NOW, a_schedule, a_spec

ONE_SHARD = WakePolicy(shards=1)


def a_wakeful_schedule(
    at: int = DUE, lane: Lane = Lane.MEDIUM, payload: object = None, shards: int = 1
) -> Schedule:
    schedule = a_schedule(task=a_spec(priority=lane, payload=payload))
    wake = WakePolicy(shards=shards).wake(WakeKind.SCHEDULE, schedule.id, lane, at, now=NOW)
    return replace(schedule, wake=wake)


def put(stores: Stores, *awake: object) -> None:
    stores.schedules.put([s for s in awake if isinstance(s, Schedule)])
    stores.tasks.put([t for t in awake if not isinstance(t, Schedule)])


def test_wakes_come_by_kind_lane_time_and_id_whosever_they_are(stores: Stores):
    ordered = [
        a_wakeful_task(DUE, Lane.LOW),
        a_wakeful_schedule(DUE + 30 * SECOND, Lane.HIGH),
        a_wakeful_schedule(DUE + 10 * SECOND),
        a_wakeful_schedule(DUE + 20 * SECOND),
        a_wakeful_schedule(DUE + 20 * SECOND),
        a_wakeful_task(DUE, Lane.HIGH, WakeKind.WATCH),
        a_wakeful_task(DUE, Lane.LOW, WakeKind.WATCH),
    ]
    put(stores, *ordered[::-1])

    assert list(stores.tasks.wakes(minute_of(DUE), 0)) == [x.wake for x in ordered]
    assert list(stores.tasks.wakes(minute_of(DUE) + 1, 0)) == []


def test_a_bucket_can_be_read_by_kind(stores: Stores):
    by_kind = {
        WakeKind.DISPATCH: [a_wakeful_task() for _ in range(9)],
        WakeKind.SCHEDULE: [a_wakeful_schedule() for _ in range(9)],
        WakeKind.WATCH: [a_wakeful_task(kind=WakeKind.WATCH) for _ in range(9)],
    }
    put(stores, *(x for some in by_kind.values() for x in some))

    for kind, some in by_kind.items():
        assert list(stores.tasks.wakes(minute_of(DUE), 0, kind)) == [x.wake for x in some]


def test_a_small_index_is_read_at_one_go_in_the_order_of_its_buckets(stores: Stores):
    awake = [
        make
        for n in range(4)
        for make in (a_wakeful_task(DUE + n * MINUTE), a_wakeful_schedule(DUE + n * MINUTE))
    ]
    put(stores, *awake[::-1])

    assert stores.tasks.few_wakes(8) == [x.wake for x in awake]
    assert stores.tasks.few_wakes(7) is None


def test_a_step_moves_the_wake_and_an_end_removes_it(stores: Stores):
    schedule = a_wakeful_schedule()
    put(stores, schedule)
    wake = ONE_SHARD.wake(WakeKind.SCHEDULE, schedule.id, Lane.MEDIUM, DUE + HOUR, now=NOW)

    stores.schedules.put([replace(schedule, revision=2, wake=wake)])
    assert list(stores.tasks.wakes(minute_of(DUE), 0)) == []
    assert stores.tasks.few_wakes(9) == [wake]

    stores.schedules.put([replace(schedule, revision=3, wake=None)])
    assert stores.tasks.few_wakes(9) == []


def test_a_deleted_schedule_does_not_wake(stores: Stores):
    schedule = a_wakeful_schedule()
    put(stores, schedule)
    stores.schedules.delete(schedule.id)

    assert stores.tasks.few_wakes(9) == []


def later_of(schedule: Schedule) -> Schedule:
    assert schedule.wake is not None
    wake = ONE_SHARD.wake(WakeKind.SCHEDULE, schedule.id, Lane.MEDIUM, DUE + HOUR, now=NOW)
    return replace(schedule, wake=wake)


def test_a_wake_is_set_aside_and_nothing_else(stores: Stores):
    for schedule in (a_wakeful_schedule(), a_wakeful_schedule(payload="p" * 10_000)):
        put(stores, schedule)
        moved = later_of(schedule)

        for _ in range(2):
            stores.schedules.set_aside(schedule.wake, moved.wake)
            assert stores.schedules.get([schedule.id]) == {schedule.id: moved}
            assert moved.wake in stores.tasks.few_wakes(9)
            assert schedule.wake not in stores.tasks.few_wakes(9)


def test_a_wake_that_has_moved_on_is_not_set_aside(stores: Stores):
    schedule, unknown = a_wakeful_schedule(), a_wakeful_schedule()
    put(stores, schedule)
    stepped = replace(schedule, revision=2, wake=None)
    stores.schedules.put([stepped])

    for found in (schedule, unknown):
        stores.schedules.set_aside(found.wake, later_of(found).wake)

    assert stores.schedules.get([schedule.id, unknown.id]) == {schedule.id: stepped}
    assert stores.tasks.few_wakes(9) == []


def test_an_unreadable_task_can_be_set_aside(stores: Stores):
    schedule = a_wakeful_schedule()
    put(stores, schedule)
    stores.spoil(schedule.id)

    stores.schedules.set_aside(schedule.wake, later_of(schedule).wake)

    assert stores.tasks.few_wakes(9) == [later_of(schedule).wake]


def test_a_schedule_that_was_set_aside_can_still_be_replaced(stores: Stores):
    schedule = a_wakeful_schedule()
    put(stores, schedule)
    stores.schedules.set_aside(schedule.wake, later_of(schedule).wake)
    stepped = replace(schedule, revision=2, runs=1)

    stores.schedules.put([stepped])

    assert stores.schedules.get([schedule.id]) == {schedule.id: stepped}
    assert stores.tasks.few_wakes(9) == [schedule.wake]

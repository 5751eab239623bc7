"""Runs that outlast the period of their schedule: the next run is skipped or queued, or cancels."""

import pytest

from duetime.core.lifecycle import Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.retry import RetryPolicy
from duetime.core.steps import lease
from duetime.core.steps.cancel import cancel, expire
from duetime.core.steps.record import Failure
from duetime.core.steps.revive import revive
from duetime.core.task import TaskError
from duetime.core.times import MINUTE, SECOND
from duetime.executor.runs import Ended, Run, cancelled
from tests.factories import a_draw
from tests.flow.scheduling import Scheduled, after_each, every
from tests.world import World

SKIP, QUEUE, CANCEL = OverlapPolicy.SKIP, OverlapPolicy.QUEUE, OverlapPolicy.CANCEL
BOUND = [SKIP, QUEUE, CANCEL]


def each_minute(world: World, overlap: OverlapPolicy, **plan) -> Scheduled:
    scheduled = Scheduled(world, every(MINUTE, world), overlap=overlap, **plan)
    world.tick()
    return scheduled


def next_minute(world: World, *going: Run) -> list[Run]:
    """Advances a minute and returns the runs that begin, while others go on."""
    for _ in range(6):
        world.advance(10 * SECOND)
        if going:
            world.executor.renew(going)
    world.tick()
    return world.lease()


def end(scheduled: Scheduled, run: Run) -> list[Run]:
    """Ends a run and returns the runs that begin then."""
    scheduled.world.record([scheduled.world.executor.run_target(run)])
    scheduled.run_follow_ups()
    return scheduled.world.lease()


def die(scheduled: Scheduled, run: Run) -> None:
    error = TaskError(type="Boom", message="boom")
    failure = Failure(outcome="failed", error=error, permanent=True)
    scheduled.world.record([Ended(run=run, failure=failure)])


def statuses(scheduled: Scheduled, number: int) -> list[Status]:
    return [run.status for run in scheduled.runs()[:number]]


def test_skip_drops_a_run_that_would_overlap(world: World):
    scheduled = each_minute(world, SKIP)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    assert next_minute(world, first) == []
    end(scheduled, first)
    [fourth] = next_minute(world)

    assert scheduled.runs()[3].id == fourth.task.id
    assert [run.reason for run in scheduled.runs()[:4]] == [None, "overlap", "overlap", None]
    assert [run.wake for run in scheduled.runs()[:3]] == [None] * 3


def test_queue_keeps_one_waiting(world: World):
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    assert next_minute(world, first) == []
    assert statuses(scheduled, 3) == [Status.RUNNING, Status.ENQUEUED, Status.CANCELLED]
    [second] = end(scheduled, first)

    assert second.task.id == scheduled.runs()[1].id
    assert next_minute(world, second) == []
    [fourth] = end(scheduled, second)
    assert fourth.task.id == scheduled.runs()[3].id


def test_a_waiting_run_starts_in_its_turn_although_the_next_run_is_due(world: World):
    """The follow-up is late: the third run is due while the second still waits for its wake."""
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    world.record([world.executor.run_target(first)])
    world.advance(MINUTE)
    assert world.lease() == []  # the third; it wakes the second
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id
    assert scheduled.now.waiting == (scheduled.runs()[2].id,)
    [third] = end(scheduled, second)
    assert third.task.id == scheduled.runs()[2].id


def test_cancel_stops_the_running_run_for_the_next_one(world: World):
    scheduled = each_minute(world, CANCEL)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    world.executor.renew([first])
    assert first.control.cancel_requested
    world.record([cancelled(first)])
    scheduled.run_follow_ups()
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id
    assert statuses(scheduled, 2) == [Status.CANCELLED, Status.RUNNING]


def test_a_late_run_cancels_no_later_run(world: World):
    scheduled = each_minute(world, CANCEL)
    world.advance(MINUTE)
    held = world.receive()  # the first run, by a slow executor
    world.advance(MINUTE)
    [second] = world.lease()
    for message in held:
        world.redeliver(message)
    assert world.lease() == []

    world.executor.renew([second])
    assert not second.control.cancel_requested
    assert statuses(scheduled, 2) == [Status.ENQUEUED, Status.RUNNING]
    [first] = end(scheduled, second)
    assert first.task.id == scheduled.runs()[0].id


@pytest.mark.parametrize("overlap", BOUND)
def test_a_doubled_message_of_an_old_run_starts_and_stops_nothing(
    world: World, overlap: OverlapPolicy
):
    scheduled = each_minute(world, overlap)
    world.advance(MINUTE)
    [first] = world.lease()
    end(scheduled, first)
    [second] = next_minute(world)
    world.lanes.send([first.message.delivery], world.clock.now())
    assert world.lease() == []

    world.executor.renew([second])
    assert not second.control.cancel_requested
    assert scheduled.now.active == second.task.id
    assert scheduled.now.waiting == ()


@pytest.mark.parametrize("overlap", BOUND)
def test_a_run_between_two_attempts_counts_as_running(world: World, overlap: OverlapPolicy):
    world.chance.luck = 0
    retry = RetryPolicy(max_attempts=2, base_delay=90, jitter=0)
    scheduled = each_minute(world, overlap, task={"retry": retry})
    [first] = next_minute(world)
    error = TaskError(type="Boom", message="boom")
    world.record([Ended(run=first, failure=Failure(outcome="failed", error=error))])
    begun = next_minute(world)

    if overlap is CANCEL:
        scheduled.run_follow_ups()
        begun += world.lease()
        assert statuses(scheduled, 2) == [Status.CANCELLED, Status.RUNNING]
        assert scheduled.runs()[0].reason == "overlap"
    else:
        assert begun == []
        assert scheduled.runs()[0].status is Status.RETRYING
        world.advance(30 * SECOND)
        [again] = world.lease()
        assert again.task.attempt == 2


@pytest.mark.parametrize("overlap", BOUND)
def test_the_next_run_starts_when_the_previous_run_is_dead(world: World, overlap: OverlapPolicy):
    scheduled = each_minute(world, overlap)
    [first] = next_minute(world)
    die(scheduled, first)
    scheduled.run_follow_ups()
    [second] = next_minute(world)

    assert scheduled.now.active == second.task.id


def test_a_run_whose_executor_died_gives_way_in_the_end(world: World):
    retry = RetryPolicy(max_attempts=1)
    scheduled = each_minute(world, QUEUE, task={"retry": retry})
    [first] = next_minute(world)
    assert next_minute(world) == []
    world.advance(lease.LENGTH + 5 * MINUTE)
    world.tick()
    assert world.status(first.task.id) is Status.DEAD
    scheduled.run_follow_ups()
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id


def test_a_run_that_waits_for_one_without_a_follow_up_looks_again(world: World):
    scheduled = each_minute(world, SKIP)
    [first] = next_minute(world)
    scheduled.change(overlap=QUEUE)
    world.tick()
    assert next_minute(world, first) == []
    [waiting] = scheduled.now.waiting
    world.record([world.executor.run_target(first)])
    assert not world.task(first.task.id).has_follow_up
    world.advance(MINUTE)
    begun = world.lease() + world.lease()

    assert [run.task.id for run in begun] == [waiting]


def test_a_scanner_starts_the_waiting_run_if_the_relay_does_not(world: World):
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    scheduled.pause()  # no more runs
    scheduled.resume()
    [waiting] = scheduled.now.waiting
    world.record([world.executor.run_target(first)])
    assert world.task(first.task.id).has_follow_up
    world.advance(5 * MINUTE)
    world.tick()

    assert not world.task(first.task.id).has_follow_up
    world.lease()
    assert world.task(waiting).reason == "changed"  # a run of the version before the pause


# changes while a run is queued, waits, runs or retries


CHANGES = ["pause", "change", "delete"]


def _make(scheduled: Scheduled, change: str) -> None:
    {
        "pause": scheduled.pause,
        "change": lambda: scheduled.change(name="other"),
        "delete": scheduled.delete,
    }[change]()


@pytest.mark.parametrize("change", CHANGES)
def test_a_queued_run_of_a_paused_changed_or_deleted_schedule_does_not_start(
    world: World, change: str
):
    scheduled = each_minute(world, SKIP)
    queued = scheduled.runs()
    _make(scheduled, change)
    world.advance(MINUTE)

    assert world.lease() == []
    reason = {"pause": "paused", "change": "changed", "delete": "deleted"}[change]
    assert world.task(queued[0].id).reason == reason


@pytest.mark.parametrize("change", CHANGES)
def test_a_pause_change_or_delete_drops_the_waiting_run_and_leaves_the_running_one(
    world: World, change: str
):
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    [waiting] = scheduled.now.waiting
    _make(scheduled, change)
    world.record([world.executor.run_target(first)])
    ended = world.task(first.task.id)
    assert ended.status is Status.SUCCEEDED
    world.advance(5 * MINUTE)
    world.tick()
    world.lease()
    world.advance(15 * MINUTE)
    world.tick()
    world.lease()

    assert world.task(waiting).status is Status.CANCELLED
    assert world.task(first.task.id).wake is None


@pytest.mark.parametrize("change", CHANGES)
def test_a_retrying_run_goes_on_after_a_pause_change_or_delete(world: World, change: str):
    world.chance.luck = 0
    scheduled = each_minute(world, SKIP)
    [first] = next_minute(world)
    error = TaskError(type="Boom", message="boom")
    world.record([Ended(run=first, failure=Failure(outcome="failed", error=error))])
    _make(scheduled, change)
    world.advance(SECOND)
    [again] = world.lease()

    assert (again.task.id, again.task.attempt) == (first.task.id, 2)


def test_a_resumed_schedule_fires_at_its_next_time(world: World):
    scheduled = each_minute(world, SKIP)
    scheduled.pause()
    world.advance(10 * MINUTE + SECOND)
    assert world.lease() == []
    world.tick()
    scheduled.resume()
    world.tick()
    [run] = next_minute(world)

    assert run.task.spec.occurrence.version == 3
    times = [time for time, _, _ in scheduled.rows()]
    assert times == sorted(set(times))
    assert len(times) == 15  # eleven in the past, four in the future


# pause_on_failure


def test_dead_runs_in_a_row_pause_the_schedule(world: World):
    scheduled = each_minute(world, SKIP, pause_on_failure=2)
    for _ in range(2):
        [run] = next_minute(world)
        die(scheduled, run)
        scheduled.run_follow_ups()

    assert scheduled.now.status == "paused"
    assert "2 runs" in str(scheduled.now.note)
    assert next_minute(world) == []


def test_a_follow_up_that_runs_twice_does_not_pause_a_resumed_schedule(world: World):
    scheduled = each_minute(world, SKIP, pause_on_failure=1)
    [run] = next_minute(world)
    die(scheduled, run)
    world.store.before["apply"] = _cut
    with pytest.raises(Cut):
        scheduled.run_follow_ups()  # pauses the schedule, and dies before it marks the task
    assert scheduled.now.status == "paused"
    world.advance(SECOND)
    scheduled.resume()
    world.advance(5 * MINUTE)
    world.tick()

    assert not world.task(run.task.id).has_follow_up
    assert scheduled.now.status == "active"


# delay


class Cut(BaseException):
    pass


def _cut() -> None:
    raise Cut


def delayed(world: World, **plan) -> tuple[Scheduled, Run]:
    scheduled = Scheduled(world, after_each(30 * SECOND), **plan)
    world.tick()
    world.advance(30 * SECOND)
    [run] = world.lease()
    return scheduled, run


def test_a_delay_counts_from_the_end_of_the_run(world: World):
    scheduled, first = delayed(world)
    for _ in range(5):
        world.advance(10 * SECOND)
        world.executor.renew([first])
    assert end(scheduled, first) == []
    world.advance(29 * SECOND)
    assert world.lease() == []
    world.advance(SECOND)
    [second] = world.lease()

    assert second.task.current.drift_ms == 0
    assert scheduled.now.awaited == second.task.id


@pytest.mark.parametrize("how", ["dead", "cancelled", "expired", "lease lost"])
def test_a_delay_goes_on_after_every_kind_of_end(world: World, how: str):
    retry = RetryPolicy(max_attempts=1)
    scheduled = Scheduled(world, after_each(30 * SECOND), task={"retry": retry})
    world.tick()
    [occurrence] = scheduled.runs()
    if how == "expired":
        world.store.apply([expire(occurrence, now=world.clock.now())])
    elif how == "cancelled":
        world.store.apply([cancel(occurrence, now=world.clock.now())])
    else:
        world.advance(30 * SECOND)
        [run] = world.lease()
        if how == "dead":
            die(scheduled, run)
        else:
            world.advance(5 * MINUTE)
            world.tick()
    scheduled.run_follow_ups()

    ended_at = world.task(occurrence.id).updated_at
    assert world.task(occurrence.id).status.finished
    due_at = scheduled.runs()[1].due_at
    assert due_at - ended_at - 30 * SECOND == (how in ("cancelled", "expired"))  # early
    assert len(scheduled.runs()) == 2


def test_a_scanner_runs_the_follow_up_if_the_relay_is_dead(world: World):
    scheduled, first = delayed(world)
    world.record([world.executor.run_target(first)])
    world.advance(4 * MINUTE)
    world.tick()
    assert len(scheduled.runs()) == 1
    world.advance(MINUTE)
    world.tick()
    world.tick()

    assert len(scheduled.runs()) == 2
    assert not world.task(first.task.id).has_follow_up


def test_a_follow_up_that_runs_twice_makes_one_successor(world: World):
    scheduled, first = delayed(world)
    world.record([world.executor.run_target(first)])
    world.store.before["apply"] = _cut
    with pytest.raises(Cut):
        scheduled.run_follow_ups()
    scheduled.run_follow_ups()

    assert len(scheduled.runs()) == 2


def test_a_dead_run_that_is_revived_does_not_fork_the_chain(world: World):
    scheduled, first = delayed(world)
    die(scheduled, first)
    scheduled.run_follow_ups()
    dead = world.task(first.task.id)
    change = revive(world.wake_policy, dead, now=world.clock.now(), draw=a_draw())
    world.store.apply([change])
    for _ in range(10):
        world.advance(MINUTE)
        world.tick()
        world.deliver()
        scheduled.run_follow_ups()

    going = [run for run in scheduled.runs() if not run.status.finished]
    assert len(going) == 1
    assert scheduled.now.awaited == going[0].id
    assert world.task(first.task.id).status is Status.SUCCEEDED


def test_a_delay_whose_row_did_not_advance_goes_on(world: World):
    """The run was put and sent, but the schedule that awaits it could not be written."""
    scheduled = Scheduled(world, after_each(30 * SECOND))
    world.schedules.silent = True
    world.tick()
    assert scheduled.now.awaited is None
    world.advance(30 * SECOND)
    [first] = world.lease()
    end(scheduled, first)

    assert len(scheduled.runs()) == 2
    assert scheduled.now.awaited == scheduled.runs()[1].id
    assert scheduled.now.runs == 2


def test_a_delay_whose_task_cannot_be_built_goes_on(world: World):
    template = {"payload": "{{scheduled_for}"}
    scheduled = Scheduled(world, after_each(10 * MINUTE), task=template)
    world.advance(6 * MINUTE)
    world.tick()

    assert scheduled.now.awaited is None
    assert scheduled.now.next_at == world.clock.now() + 4 * MINUTE + 10 * MINUTE

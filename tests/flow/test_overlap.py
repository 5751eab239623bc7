"""Runs of a schedule that outlast its period: skipped, queued, or cancelled."""

import pytest

from lambdas.core import lease
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.retry import RetryPolicy
from lambdas.core.steps.cancel import cancel, expire
from lambdas.core.steps.record import Failure
from lambdas.core.steps.revive import revive
from lambdas.core.task import TaskError
from lambdas.core.times import MINUTE, SECOND
from lambdas.executor.runs import Ended, Run, cancelled
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
    """What begins then, while others go on."""
    for _ in range(6):
        world.advance(10 * SECOND)
        if going:
            world.executor.renew(going)
    world.tick()
    return world.lease()


def end(scheduled: Scheduled, run: Run) -> list[Run]:
    """What begins when it has ended."""
    scheduled.world.record([scheduled.world.executor.execute(run)])
    scheduled.pay()
    return scheduled.world.lease()


def die(scheduled: Scheduled, run: Run) -> None:
    error = TaskError(type="Boom", message="boom")
    failure = Failure(outcome="failed", error=error, permanent=True)
    scheduled.world.record([Ended(run=run, failure=failure)])


def statuses(scheduled: Scheduled, number: int) -> list[Status]:
    return [run.status for run in scheduled.runs()[:number]]


def test_skip(world: World):
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


def test_one_whose_turn_it_is_starts_though_the_next_has_come(world: World):
    """Nobody pays in time: the next one comes while the second is still to be woken."""
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    world.record([world.executor.execute(first)])
    world.advance(MINUTE)
    assert world.lease() == []  # the third; it wakes the second
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id
    assert scheduled.now.waiting == (scheduled.runs()[2].id,)
    [third] = end(scheduled, second)
    assert third.task.id == scheduled.runs()[2].id


def test_cancel_makes_room(world: World):
    scheduled = each_minute(world, CANCEL)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    world.executor.renew([first])
    assert first.context.cancel_asked
    world.record([cancelled(first)])
    scheduled.pay()
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id
    assert statuses(scheduled, 2) == [Status.CANCELLED, Status.RUNNING]


def test_a_late_run_cancels_none_that_was_to_come_after_it(world: World):
    scheduled = each_minute(world, CANCEL)
    world.advance(MINUTE)
    held = world.receive()  # the first, by an executor that is slow
    world.advance(MINUTE)
    [second] = world.lease()
    for message in held:
        world.redeliver(message)
    assert world.lease() == []

    world.executor.renew([second])
    assert not second.context.cancel_asked
    assert statuses(scheduled, 2) == [Status.ENQUEUED, Status.RUNNING]
    [first] = end(scheduled, second)
    assert first.task.id == scheduled.runs()[0].id


@pytest.mark.parametrize("overlap", BOUND)
def test_a_doubled_message_of_an_old_run_disturbs_nobody(world: World, overlap: OverlapPolicy):
    scheduled = each_minute(world, overlap)
    world.advance(MINUTE)
    [first] = world.lease()
    end(scheduled, first)
    [second] = next_minute(world)
    world.lanes.send([first.message.delivery], world.clock.now())
    assert world.lease() == []

    world.executor.renew([second])
    assert not second.context.cancel_asked
    assert scheduled.now.active == second.task.id
    assert scheduled.now.waiting == ()


@pytest.mark.parametrize("overlap", BOUND)
def test_a_run_that_is_tried_again_still_goes_on(world: World, overlap: OverlapPolicy):
    world.chance.luck = 0
    retry = RetryPolicy(max_attempts=2, base_delay=90, jitter=0)
    scheduled = each_minute(world, overlap, task={"retry": retry})
    [first] = next_minute(world)
    error = TaskError(type="Boom", message="boom")
    world.record([Ended(run=first, failure=Failure(outcome="failed", error=error))])
    begun = next_minute(world)

    if overlap is CANCEL:
        scheduled.pay()
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
def test_the_next_one_runs_when_its_predecessor_has_died(world: World, overlap: OverlapPolicy):
    scheduled = each_minute(world, overlap)
    [first] = next_minute(world)
    die(scheduled, first)
    scheduled.pay()
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
    scheduled.pay()
    [second] = world.lease()

    assert second.task.id == scheduled.runs()[1].id


def test_who_waits_for_a_run_that_owes_nothing_looks_again(world: World):
    scheduled = each_minute(world, SKIP)
    [first] = next_minute(world)
    scheduled.change(overlap=QUEUE)
    world.tick()
    assert next_minute(world, first) == []
    [waiting] = scheduled.now.waiting
    world.record([world.executor.execute(first)])
    assert not world.task(first.task.id).owes
    world.advance(MINUTE)
    begun = world.lease() + world.lease()

    assert [run.task.id for run in begun] == [waiting]


def test_a_scanner_wakes_the_waiting_one_if_the_relay_does_not(world: World):
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    scheduled.pause()  # nothing more comes
    scheduled.resume()
    [waiting] = scheduled.now.waiting
    world.record([world.executor.execute(first)])
    assert world.task(first.task.id).owes
    world.advance(5 * MINUTE)
    world.tick()

    assert not world.task(first.task.id).owes
    world.lease()
    assert world.task(waiting).reason == "changed"  # it is of the version before the pause


# changes while one is queued, waiting, running, retrying


CHANGES = ["pause", "change", "delete"]


def _make(scheduled: Scheduled, change: str) -> None:
    {
        "pause": scheduled.pause,
        "change": lambda: scheduled.change(name="other"),
        "delete": scheduled.delete,
    }[change]()


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_queued_does_not_start(world: World, change: str):
    scheduled = each_minute(world, SKIP)
    queued = scheduled.runs()
    _make(scheduled, change)
    world.advance(MINUTE)

    assert world.lease() == []
    reason = {"pause": "paused", "change": "changed", "delete": "deleted"}[change]
    assert world.task(queued[0].id).reason == reason


@pytest.mark.parametrize("change", CHANGES)
def test_what_waits_does_not_start_and_what_runs_goes_on(world: World, change: str):
    scheduled = each_minute(world, QUEUE)
    [first] = next_minute(world)
    assert next_minute(world, first) == []
    [waiting] = scheduled.now.waiting
    _make(scheduled, change)
    world.record([world.executor.execute(first)])
    owing = world.task(first.task.id)
    assert owing.status is Status.SUCCEEDED
    world.advance(5 * MINUTE)
    world.tick()
    world.lease()
    world.advance(15 * MINUTE)
    world.tick()
    world.lease()

    assert world.task(waiting).status is Status.CANCELLED
    assert world.task(first.task.id).wake is None


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_tried_again_goes_on(world: World, change: str):
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
    assert len(times) == 15  # eleven that passed, and four to come


# pause_on_failure


def test_dead_runs_in_a_row_pause_the_schedule(world: World):
    scheduled = each_minute(world, SKIP, pause_on_failure=2)
    for _ in range(2):
        [run] = next_minute(world)
        die(scheduled, run)
        scheduled.pay()

    assert scheduled.now.status == "paused"
    assert "2 runs" in str(scheduled.now.note)
    assert next_minute(world) == []


def test_a_debt_that_is_paid_twice_does_not_pause_what_was_resumed(world: World):
    scheduled = each_minute(world, SKIP, pause_on_failure=1)
    [run] = next_minute(world)
    die(scheduled, run)
    world.store.before["apply"] = _cut
    with pytest.raises(Cut):
        scheduled.pay()  # it pauses, and is cut off before it says that it has paid
    assert scheduled.now.status == "paused"
    world.advance(SECOND)
    scheduled.resume()
    world.advance(5 * MINUTE)
    world.tick()

    assert not world.task(run.task.id).owes
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
def test_however_the_run_ended(world: World, how: str):
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
    scheduled.pay()

    ended_at = world.task(occurrence.id).updated_at
    assert world.task(occurrence.id).status.finished
    due_at = scheduled.runs()[1].due_at
    assert due_at - ended_at - 30 * SECOND == (how in ("cancelled", "expired"))  # ahead of its time
    assert len(scheduled.runs()) == 2


def test_a_scanner_pays_if_the_relay_is_dead(world: World):
    scheduled, first = delayed(world)
    world.record([world.executor.execute(first)])
    world.advance(4 * MINUTE)
    world.tick()
    assert len(scheduled.runs()) == 1
    world.advance(MINUTE)
    world.tick()
    world.tick()

    assert len(scheduled.runs()) == 2
    assert not world.task(first.task.id).owes


def test_a_debt_paid_twice_makes_one_successor(world: World):
    scheduled, first = delayed(world)
    world.record([world.executor.execute(first)])
    world.store.before["apply"] = _cut
    with pytest.raises(Cut):
        scheduled.pay()
    scheduled.pay()

    assert len(scheduled.runs()) == 2


def test_a_dead_run_that_is_revived_does_not_fork_the_chain(world: World):
    scheduled, first = delayed(world)
    die(scheduled, first)
    scheduled.pay()
    dead = world.task(first.task.id)
    change = revive(world.rules, dead, now=world.clock.now(), draw=a_draw())
    world.store.apply([change])
    for _ in range(10):
        world.advance(MINUTE)
        world.tick()
        world.deliver()
        scheduled.pay()

    going = [run for run in scheduled.runs() if not run.status.finished]
    assert len(going) == 1
    assert scheduled.now.awaited == going[0].id
    assert world.task(first.task.id).status is Status.SUCCEEDED


def test_a_delay_whose_row_did_not_advance_goes_on(world: World):
    """The run was put and sent; that the schedule awaits it could not be written."""
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

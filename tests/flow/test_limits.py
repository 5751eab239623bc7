"""Tasks under a limit with a concurrency, from submission to the last free slot."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Limit, LimitUse, OnFull
from duetime.core.limits.slots import Line
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import cancel, expire
from duetime.core.steps.defer import Deferral
from duetime.core.task_json import task_json
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.engine.defer import defer_all
from duetime.engine.limit_usage import is_used, usage_of
from tests.world import World

LINE = Line(namespace="default", limit="stripe", key="acct-7")


def define(world: World, concurrency: int | None) -> None:
    limit = Limit(namespace="default", name="stripe", concurrency=concurrency)
    world.limits.put(limit)
    world.advance(6 * SECOND)  # a definition may be used for five seconds after it was read


def submit(world: World, on_full: OnFull = OnFull.QUEUE, **fields: Any) -> str:
    use = LimitUse(name="stripe", key="acct-7", on_full=on_full)
    world.advance(1)
    return world.submit(limits=(use,), **fields)


def running(world: World, ids: list[str]) -> list[str]:
    return [task_id for task_id in ids if world.status(task_id) is Status.RUNNING]


def taken(world: World) -> int:
    return len(world.slots.read([LINE])[0].slots)


def nothing_is_left(world: World) -> None:
    world.live(3 * MINUTE)
    [state] = world.slots.read([LINE])
    assert (list(state.slots), list(state.places)) == ([], [])
    assert world.awake() == []


def fails(world: World, verb: str, after: Callable[[], object] = lambda: None) -> None:
    def interruption() -> None:
        after()
        raise Unavailable("the store does not answer")

    world.slots.before[verb] = interruption


def test_no_more_attempts_run_than_the_limit_allows_and_the_rest_waits_its_turn(world: World):
    define(world, 2)
    ids = [submit(world) for _ in range(5)]

    runs = world.lease()
    assert running(world, ids) == ids[:2]
    waiting = world.task(ids[2])
    assert (waiting.status, waiting.attempt, waiting.held) == (Status.ENQUEUED, 0, 0)
    assert task_json(waiting)["waiting_for"] == {"limit": "stripe", "key": "acct-7"}
    assert world.lanes.depth(Queue(waiting.lane)).ready == 0, "it waits without a message"

    world.record([world.executor.run_target(runs[0])])
    world.lease()
    assert running(world, ids) == [ids[1], ids[2]]
    assert task_json(world.task(ids[2]))["waiting_for"] is None


def test_all_run_in_the_order_in_which_they_were_due(world: World):
    define(world, 1)
    ids = [submit(world) for _ in range(12)]
    while world.deliver():
        assert taken(world) <= 1

    assert world.starts == ids
    assert {world.task(i).attempt for i in ids} == {1}
    nothing_is_left(world)


def test_each_key_has_slots_of_its_own(world: World):
    define(world, 1)
    uses = [(LimitUse(name="stripe", key=key),) for key in ("a", "b", "")]
    ids = [world.submit(limits=use) for use in uses]

    assert len(world.lease()) == len(ids)


def test_the_slot_of_a_crashed_executor_comes_back_with_its_lease(world: World):
    define(world, 1)
    first, second = submit(world), submit(world)
    world.lease()  # and dies

    world.live(4 * MINUTE)

    assert [world.status(i) for i in (first, second)] == [Status.SUCCEEDED] * 2
    assert [a.outcome for a in world.attempts(first)] == [Outcome.LEASE_EXPIRED, Outcome.SUCCEEDED]
    nothing_is_left(world)


def test_a_retry_waits_in_line_like_any_other(world: World):
    define(world, 1)
    failing = iter([True])
    world.script = lambda task, ctx: 1 / 0 if next(failing, False) else "done"
    first = submit(world, retry=RetryPolicy(max_attempts=2, base_delay=0, jitter=0))
    second = submit(world)
    world.deliver()
    while world.deliver():
        pass

    assert world.starts == [first, second, first]
    nothing_is_left(world)


def test_a_slot_that_could_not_be_freed_is_freed_when_its_message_comes_back(world: World):
    define(world, 1)
    submit(world)
    runs = world.lease()
    fails(world, "read")
    world.record([world.executor.run_target(run) for run in runs])
    assert taken(world) == 1
    world.advance(6 * SECOND)
    world.deliver()

    assert taken(world) == 0


def test_a_limit_that_is_held_with_a_key_is_in_use_though_no_task_waits(world: World):
    define(world, 2)
    limit = world.limits.get("default", ["stripe"])["stripe"]
    submit(world)
    assert not is_used(world.ports, limit), "a task that has not come to the gate holds nothing"
    runs = world.lease()

    assert is_used(world.ports, limit)
    assert not is_used(world.ports, replace(limit, name="other"))
    assert not is_used(world.ports, replace(limit, namespace="other"))
    world.record([world.executor.run_target(run) for run in runs])
    assert not is_used(world.ports, limit)


@pytest.mark.parametrize("key", ["", "acct-7"])
def test_a_slot_that_an_ended_task_has_left_does_not_count(world: World, key: str):
    define(world, 1)
    limit = world.limits.get("default", ["stripe"])["stripe"]
    world.submit(limits=(LimitUse(name="stripe", key=key),))
    runs = world.lease()
    assert usage_of(world.ports, limit, key).holding == 1
    fails(world, "read")
    world.record([world.executor.run_target(run) for run in runs])
    [state] = world.slots.read([replace(LINE, key=key)])

    assert len(state.slots) == 1
    assert usage_of(world.ports, limit, key).holding == 0
    assert not is_used(world.ports, limit)


def test_an_executor_that_cannot_read_the_slots_hands_its_messages_back(world: World):
    define(world, 1)
    task_id = submit(world)
    fails(world, "read")
    assert world.lease() == []
    world.advance(6 * SECOND)

    assert [run.task.id for run in world.deliver()] == [task_id]


def test_a_hand_over_that_was_not_sent_is_sent_by_the_watch_of_its_line(world: World):
    define(world, 1)
    first, second = submit(world), submit(world)
    runs = world.lease()
    world.lanes.fate = "lost"
    world.record([world.executor.run_target(run) for run in runs])
    world.lanes.fate = "sent"
    world.live(4 * MINUTE)

    assert (world.status(first), world.status(second)) == (Status.SUCCEEDED,) * 2
    nothing_is_left(world)


def test_a_cancelled_task_does_not_hold_up_the_next_in_line(world: World):
    define(world, 1)
    first, second, third = (submit(world) for _ in range(3))
    runs = world.lease()
    world.store.apply([cancel(world.task(second), now=world.clock.now())])
    world.record([world.executor.run_target(run) for run in runs])
    world.deliver()

    assert world.starts == [first, third]
    nothing_is_left(world)


def test_a_held_task_that_expires_is_not_started(world: World):
    define(world, 1)
    submit(world, timeout=3_600)
    now = world.clock.now()
    second = submit(world, expires_at=now + 10 * MINUTE)
    runs = world.lease()
    for _ in range(15):
        world.advance(MINUTE)
        world.executor.renew(runs)
        world.tick()

    assert world.status(second) is Status.EXPIRED


def test_a_task_that_skips_a_full_limit_is_cancelled_with_the_reason(world: World):
    define(world, 1)
    first, second = submit(world, OnFull.SKIP), submit(world, OnFull.SKIP)
    world.lease()

    assert world.status(first) is Status.RUNNING
    skipped = world.task(second)
    assert (skipped.status, skipped.reason, skipped.attempt) == (Status.CANCELLED, "limit", 0)


def test_a_task_that_cancels_takes_the_place_of_the_oldest_holder(world: World):
    define(world, 2)
    ids = [submit(world), submit(world)]
    runs = world.lease()
    world.advance(SECOND)
    newest = submit(world, OnFull.CANCEL)
    world.lease()
    assert [world.task(i).cancel_requested for i in ids] == [True, False]
    assert world.task(newest).held == 0

    world.executor.renew(runs)
    stopped = next(run for run in runs if run.control.cancel_requested)
    assert stopped.task.id == ids[0]
    world.record([world.executor.run_target(stopped)])
    assert world.task(ids[0]).reason == "limit"
    world.lease()
    assert world.status(newest) is Status.RUNNING


def test_a_lowered_limit_drains_and_a_raised_one_starts_more(world: World):
    define(world, 3)
    ids = [submit(world) for _ in range(8)]
    runs = world.lease()
    define(world, 1)
    for run in runs:
        world.record([world.executor.run_target(run)])
        world.lease()
    assert len(running(world, ids)) == 1

    define(world, 4)
    world.advance(MINUTE)
    world.tick()
    assert len(world.lease()) == 3
    world.live(6 * MINUTE)  # these executors have died
    assert {world.status(i) for i in ids} == {Status.SUCCEEDED}
    nothing_is_left(world)


def test_a_deleted_limit_holds_nobody_back(world: World):
    define(world, 1)
    ids = [submit(world) for _ in range(25)]
    runs = world.lease()
    [limit] = world.limits.get("default", ["stripe"]).values()
    world.limits.delete(limit)
    world.advance(MINUTE)
    world.tick()
    world.deliver()
    assert {world.status(i) for i in ids[1:]} == {Status.SUCCEEDED}

    world.record([world.executor.run_target(run) for run in runs])
    nothing_is_left(world)


def test_a_task_that_waits_for_hours_has_few_watches_and_no_messages(world: World):
    define(world, 1)
    submit(world, timeout=7_200)
    second = submit(world)
    runs = world.lease()
    sent = len(world.lanes.sent)
    for _ in range(90):
        world.advance(MINUTE)
        world.executor.renew(runs)
        world.tick()

    assert world.task(second).held == 0
    assert len(world.lanes.sent) == sent
    wake = world.task(second).wake
    assert wake is not None
    assert wake.at >= world.clock.now()


@pytest.mark.parametrize("delay", [0, HOUR])
def test_a_changed_task_leaves_its_place(world: World, delay: int):
    define(world, 1)
    submit(world)
    second = submit(world)
    runs = world.lease()
    now = world.clock.now()

    def later(task: Any, *_: Any) -> Deferral:
        return Deferral(spec=replace(task.spec, run_at=now + delay), due_at=now + delay)

    defer_all(world.ports, [world.task(second)], later)
    assert world.task(second).held is None
    world.deliver()
    world.record([world.executor.run_target(run) for run in runs])
    world.deliver()
    done = Status.SUCCEEDED if delay == 0 else Status.PENDING
    assert world.status(second) is done
    world.live(delay + 2 * MINUTE)
    assert world.status(second) is Status.SUCCEEDED
    nothing_is_left(world)


def test_crashed_holder_that_had_waited_itself_holds_up_its_line_for_minutes_not_for_an_hour(
    world: World,
):
    """Its own watch has moved an hour ahead while it waited, and its message is lost."""
    define(world, 1)
    submit(world)
    second, third = submit(world), submit(world)
    [run] = world.lease()
    for _ in range(18):
        world.advance(20 * SECOND)
        world.executor.renew([run])
        world.tick()
    world.record([world.executor.run_target(run)])
    [crashed] = world.lease()
    assert crashed.task.id == second
    assert crashed.task.wake.at > world.clock.now() + 30 * MINUTE
    world.purge()

    world.live(6 * MINUTE)

    assert [world.status(i) for i in (second, third)] == [Status.SUCCEEDED] * 2
    nothing_is_left(world)


def test_expired_task_frees_its_slot_although_the_answer_to_its_end_was_lost(world: World):
    define(world, 1)
    expired = submit(world, expires_at=world.clock.now() + SECOND)
    world.advance(2 * SECOND)

    def expire_without_an_answer() -> None:
        task = world.store.port.get([expired])[expired]
        world.store.port.apply([expire(task, now=world.clock.now())])
        world.store.silent = True

    def after_the_lease() -> None:  # which is answered, and refused
        world.store.before["apply"] = expire_without_an_answer

    world.store.before["apply"] = after_the_lease
    assert world.deliver() == []
    assert taken(world) == 1

    world.live(5 * MINUTE)

    assert world.status(expired) is Status.EXPIRED
    nothing_is_left(world)

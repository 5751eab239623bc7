"""Tasks with an ordering key: one at a time, in the order of their due times."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import OnDead
from duetime.core.limits.slots import Line, Place
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import cancel
from duetime.core.steps.defer import Deferral
from duetime.core.steps.discard import discard
from duetime.core.steps.revive import revive
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.task_json import task_json
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.engine.defer import defer_all
from duetime.engine.enqueue import enqueue
from duetime.engine.submission import Submission, Submitted, TaskRequest
from tests.factories import a_draw, a_spec
from tests.world import WAKE_POLICY, World

LINE = Line(namespace="default", limit=None, key="order-7")
TWICE = RetryPolicy(max_attempts=3, base_delay=1, multiplier=1, jitter=0)


def submit(world: World, due_in: int = 0, key: str = "order-7", **fields: Any) -> str:
    world.advance(1)
    now = world.clock.now()
    spec = a_spec(run_at=now + due_in, ordering_key=key, **fields)
    [answer] = Submission(world.ports).submit([TaskRequest(spec=spec, body_hash="")])
    assert isinstance(answer, Submitted)
    return answer.task.id


def run_all(world: World) -> None:
    for _ in range(40):
        world.deliver()
        world.advance(2 * SECOND)


def left(world: World) -> tuple[int, int]:
    [state] = world.slots.read([LINE])
    return len(state.slots), len(state.places)


def test_tasks_of_one_batch_run_in_the_order_of_the_batch(world: World):
    """Their ids, made in the same millisecond, are in no order."""
    specs = [a_spec(run_at=world.clock.now(), ordering_key="order-7") for _ in range(6)]
    requests = [TaskRequest(spec=spec, body_hash="") for spec in specs]
    answers = Submission(world.ports).submit(requests)
    ids = [answer.task.id for answer in answers if isinstance(answer, Submitted)]
    run_all(world)

    assert ids != sorted(ids)
    assert world.starts == ids


def test_tasks_of_one_key_run_in_order_though_the_first_is_retried_twice(world: World):
    world.script = lambda task, ctx: 1 / 0 if task.id == first and task.attempt < 3 else "done"
    first = submit(world, retry=TWICE)
    second, third = submit(world), submit(world)
    other = submit(world, key="order-8")
    run_all(world)

    assert [i for i in world.starts if i != other] == [first, first, first, second, third]
    assert other in world.starts[:2]
    assert {world.task(i).attempt for i in (second, third)} == {1}
    assert left(world) == (0, 0)


def test_a_task_that_waits_for_its_turn_says_so_and_has_no_message(world: World):
    submit(world)
    second = submit(world)
    world.lease()

    task = world.task(second)
    assert (task.held, task.attempt) == (ORDERING_KEY, 0)
    assert task_json(task)["waiting_for"] == {"ordering_key": "order-7"}
    assert world.lanes.depth(Queue(task.lane)).ready == 0


def test_a_late_submission_with_an_earlier_time_goes_before_what_has_not_started(world: World):
    later = submit(world, due_in=2 * MINUTE)
    earlier = submit(world, due_in=MINUTE)
    world.advance(3 * MINUTE)
    run_all(world)

    assert world.starts == [earlier, later]


def test_a_change_of_time_keeps_the_place_and_the_tasks_behind_wait(world: World):
    first = submit(world, due_in=MINUTE)
    second = submit(world, due_in=2 * MINUTE)
    at = world.clock.now() + 20 * MINUTE

    def later(task: Task, *_: Any) -> Deferral:
        return Deferral(spec=replace(task.spec, run_at=at), due_at=at)

    defer_all(world.ports, [world.task(first)], later)
    world.live(10 * MINUTE)
    assert world.starts == []
    assert world.task(second).held == ORDERING_KEY
    assert left(world) == (0, 2), "the older message of the first has not taken the slot"

    world.live(15 * MINUTE)
    assert world.starts == [first, second]
    assert left(world) == (0, 0)


@pytest.mark.parametrize("end", ["cancelled", "expired"])
def test_a_first_task_that_ends_without_a_start_lets_the_next_one_start(world: World, end: str):
    now = world.clock.now()
    expires = {"expires_at": now + 3 * MINUTE} if end == "expired" else {}
    first = submit(world, due_in=MINUTE, **expires)
    second = submit(world, due_in=2 * MINUTE)
    at = now + 10 * MINUTE

    def later(task: Task, *_: Any) -> Deferral:
        return Deferral(spec=replace(task.spec, run_at=at), due_at=at)

    defer_all(world.ports, [world.task(first)], later)
    world.live(4 * MINUTE)
    if end == "cancelled":
        assert world.starts == []
        world.store.apply([cancel(world.task(first), now=world.clock.now())])
    world.live(10 * MINUTE)

    assert world.starts == [second]


def test_a_dead_task_lets_the_next_one_start(world: World):
    world.script = lambda task, ctx: 1 / 0 if task.id == first else "done"
    first = submit(world, retry=RetryPolicy(max_attempts=1))
    second = submit(world)
    run_all(world)

    assert world.status(first) is Status.DEAD
    assert world.status(second) is Status.SUCCEEDED


def blocked(world: World) -> tuple[str, str]:
    world.script = lambda task, ctx: 1 / 0 if task.id == first and task.attempt == 1 else "done"
    first = submit(world, retry=RetryPolicy(max_attempts=1), on_dead=OnDead.BLOCK)
    second = submit(world)
    run_all(world)
    world.live(2 * HOUR, step=10 * MINUTE)
    assert world.status(first) is Status.DEAD
    assert world.task(second).held == ORDERING_KEY
    assert world.task(second).attempt == 0
    return first, second


def test_a_dead_task_that_blocks_lets_the_next_start_after_its_redrive(world: World):
    first, second = blocked(world)
    now = world.clock.now()
    change = revive(WAKE_POLICY, world.task(first), now=now, draw=a_draw())
    [answer] = world.store.apply([change])
    enqueue(world.ports, [answer.stored])
    world.live(3 * MINUTE)

    assert world.starts == [first, first, second]
    assert left(world) == (0, 0)


def test_a_dead_task_that_blocks_lets_the_next_start_when_it_is_discarded(world: World):
    first, second = blocked(world)
    world.store.apply([discard(world.task(first), now=world.clock.now())])
    world.live(3 * MINUTE)

    assert world.starts == [first, second]


def test_a_revived_task_joins_its_line_again(world: World):
    world.script = lambda task, ctx: 1 / 0 if task.id == first and task.attempt == 1 else "done"
    first = submit(world, retry=RetryPolicy(max_attempts=1))
    run_all(world)
    second = submit(world)
    world.lease()
    now = world.clock.now()
    [answer] = world.store.apply([revive(WAKE_POLICY, world.task(first), now=now, draw=a_draw())])
    enqueue(world.ports, [answer.stored])
    assert world.lease() == []
    assert world.task(first).held == ORDERING_KEY
    world.live(6 * MINUTE)

    assert world.status(second) is Status.SUCCEEDED
    assert world.status(first) is Status.SUCCEEDED


def test_a_submission_that_died_before_it_stored_its_task_holds_nobody_up_for_long(world: World):
    now = world.clock.now()
    place = Place(position=now - MINUTE, task_id=world.chance.new_id(now), since=now)
    world.slots.join([(LINE, place)])
    second = submit(world)
    world.deliver()
    assert world.task(second).held == ORDERING_KEY
    world.live(3 * MINUTE)

    assert world.status(second) is Status.SUCCEEDED
    assert left(world) == (0, 0)


def test_nothing_is_stored_if_the_place_could_not_be_put(world: World):
    def interruption() -> None:
        raise Unavailable("the store does not answer")

    world.slots.before["join"] = interruption
    with pytest.raises(Unavailable):
        submit(world)

    assert world.awake() == []


def test_the_key_of_a_crashed_executor_stays_with_its_task(world: World):
    first, second = submit(world, retry=TWICE), submit(world)
    world.lease()  # and dies
    world.live(6 * MINUTE)

    assert world.starts == [first, second]
    assert [a.number for a in world.attempts(first)] == [1, 2]
    assert left(world) == (0, 0)

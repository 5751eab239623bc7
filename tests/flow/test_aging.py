"""A task that waits in its lane moves to a higher one."""

from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.times import HOUR, MINUTE
from duetime.executor.runs import Admitted
from duetime.scanner import backed_up_lanes
from duetime.scanner.scanner import Scanner
from tests.world import World


def wait(world: World, span: int) -> None:
    """Lets time pass with ticks, while no executor takes a message."""
    for _ in range(span // MINUTE):
        world.advance(MINUTE)
        world.tick()


def test_task_moves_up_one_lane_for_each_hour_and_starts_once(world: World):
    task_id = world.submit(priority=Lane.LOW)
    other = world.submit(priority=Lane.HIGH)
    lanes = []
    for _ in range(3):
        lanes.append(world.task(task_id).lane)
        wait(world, HOUR + MINUTE)

    started = [run.task.id for run in world.deliver()]
    world.live(30 * MINUTE)

    assert lanes == [Lane.LOW, Lane.MEDIUM, Lane.HIGH]
    assert sorted(started) == sorted([task_id, other])
    assert sorted(world.starts) == sorted([task_id, other]), "each once"
    task = world.task(task_id)
    assert (task.status, task.spec.priority, task.lane) == (Status.SUCCEEDED, Lane.LOW, Lane.HIGH)
    assert task.promoted.at <= task.due_at + 2 * (HOUR + MINUTE)
    assert world.task(other).promoted is None
    assert all(world.lanes.depth(Queue(lane)).ready == 0 for lane in Lane)


def test_executor_that_takes_the_old_message_first_starts_nothing(world: World):
    task_id = world.submit(priority=Lane.LOW)
    wait(world, 59 * MINUTE)
    while old := world.lanes.receive(Queue(Lane.LOW), 10, 0):
        late = old
    wait(world, 2 * MINUTE)
    for message in late:
        world.redeliver(message)

    stale = world.lanes.receive(Queue(Lane.LOW), 10, 0)
    due = [Admitted(message=message) for message in stale]
    started = world.executor.record_and_lease(due=due).started

    assert stale
    assert started == []
    assert world.status(task_id) is Status.ENQUEUED
    assert [run.task.id for run in world.deliver()] == [task_id]


def test_tick_reports_what_it_has_promoted_by_the_lane_that_it_left(world: World):
    for lane in (Lane.LOW, Lane.LOW, Lane.MEDIUM, Lane.HIGH):
        world.submit(priority=lane)
    promoted = sum((_minute(world).promoted for _ in range(61)), start=_minute(world).promoted)

    assert promoted == {Queue(Lane.LOW): 2, Queue(Lane.MEDIUM): 1}


def _minute(world: World):
    world.advance(MINUTE)
    return world.tick()


def test_lane_that_is_backed_up_still_promotes(world: World, monkeypatch):
    monkeypatch.setattr(backed_up_lanes, "BACKED_UP", 1)
    ids = [world.submit(priority=Lane.LOW) for _ in range(5)]
    wait(world, HOUR + MINUTE)

    assert {world.task(task_id).lane for task_id in ids} == {Lane.MEDIUM}


def test_each_tick_promotes_no_more_than_the_pace(world: World):
    world.scanner = Scanner(world.ports, world.cursors, catch_up=0.1)  # six in a tick
    ids = [world.submit(priority=Lane.LOW) for _ in range(15)]
    counts = [_minute(world).promoted.total() for _ in range(64)]

    assert sum(counts) == len(ids)
    assert max(counts) <= 6


def test_promoted_task_is_not_behind_fresh_work(world: World):
    """Overdue work that is paced comes after fresh work; a promoted task has waited enough."""
    task_id = world.submit(priority=Lane.MEDIUM)
    wait(world, HOUR + MINUTE)
    for _ in range(20):
        world.submit(priority=Lane.HIGH)
    if world.lanes.depth(Queue(Lane.HIGH)).oldest is None:  # SQS has no order
        return

    [first] = world.lanes.receive(Queue(Lane.HIGH), 1, 0)

    assert first.delivery.task_id == task_id

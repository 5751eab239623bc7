"""Late and missing ticks, late rows, backlogs, and rows that cannot be read."""

import pytest

from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.ports import Depth
from duetime.core.steps.claim import SET_ASIDE_FOR
from duetime.core.steps.submit import submit
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.core.wakes import minute_of
from duetime.scanner.backed_up_lanes import BACKED_UP, TICKS_BEFORE_TRICKLE
from duetime.scanner.scanner import Scanner
from duetime.scanner.windows import SWEPT_A_TICK
from tests.factories import a_spec
from tests.world import WAKE_POLICY, World, late, sqlite_world

LOOK_BACK = 5  # minutes


def cursor(world: World) -> int:
    return world.cursors.load(0).cursors[0]


def now_minute(world: World) -> int:
    return minute_of(world.clock.now())


def test_an_hour_without_ticks_is_caught_up(world: World):
    world.tick()
    ids = [world.submit(due_in=minutes * MINUTE) for minutes in (5, 6, 20, 40, 58, 61)]
    world.advance(HOUR)

    assert world.tick().claimed == 6
    world.advance(MINUTE)
    world.deliver()

    assert sorted(world.starts) == sorted(ids)
    drifts = [world.task(task_id).current.drift_ms for task_id in ids]
    assert drifts == [minutes * MINUTE for minutes in (56, 55, 41, 21, 3, 0)]


def test_a_day_without_ticks_is_caught_up_oldest_first():
    with sqlite_world() as world:
        world.tick()
        ids = [world.submit(due_in=hours * HOUR) for hours in (23, 1, 12)]
        world.advance(DAY)
        world.tick()

        assert [d.task_id for d in world.lanes.sent] == [ids[1], ids[2], ids[0]]
        world.advance(SECOND)
        world.deliver()
        assert {world.status(task_id) for task_id in ids} == {Status.SUCCEEDED}


def test_more_than_a_day_without_ticks_is_caught_up_too():
    with sqlite_world() as world:
        world.tick()
        task_id = world.submit(due_in=HOUR)
        world.advance(3 * DAY)
        world.tick()
        world.deliver()

        assert world.status(task_id) is Status.SUCCEEDED


def test_fresh_tasks_are_claimed_before_the_backlog(world: World):
    world.tick()
    old = world.submit(due_in=10 * MINUTE, priority=Lane.HIGH)
    new = world.submit(due_in=HOUR, priority=Lane.LOW)
    world.advance(HOUR)
    world.tick()

    assert [d.task_id for d in world.lanes.sent] == [new, old]


def test_the_cursor_never_passes_the_look_back(world: World):
    for _ in range(3):
        world.tick()
        assert cursor(world) == now_minute(world) - LOOK_BACK
        world.advance(7 * MINUTE)


def test_the_cursor_waits_for_a_minute_with_unclaimed_wakes(world: World):
    world.tick()
    world.submit(due_in=10 * MINUTE)
    due = now_minute(world) + 10
    world.advance(20 * MINUTE)
    world.tick()
    assert cursor(world) == due

    world.tick()
    assert cursor(world) == now_minute(world) - LOOK_BACK


def test_a_tick_reports_the_age_of_the_last_tick_and_the_lag_of_the_cursor(world: World):
    reports = [world.tick()]
    for minutes in (3, 20, 1, 1):
        world.advance(minutes * MINUTE)
        if minutes == 3:
            world.submit(due_in=10 * MINUTE)
        reports.append(world.tick())

    assert [report.age for report in reports] == [None, *(n * MINUTE for n in (3, 20, 1, 1))]
    assert [report.lag for report in reports] == [0, 0, (20 - 10 - LOOK_BACK) * MINUTE, 0, 0]


def test_a_row_written_late_into_an_old_minute_is_found_by_the_sweep(world: World):
    world.tick()
    world.advance(40 * MINUTE)
    world.tick()
    now = world.clock.now()
    spec = a_spec(run_at=now + 10 * MINUTE)
    task = submit(WAKE_POLICY, world.chance.new_id(now), spec, now=now, draw=world.chance.draw())
    frozen = late(task, by=30 * MINUTE)
    assert minute_of(frozen.wake.at) < cursor(world)
    world.store.put([frozen])

    ticks = 0
    while world.status(task.id) is Status.PENDING:
        world.tick()
        ticks += 1
        assert ticks <= 40 / SWEPT_A_TICK + 1
    world.advance_to(task.due_at)
    world.deliver()

    assert world.status(task.id) is Status.SUCCEEDED


def test_a_tick_that_runs_out_of_time_goes_on_where_it_stopped():
    with sqlite_world() as world:
        world.tick()
        task_id = world.submit(due_in=HOUR)
        world.advance(DAY)
        until = world.clock.now() + SECOND
        read = world.store.wakes
        world.store.few_wakes = lambda limit: None
        world.store.wakes = lambda *args: (world.advance(10), read(*args))[1]

        ticks, report = 0, world.tick(until)
        while report.unfinished:
            ticks += 1
            until += SECOND
            report = world.tick(until, continues=report.chain)
            assert ticks < 30

        assert ticks > 10, "a day has 1,440 minutes, and a tick reads a hundred"
        world.deliver()
        assert world.status(task_id) is Status.SUCCEEDED


def test_a_tick_that_starts_out_of_time_claims_nothing_and_loses_nothing(world: World):
    world.tick()
    task_id = world.submit(due_in=10 * MINUTE)
    world.advance(HOUR)
    before = cursor(world)

    assert world.tick(until=world.clock.now()).unfinished
    assert (cursor(world), world.status(task_id)) == (before, Status.PENDING)

    assert not world.tick().unfinished
    assert world.status(task_id) is Status.ENQUEUED


def test_nothing_overdue_is_added_to_a_lane_that_is_backed_up(world: World):
    world.tick()
    old = [world.submit(due_in=minutes * MINUTE) for minutes in (10, 11, 58)]
    fresh = world.submit(due_in=HOUR)
    other_lane = world.submit(due_in=10 * MINUTE, priority=Lane.HIGH)
    world.advance(HOUR)
    held = minute_of(world.task(old[0]).due_at)

    def crowded(queue: Queue) -> Depth:
        return Depth(ready=BACKED_UP + (queue.lane is Lane.MEDIUM), delayed=0, in_flight=0)

    world.lanes.depth = crowded
    report = world.tick()
    assert (report.claimed, report.held_back) == (2, 3)
    assert {d.task_id for d in world.lanes.sent} == {fresh, other_lane}
    assert cursor(world) == held

    del world.lanes.depth
    report = world.tick()
    assert (report.claimed, report.held_back) == (3, 0)
    world.advance(SECOND)
    world.deliver()
    assert set(world.starts) == {*old, fresh, other_lane}


def test_a_lane_is_backed_up_beyond_what_its_executors_take_in_a_minute(world: World):
    world.scanner = Scanner(world.ports, world.cursors, executors={Lane.MEDIUM: 10, Lane.LOW: 1})
    world.tick()
    for lane in (Lane.MEDIUM, Lane.LOW):
        world.submit(due_in=10 * MINUTE, priority=lane)
    world.advance(HOUR)

    world.lanes.crowd = 10 * 600 + 1
    assert world.tick().claimed == 0
    world.lanes.crowd -= 1
    assert [*world.tick().claims] == [Queue(Lane.MEDIUM)]
    world.lanes.crowd = BACKED_UP
    assert [*world.tick().claims] == [Queue(Lane.LOW)], "1,000 at the least"


def test_a_lane_that_stays_backed_up_gets_a_tenth_of_the_pace_in_the_end(world: World):
    """The depth of a queue lags and may be wrong, so it must not hold tasks back for ever."""
    world.scanner = Scanner(world.ports, world.cursors, catch_up=1)
    world.tick()
    for _ in range(20):
        world.submit(due_in=10 * MINUTE)
    world.advance(HOUR)
    world.lanes.crowd = BACKED_UP + 1

    claims = []
    for _ in range(TICKS_BEFORE_TRICKLE + 3):
        claims.append(world.tick().claimed)
        world.advance(MINUTE)
    assert claims == [0] * TICKS_BEFORE_TRICKLE + [6, 6, 6]

    world.lanes.crowd = None
    assert world.tick().claimed == 2
    world.lanes.crowd = BACKED_UP + 1
    world.submit(due_in=10 * MINUTE)
    world.advance(HOUR)
    assert world.tick().claimed == 0, "and the ticks are counted anew"


@pytest.mark.parametrize("late_by", [0, 20 * MINUTE], ids=["near", "backlog"])
def test_an_unreadable_row_stops_no_other_task_and_does_not_pin_the_cursor(
    world: World, late_by: int
):
    world.tick()
    ids = [world.submit(due_in=5 * MINUTE) for _ in range(5)]
    world.corrupt(ids[2])
    world.advance(2 * MINUTE + late_by)

    report = world.tick()
    assert (report.claimed, report.sent, report.set_aside) == (4, 4, 1)
    world.advance(3 * MINUTE)
    world.deliver()
    assert sorted(world.starts) == sorted(i for n, i in enumerate(ids) if n != 2)

    set_aside = report.set_aside
    for _ in range(12):
        world.advance(MINUTE)
        set_aside += world.tick().set_aside
    assert cursor(world) == now_minute(world) - LOOK_BACK
    assert set_aside <= 2, (
        "where a claim is made before the row is read, its watch is set aside too"
    )


def test_an_unreadable_row_wakes_again_and_runs_once_it_is_readable():
    with sqlite_world() as world:
        task_id = world.submit(due_in=5 * MINUTE)
        spec = world.store.port._database.write(
            lambda c: c.execute("SELECT spec FROM tasks").fetchone()[0]
        )
        world.corrupt(task_id)
        world.advance(2 * MINUTE)
        assert world.tick().set_aside == 1
        world.store.port._database.write(lambda c: c.execute("UPDATE tasks SET spec = ?", (spec,)))

        world.advance(SET_ASIDE_FOR)
        assert world.tick().claimed == 1
        world.deliver()

        assert world.status(task_id) is Status.SUCCEEDED


def test_an_unreadable_row_with_a_watch_stops_no_other_task(world: World):
    world.lanes.fate = "lost"
    ids = [world.submit() for _ in range(5)]
    world.lanes.fate = "sent"
    world.corrupt(ids[2])
    world.advance(5 * MINUTE)

    report = world.tick()
    assert (report.watched, report.sent, report.set_aside) == (4, 4, 1)
    world.advance(SECOND)
    world.deliver()
    assert sorted(world.starts) == sorted(i for n, i in enumerate(ids) if n != 2)
    for _ in range(8):
        world.advance(MINUTE)
        assert world.tick().set_aside == 0
    assert cursor(world) == now_minute(world) - LOOK_BACK


DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize("spec", ["{", f'{{"run_at":1,"target":{{}},"payload":{DEEP}}}'])
def test_an_unreadable_row_in_a_delivery_stops_no_other_task(world: World, spec: str):
    ids = [world.submit() for _ in range(3)]
    world.corrupt(ids[1], spec)
    world.deliver()

    assert sorted(world.starts) == sorted([ids[0], ids[2]])


def test_a_row_that_makes_the_scanner_raise_stops_no_other_task():
    """A RUNNING task without an attempt is readable, but every step raises on it."""
    with sqlite_world() as world:
        world.lanes.fate = "lost"
        ids = [world.submit() for _ in range(3)]
        world.lanes.fate = "sent"
        world.store.port._writes.live.clear()
        world.store.port._database.write(
            lambda c: c.execute(
                "UPDATE tasks SET status = 'RUNNING', lease_until = 1 WHERE id = ?", (ids[1],)
            )
        )
        world.advance(5 * MINUTE)

        report = world.tick()
        assert (report.watched, report.sent, report.set_aside) == (2, 2, 1)
        assert report.saved


def test_wakes_beyond_the_limit_of_a_tick_are_left_to_the_next_tick(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("duetime.scanner.wake_reader.MAX_WAKES", 3)
    with sqlite_world() as world:
        for _ in range(5):
            world.submit(due_in=5 * MINUTE)
        world.advance(2 * MINUTE)

        first, second = world.tick(), world.tick()

        assert (first.claimed, first.unfinished) == (3, True)
        assert (second.claimed, second.unfinished) == (2, False)


def test_future_watches_do_not_use_up_the_limit_of_a_tick(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("duetime.scanner.wake_reader.MAX_WAKES", 3)
    with sqlite_world() as world:
        for _ in range(20):
            world.submit()  # due now: each has a watch
        world.advance(MINUTE)
        later = world.submit(due_in=5 * MINUTE)
        world.advance(MINUTE)  # the watches are due within this minute

        assert world.tick().claimed == 1
        assert world.status(later) is Status.ENQUEUED

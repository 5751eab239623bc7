"""After an outage overdue tasks start at a pace, and fresh tasks on time."""

from collections import Counter
from pathlib import Path

import pytest

from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.steps.submit import submit
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from duetime.scanner.backed_up_lanes import BACKED_UP
from duetime.scanner.scanner import Scanner
from duetime.scanner.windows import SWEPT_A_TICK
from tests.factories import SteppedClock, a_spec
from tests.world import WAKE_POLICY, World, late, sqlite_world


def paced(world: World, rate: float) -> World:
    world.scanner = Scanner(world.ports, world.cursors, catch_up=rate)
    world.tick()
    return world


def live(world: World, span: Millis) -> dict[str, Millis]:
    """Ticks every minute and delivers every second; returns when each task started."""
    started: dict[str, Millis] = {}
    for second in range(span // SECOND):
        if second % 60 == 0:
            world.tick()
        for run in world.deliver():
            assert run.task.id not in started
            started[run.task.id] = world.clock.now()
        world.advance(SECOND)
    return started


def busiest_minute(moments: list[Millis]) -> int:
    """Returns the most starts in any sixty seconds."""
    moments = sorted(moments)
    return max(sum(at <= m < at + MINUTE for m in moments[n:]) for n, at in enumerate(moments))


def slots(world: World, ids: list[str]) -> list[Millis]:
    """Returns the visible times of the sent messages of these tasks, relative to now."""
    sent = [d.not_before for d in world.lanes.sent if d.task_id in set(ids)]
    return [at - world.clock.now() for at in sent]


def test_an_hours_backlog_is_worked_off_at_the_pace():
    with sqlite_world() as world:
        paced(world, 10)
        ids = [world.submit(due_in=10 * MINUTE + n * SECOND) for n in range(2_000)]
        world.advance(HOUR)
        started = live(world, 5 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 600
        assert max(started.values()) - min(started.values()) < 201 * SECOND
        assert list(started) == ids, "the oldest first"


def test_fresh_work_starts_on_time_although_thousands_are_overdue_in_its_lane():
    with sqlite_world() as world:
        paced(world, 10)
        for n in range(3_000):
            world.submit(due_in=10 * MINUTE + n)
        fresh = [world.submit(due_in=HOUR + n * SECOND) for n in range(100)]
        world.advance(HOUR)
        world.receive = lambda: world.lanes.receive(
            Queue(Lane.MEDIUM), 15, 0
        )  # the throughput of the lane
        started = live(world, MINUTE)
        fresh += [world.submit(due_in=n * SECOND) for n in range(60)]
        started |= live(world, MINUTE)

        drifts = [started[i] - world.task(i).due_at for i in fresh]
        assert 0 <= min(drifts) <= max(drifts) <= 2 * SECOND
        assert len(started) > 1_200, "and the overdue ones go on at their pace"


def test_fresh_work_is_taken_before_overdue_work_of_any_lane(world: World):
    paced(world, 100)
    old = [world.submit(due_in=m * MINUTE, priority=Lane.HIGH) for m in (58, 20, 59)]
    new = [world.submit(due_in=HOUR + s * SECOND, priority=Lane.LOW) for s in (5, -30)]
    world.advance(HOUR + SECOND)
    world.tick()

    assert [d.task_id for d in world.lanes.sent] == [new[1], new[0], old[1], old[0], old[2]]
    assert slots(world, old) == [0, 10, 20]
    assert [d.not_before for d in world.lanes.sent[:2]] == [0, 0]


def test_each_lane_has_a_pace_of_its_own(world: World):
    paced(world, 1)
    crowd = [world.submit(due_in=10 * MINUTE) for _ in range(70)]
    others = [
        world.submit(due_in=20 * MINUTE, priority=lane)
        for lane in (Lane.HIGH, Lane.LOW)
        for _ in range(2)
    ]
    world.advance(HOUR)

    report = world.tick()
    assert (report.claimed, report.held_back) == (64, 10)
    assert slots(world, crowd) == [n * SECOND for n in range(60)]
    assert slots(world, others) == [0, SECOND] * 2


def test_tasks_that_were_held_back_are_found_by_the_next_ticks(world: World):
    paced(world, 0.1)
    ids = [world.submit(due_in=10 * MINUTE + n * MINUTE) for n in range(15)]
    world.advance(HOUR)

    for claimed, held_back in [(6, 9), (6, 3), (3, 0)]:
        report = world.tick()
        assert (report.claimed, report.held_back) == (claimed, held_back)
        world.advance(MINUTE)
        world.deliver()
    assert Counter(world.starts) == Counter(ids)


def test_a_task_that_is_held_back_is_counted_once_although_the_sweep_reads_it_too(world: World):
    paced(world, 0.0001)
    for _ in range(4):
        world.submit(due_in=10 * MINUTE)
    world.advance(HOUR)
    assert world.tick().claimed == 1, "the only slot for hours"

    assert {world.tick().held_back for _ in range(60 // SWEPT_A_TICK)} == {3}


def test_the_slots_go_on_over_ticks_and_a_late_tick_makes_up_for_nothing():
    with sqlite_world() as world:
        paced(world, 1)
        for _ in range(300):
            world.submit(due_in=10 * MINUTE)
        world.advance(HOUR)

        sent = []
        for wait in (0, 0, 20, 60, 300):
            world.advance(wait * SECOND)
            sent.append(world.tick().sent)
        assert sent == [60, 0, 20, 60, 60], "at last some of them for the second time"
        assert [d.not_before for d in world.lanes.sent[-60:]] == [
            world.clock.now() + n * SECOND for n in range(60)
        ]


def test_slices_share_the_pace():
    with sqlite_world() as world:
        paced(world, 1)
        for _ in range(100):
            world.submit(due_in=10 * MINUTE)
        world.advance(HOUR)

        assert world.scanner.tick(0, slices=2).claimed == 30


def test_lost_messages_are_sent_again_at_the_pace():
    with sqlite_world() as world:
        paced(world, 2)
        ids = [world.submit() for _ in range(600)]
        world.purge()
        world.advance(HOUR)
        started = live(world, 6 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 120


def test_lost_messages_are_sent_again_at_the_pace_though_no_tick_was_missed():
    with sqlite_world() as world:
        paced(world, 1)
        ids = [world.submit() for _ in range(300)]
        world.purge()
        started = live(world, 9 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 60


def test_watches_wait_for_a_slot_and_are_counted(world: World):
    paced(world, 0.1)
    for _ in range(10):
        world.submit()
    world.purge()
    world.advance(10 * MINUTE)

    report = world.tick()
    assert (report.watched, report.sent, report.held_back) == (6, 6, 4)
    world.store.before["get"] = lambda: pytest.fail("read, although there is no slot for it")
    report = world.tick()
    assert (report.watched, report.held_back) == (0, 4)
    world.store.before.clear()
    world.advance(MINUTE)
    assert world.tick().sent == 4


def test_a_paced_message_does_not_look_lost():
    with sqlite_world() as world:
        paced(world, 1)
        for _ in range(60):
            world.submit(due_in=10 * MINUTE)
        world.advance(HOUR)
        world.tick()

        watched_after = [d.watch.at - d.visible_at for d in world.lanes.sent]
        assert len(watched_after) == 60
        assert min(watched_after) >= 2 * MINUTE


def test_overdue_retries_keep_the_pace(world: World):
    paced(world, 1)
    world.chance.luck = 0
    world.script = lambda task, ctx: 1 / 0
    ids = [world.submit(retry=RetryPolicy(base_delay=1_800)) for _ in range(3)]
    world.deliver()
    world.lanes.sent.clear()
    world.advance(HOUR)

    report = world.tick()
    assert (report.sent, report.watched, report.held_back) == (3, 3, 0)
    assert slots(world, ids) == [0, SECOND, 2 * SECOND]


def test_runs_that_were_cut_off_are_retried_at_their_own_time(world: World):
    paced(world, 0.1)
    ids = [world.submit() for _ in range(10)]
    world.lease()
    world.advance(HOUR)

    report = world.tick()
    assert (report.watched, report.sent, report.held_back) == (10, 10, 0)
    assert {world.attempts(i)[0].outcome for i in ids} == {Outcome.LEASE_EXPIRED}
    world.advance(5 * SECOND)
    world.deliver()
    assert {world.status(i) for i in ids} == {Status.SUCCEEDED}


def test_after_a_restart_overdue_work_starts_at_once_though_its_slots_were_given_away(
    tmp_path: Path,
):
    clock = SteppedClock()
    with sqlite_world(tmp_path / "duetime.db", clock) as world:
        paced(world, 1)
        ids = [world.submit(due_in=10 * MINUTE) for _ in range(100)]
        world.advance(HOUR)
        assert world.tick().claimed == 60

    clock.advance(SECOND)
    with sqlite_world(tmp_path / "duetime.db", clock) as world:
        assert world.store.recover(WAKE_POLICY, clock.now()) == 60
        world.scanner = Scanner(world.ports, world.cursors, catch_up=1)
        started = live(world, 3 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 60
        assert min(started.values()) == clock.now() - 3 * MINUTE


def test_two_ticks_at_once_start_nothing_twice_and_at_most_double_the_pace():
    with sqlite_world() as world:
        paced(world, 1)
        ids = [world.submit(due_in=10 * MINUTE) for _ in range(200)]
        world.advance(HOUR)
        save, claims = world.cursors.save, []

        def overtaken(*args: object) -> bool:
            world.cursors.save = save
            claims.append(world.tick().claimed)
            return save(*args)

        world.cursors.save = overtaken
        claims.append(world.tick().claimed)
        assert claims == [60, 60]
        started = live(world, 4 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 120


def test_the_depth_of_a_lane_is_read_once_a_tick_and_only_for_overdue_work(world: World):
    paced(world, 100)
    asked: list[Queue] = []
    depth = world.lanes.depth
    world.lanes.depth = lambda lane: (asked.append(lane), depth(lane))[1]
    for priority in (Lane.LOW, Lane.MEDIUM):
        world.submit(due_in=HOUR, priority=priority)
    world.submit(priority=Lane.HIGH)
    world.lease()
    world.advance(HOUR)
    world.tick()  # a lost run to retry, and fresh tasks
    assert asked == []

    for _ in range(3):
        world.submit(due_in=10 * MINUTE, priority=Lane.LOW)
    world.advance(HOUR)
    world.tick()
    assert Counter(asked)[Queue(Lane.LOW)] == 1


def test_a_late_row_that_has_to_wait_is_not_left_to_the_next_sweep(world: World):
    """The sweep found it in a minute that no cursor reads again."""
    paced(world, 1)
    world.advance(8 * MINUTE)
    world.tick()
    now = world.clock.now()
    spec = a_spec(run_at=now + 10 * MINUTE)
    task = submit(WAKE_POLICY, world.chance.new_id(now), spec, now=now, draw=world.chance.draw())
    world.store.put([late(task, by=17 * MINUTE)])
    world.lanes.crowd = BACKED_UP + 1
    held_back = [world.tick().held_back for _ in range(5)]
    assert held_back[-1] == 1

    world.lanes.crowd = None
    assert world.tick().claimed == 1


def test_more_overdue_work_than_a_tick_takes_in_does_not_crowd_out_fresh_work(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("duetime.scanner.wake_reader.MAX_WAKES", 3)
    with sqlite_world() as world:
        paced(world, 100)
        for _ in range(5):
            world.submit()
        world.purge()
        world.advance(4 * MINUTE)
        fresh = world.submit(due_in=5 * MINUTE)
        # As after a restart: overdue, but in the current minute.
        assert world.store.recover(WAKE_POLICY, world.clock.now()) == 5
        world.advance(MINUTE + SECOND)
        report = world.tick()

        assert world.status(fresh) is Status.ENQUEUED
        assert (report.claimed, report.held_back, report.unfinished) == (4, 2, False)
        world.advance(MINUTE)
        assert world.tick().claimed == 2


def test_a_day_of_outage_is_worked_off_at_the_pace():
    with sqlite_world() as world:
        paced(world, 1)
        ids = [world.submit(due_in=(n + 1) * 10 * MINUTE) for n in range(130)]
        world.advance(DAY)
        started = live(world, 3 * MINUTE)

        assert started.keys() == set(ids)
        assert busiest_minute(list(started.values())) <= 60


def test_a_backlog_delays_neither_current_watches_nor_the_scanner():
    """Reading the backlog may take longer than a tick has, so it gets half of the time. Tasks that
    only wait for their slot are no reason for another tick at once."""
    with sqlite_world() as world:
        world.tick()
        paced(world, 1)
        for minute in range(600):
            world.submit(due_in=(10 + minute) * MINUTE)
        world.advance(11 * HOUR)
        lost = world.submit()
        world.lanes.port.receive(Lane.MEDIUM, 10, 0)  # by an executor that dies
        world.advance(4 * MINUTE)
        read = world.store.wakes
        world.store.wakes = lambda *args: (world.advance(100), read(*args))[1]

        first = world.tick(until=world.clock.now() + 50 * SECOND)
        again = world.tick(until=world.clock.now() + 50 * SECOND)

        assert first.claimed == 59, "sixty slots, and one of them for the lost message"
        assert [d.task_id for d in world.lanes.sent].count(lost) == 2
        assert again.claimed <= 30, "as many as there were seconds since"
        assert [first.unfinished, again.unfinished] == [False, False]
        assert min(first.held_back, again.held_back) > 0

"""Runs that could not start in time, after outages of any length: which of them run, in which
order, and how the ledger lists them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from duetime.aws.lane_queue import delay_seconds
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.schedules.late_runs import decide_late_run
from duetime.core.schedules.misfires import catch_up_span
from duetime.core.schedules.plan import Misfire, MisfirePolicy
from duetime.core.schedules.schedule import LATE
from duetime.core.schedules.start_decisions import Wait
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.executor.runs import Run
from tests.factories import a_schedule
from tests.flow.scheduling import Scheduled, after_each, every, live
from tests.world import World, moto_world, sqlite_world

SKIP, QUEUE, CANCEL, ALLOW = (
    OverlapPolicy.SKIP,
    OverlapPolicy.QUEUE,
    OverlapPolicy.CANCEL,
    OverlapPolicy.ALLOW,
)
RUN_ONCE, RUN_ALL, NONE = MisfirePolicy.RUN_ONCE, MisfirePolicy.RUN_ALL, MisfirePolicy.SKIP
SHORT = 65 * SECOND  # every run within it is a task before it begins
LONG = 12 * MINUTE + 5 * SECOND  # longer than the lookahead
GRACE = 10 * SECOND


def overlapping(*others: OverlapPolicy) -> pytest.MarkDecorator:
    """The policy SKIP, and in the long tests others."""
    long = [pytest.param(policy, marks=pytest.mark.long) for policy in others]
    return pytest.mark.parametrize("overlap", [SKIP, *long])


short_and_long = pytest.mark.parametrize(
    "length", [SHORT, pytest.param(LONG, marks=pytest.mark.long)]
)


@pytest.fixture
def world() -> Iterator[World]:
    """Most of these tests step by the second, so they run on SQLite only."""
    with sqlite_world() as world:
        yield world


@pytest.fixture
def moto(moto: tuple[Any, Any]) -> Iterator[World]:
    with moto_world(*moto) as world:
        yield world


@pytest.mark.long
@pytest.mark.parametrize("policy", [RUN_ONCE, RUN_ALL, NONE])
def test_each_policy_after_a_short_outage_on_aws(moto: World, policy: MisfirePolicy):
    scheduled = every_ten_seconds(moto, policy)
    missed, _ = outage(scheduled, SHORT)
    live(scheduled, 10 * SECOND, SECOND)

    expected = {RUN_ONCE: missed[-1:], RUN_ALL: missed, NONE: []}
    assert started(scheduled, missed) == expected[policy]


def every_ten_seconds(world: World, policy: MisfirePolicy, **plan) -> Scheduled:
    misfire = Misfire(policy=policy, grace=GRACE)
    given = {"misfire": misfire, "overlap": SKIP, **plan}
    scheduled = Scheduled(world, every(10 * SECOND, world), **given)
    live(scheduled, 30 * SECOND, SECOND)
    return scheduled


def outage(scheduled: Scheduled, length: Millis) -> tuple[list[Millis], Millis]:
    """Lets `span` pass without ticks and executors; returns the missed fire times and the end."""
    world = scheduled.world
    began = world.clock.now()
    world.advance(length)
    now = world.clock.now()
    return [at for at in range(began + 1, now - GRACE) if at % (10 * SECOND) == 0], now


def started(scheduled: Scheduled, times: list[Millis]) -> list[Millis]:
    """Returns the fire times that ran, in the order of their starts."""
    world = scheduled.world
    fire_times = {run.id: run.spec.occurrence.scheduled_for for run in scheduled.runs()}
    order = [fire_times[task_id] for task_id in world.starts if task_id in fire_times]
    assert len(order) == len(set(order))
    return [at for at in order if at in times]


def outcomes(scheduled: Scheduled, times: list[Millis]) -> set[tuple[Status | None, str | None]]:
    """Returns the status and reason of each fire time's task; None for one without a task."""
    tasks = {task.spec.occurrence.scheduled_for: task for task in scheduled.runs()}
    return {(task and task.status, task and task.reason) for task in map(tasks.get, times)}


@short_and_long
@overlapping(QUEUE, CANCEL, ALLOW)
def test_skip_runs_no_missed_run(world: World, length: Millis, overlap: OverlapPolicy):
    scheduled = every_ten_seconds(world, NONE, overlap=overlap)
    missed, _ = outage(scheduled, length)
    live(scheduled, 2 * MINUTE, SECOND)

    assert started(scheduled, missed) == []
    assert outcomes(scheduled, missed) <= {(Status.CANCELLED, "misfire"), (None, None)}
    _goes_on(scheduled)


@short_and_long
@overlapping(QUEUE, CANCEL, ALLOW)
def test_run_once_runs_the_latest_missed_run(world: World, length: Millis, overlap: OverlapPolicy):
    scheduled = every_ten_seconds(world, RUN_ONCE, overlap=overlap)
    missed, _ = outage(scheduled, length)
    live(scheduled, 2 * MINUTE, SECOND)

    assert started(scheduled, missed) == missed[-1:]
    expected = {(Status.CANCELLED, "misfire"), (None, None)}
    assert outcomes(scheduled, missed[:-1]) <= expected
    _goes_on(scheduled)


@short_and_long
@overlapping(QUEUE, CANCEL)
def test_run_all_runs_every_missed_run_in_order(
    world: World, length: Millis, overlap: OverlapPolicy
):
    scheduled = every_ten_seconds(world, RUN_ALL, overlap=overlap)
    missed, _ = outage(scheduled, length)
    live(scheduled, 4 * MINUTE, SECOND)

    assert started(scheduled, missed) == missed
    assert outcomes(scheduled, missed) == {(Status.SUCCEEDED, None)}
    _goes_on(scheduled)


@pytest.mark.parametrize("length", [SHORT, LONG])
def test_run_all_runs_every_missed_run_if_runs_may_overlap(world: World, length: Millis):
    scheduled = every_ten_seconds(world, RUN_ALL, overlap=ALLOW)
    missed, _ = outage(scheduled, length)
    live(scheduled, 4 * MINUTE, SECOND)

    assert sorted(started(scheduled, missed)) == missed
    _goes_on(scheduled)


def late_starts(world: World, length: Millis, overlap: OverlapPolicy) -> list[Millis]:
    """Returns when the missed runs started, the oldest first, at a pace of one in five seconds."""
    misfire = Misfire(policy=RUN_ALL, grace=GRACE, per_minute=12)
    scheduled = every_ten_seconds(world, RUN_ALL, misfire=misfire, overlap=overlap)
    missed, _ = outage(scheduled, length)
    live(scheduled, 8 * MINUTE, SECOND)
    tasks = {task.spec.occurrence.scheduled_for: task for task in scheduled.runs()}
    return [_started_at(tasks[at]) for at in missed]


@pytest.mark.parametrize("length", [SHORT, LONG])
def test_run_all_keeps_its_pace(world: World, length: Millis):
    starts = late_starts(world, length, SKIP)
    gaps = [later - earlier for earlier, later in pairwise(starts)]

    assert all(gap >= 5 * SECOND for gap in gaps)


@pytest.mark.parametrize("length", [SHORT, LONG])
def test_run_all_keeps_its_pace_side_by_side(world: World, length: Millis):
    """Two starts may be closer, since a run may start a little late, but none is early."""
    first, *others = late_starts(world, length, ALLOW)

    assert all(at - first >= n * 5 * SECOND for n, at in enumerate(others, 1))


def test_run_all_starts_runs_that_may_overlap_side_by_side(world: World):
    """Each starts at the pace, although none before it has ended."""
    scheduled = every_ten_seconds(world, RUN_ALL, overlap=ALLOW)
    missed, _ = outage(scheduled, SHORT)
    world.tick()
    begun: list[Run] = []
    for _ in range(len(missed) + 2):
        begun += world.lease()
        world.advance(SECOND)

    late = [run for run in begun if run.task.spec.occurrence.scheduled_for in missed]
    assert [run.task.spec.occurrence.scheduled_for for run in late] == missed
    world.record([world.executor.run_target(run) for run in begun])


@pytest.mark.parametrize("ahead", [1, 431, 1_000, 1_431, 2_500, 5_000, 600_000])
def test_a_late_run_that_waits_for_its_time_is_held_back_by_a_queue_of_whole_seconds(ahead: Millis):
    """SQS delivers a message up to two seconds early. Sent again without a delay, it would be
    received again and again until its time."""
    schedule = a_schedule(overlap=ALLOW, misfire=Misfire(policy=RUN_ALL, grace=GRACE))
    missed_at, now = schedule.next_at, schedule.next_at + HOUR
    span = catch_up_span(schedule.plan, LATE, missed_at, missed_at + 1, now + ahead)
    occurrence = Occurrence(schedule_id=schedule.id, scheduled_for=missed_at, version=1)
    decision = decide_late_run(replace(schedule, spans=(span,)), occurrence, now, 4 * MINUTE)

    assert isinstance(decision, Wait)
    held_for = delay_seconds(decision.until, now) * SECOND
    assert held_for >= max(SECOND, min(ahead, 4 * MINUTE))


def test_a_late_run_that_waits_for_its_time_does_not_grow_too_old(world: World):
    misfire = Misfire(policy=RUN_ALL, grace=GRACE, window=70 * SECOND, per_minute=4)
    scheduled = every_ten_seconds(world, RUN_ALL, misfire=misfire, overlap=ALLOW)
    missed, _ = outage(scheduled, SHORT)
    live(scheduled, 3 * MINUTE, SECOND)

    assert started(scheduled, missed) == missed


def test_run_all_runs_one_after_another_while_each_takes_long(world: World):
    """The next missed run starts when the one before it has ended, with any overlap policy."""
    scheduled = every_ten_seconds(world, RUN_ALL)
    missed, _ = outage(scheduled, SHORT)
    world.tick()
    for at in missed:
        runs = _begun(scheduled)
        assert [run.task.spec.occurrence.scheduled_for for run in runs] == [at]
        world.advance(3 * SECOND)
        assert _begun(scheduled) == []
        world.record([world.executor.run_target(run) for run in runs])
        scheduled.relay()
        world.advance(SECOND)


def test_a_late_run_is_not_skipped_for_overlap_with_another_late_one(world: World):
    """All of them are within their grace, so they were not missed: only the outage makes them
    overlap."""
    scheduled = every_ten_seconds(world, RUN_ONCE, misfire=Misfire(grace=2 * MINUTE))
    missed, now = outage(scheduled, SHORT)
    live(scheduled, 30 * SECOND, SECOND)

    assert started(scheduled, missed) == missed
    assert outcomes(scheduled, missed) == {(Status.SUCCEEDED, None)}
    first_starts = [_started_at(task) for task in scheduled.runs() if task.attempt]
    assert max(first_starts) - now < MINUTE


def test_an_occurrence_that_overlaps_a_run_is_skipped_with_that_reason(world: World):
    scheduled = every_ten_seconds(world, RUN_ONCE)
    world.advance(10 * SECOND)
    [long_run] = world.lease()
    for _ in range(3):
        world.advance(10 * SECOND)
        world.executor.renew([long_run])
        assert world.lease() == []
    world.record([world.executor.run_target(long_run)])

    reasons = [task.reason for task in scheduled.runs() if task.status is Status.CANCELLED]
    assert reasons == ["overlap"] * 3


@pytest.mark.parametrize("policy", [RUN_ONCE, RUN_ALL])
def test_a_window_skips_what_was_missed_longer_ago(world: World, policy: MisfirePolicy):
    misfire = Misfire(policy=policy, grace=GRACE, window=30 * SECOND)
    scheduled = every_ten_seconds(world, policy, misfire=misfire)
    missed, now = outage(scheduled, SHORT)
    live(scheduled, 2 * MINUTE, SECOND)

    within = [at for at in missed if at >= now - 30 * SECOND]
    assert started(scheduled, missed) == (within if policy is RUN_ALL else within[-1:])
    assert outcomes(scheduled, missed[: -len(within)]) == {(Status.CANCELLED, "misfire")}


def test_a_run_whose_message_was_lost_runs_alone(world: World):
    """The runs after it were in time, so it is the latest missed run."""
    scheduled = every_ten_seconds(world, RUN_ONCE)
    [lost] = [task for task in scheduled.runs() if task.due_at == world.clock.now() + 10 * SECOND]
    world.advance(10 * SECOND)
    world.lanes.delete(world.receive())
    live(scheduled, 6 * MINUTE, SECOND)

    assert world.status(lost.id) is Status.SUCCEEDED
    _goes_on(scheduled)


def test_a_crowded_lane_still_runs_the_latest_now_and_then(world: World):
    """Every run is too late for a long time: the latest of each batch still runs."""
    scheduled = every_ten_seconds(world, RUN_ONCE)
    for _ in range(6):
        live_late(scheduled, MINUTE)
    ran = [task for task in scheduled.runs() if task.status is Status.SUCCEEDED]

    assert len(ran) >= 3 + 5


def live_late(scheduled: Scheduled, length: Millis) -> None:
    """Delivers only once in each span."""
    world = scheduled.world
    world.tick()
    world.advance(length)
    for _ in range(5):
        world.deliver()
        scheduled.relay()


def test_a_late_run_of_a_delay_runs(world: World):
    misfire = Misfire(policy=RUN_ONCE, grace=GRACE)
    scheduled = Scheduled(world, after_each(30 * SECOND), misfire=misfire)
    world.tick()
    world.advance(5 * MINUTE)
    live(scheduled, MINUTE, SECOND)

    assert scheduled.runs()[0].status is Status.SUCCEEDED


def test_a_late_run_of_a_delay_is_skipped_and_the_chain_goes_on(world: World):
    misfire = Misfire(policy=NONE, grace=GRACE)
    scheduled = Scheduled(world, after_each(30 * SECOND), misfire=misfire)
    world.tick()
    world.advance(5 * MINUTE)
    live(scheduled, 2 * MINUTE, SECOND)

    first, second, *_ = scheduled.runs()
    assert (first.status, first.reason) == (Status.CANCELLED, "misfire")
    assert second.status is Status.SUCCEEDED


def test_jitter_is_not_lateness(world: World):
    world.chance.luck = 0.9
    scheduled = Scheduled(
        world, every(HOUR, world), jitter=600.0, misfire=Misfire(policy=NONE, grace=0)
    )
    live(scheduled, HOUR + 15 * MINUTE, 10 * SECOND)

    assert scheduled.runs()[0].status is Status.SUCCEEDED


def test_a_start_that_is_a_little_late_is_no_misfire_even_without_grace(world: World):
    scheduled = every_ten_seconds(world, NONE, misfire=Misfire(policy=NONE, grace=0))
    world.advance(13 * SECOND)
    world.deliver()

    assert started(scheduled, [world.clock.now() // 10_000 * 10_000]) != []


def test_a_pause_drops_the_late_runs_that_wait_for_their_turn(world: World):
    scheduled = every_ten_seconds(world, RUN_ALL)
    missed, _ = outage(scheduled, SHORT)
    world.tick()
    [first] = _begun(scheduled)
    scheduled.pause()
    world.record([world.executor.run_target(first)])
    scheduled.relay()
    live(scheduled, 20 * MINUTE, MINUTE)

    assert started(scheduled, missed) == missed[:1]
    assert outcomes(scheduled, missed[1:]) == {(Status.CANCELLED, "paused")}


# Runs outside the rule.


@pytest.mark.parametrize("overlap", [SKIP, QUEUE, CANCEL])
def test_backfilled_runs_wait_for_each_other_and_none_is_dropped(
    world: World, overlap: OverlapPolicy
):
    scheduled = Scheduled(world, every(HOUR, world), overlap=overlap)
    now = world.clock.now()
    scheduled.backfill(now - 5 * HOUR, now, per_minute=60.0)
    live(scheduled, 2 * MINUTE, SECOND)

    ran = [task for task in scheduled.runs() if task.status is Status.SUCCEEDED]
    assert [task.spec.occurrence.scheduled_for for task in ran] == [
        now - n * HOUR for n in (5, 4, 3, 2, 1)
    ]
    starts = [_started_at(task) for task in ran]
    assert starts == sorted(starts)


def test_a_backfilled_run_waits_for_the_run_that_goes_on(world: World):
    scheduled = every_ten_seconds(world, RUN_ONCE)
    world.advance(10 * SECOND)
    [ordinary] = world.lease()
    now = world.clock.now()
    scheduled.backfill(now - 10 * SECOND, now)
    world.tick()
    assert world.lease() == []
    world.record([world.executor.run_target(ordinary)])
    scheduled.relay()

    [filled] = world.lease()
    assert filled.task.spec.occurrence.version is None


def _begun(scheduled: Scheduled) -> list[Run]:
    """Returns the late runs that begin now; a run in time has ended before them."""
    world = scheduled.world
    late: list[Run] = []
    for _ in range(4):
        runs = world.lease()
        late += [run for run in runs if _is_late(run.task, world.clock.now())]
        world.record([world.executor.run_target(run) for run in runs if run not in late])
        scheduled.relay()
    return late


def _is_late(task: Task, now: Millis) -> bool:
    return now - task.spec.occurrence.scheduled_for > GRACE


def _started_at(task: Task) -> Millis:
    assert task.current is not None
    return task.current.started_at


def _goes_on(scheduled: Scheduled) -> None:
    """Checks that no late run is left, and that the schedule fires on time."""
    world = scheduled.world
    live(scheduled, MINUTE, SECOND)
    before = len(world.starts)
    live(scheduled, MINUTE, SECOND)

    assert len(world.starts) - before == 6
    now = scheduled.now
    assert (now.spans, now.waiting) == ((), ())
    latest = [task for task in scheduled.runs() if task.attempt][-1]
    assert replace(latest.current).drift_ms < SECOND

"""The path of a schedule: each fire time becomes exactly one task, ahead of its time."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import Recurrence
from duetime.core.results import Encoded
from duetime.core.retry import RetryPolicy
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.schedules.plan import Misfire, MisfirePolicy
from duetime.core.schedules.schedule import ScheduleStatus
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from tests.factories import SteppedClock
from tests.flow.scheduling import Scheduled, cron, every, live
from tests.world import World

ALLOW = OverlapPolicy.ALLOW


def at(text: str) -> Millis:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


def fired(scheduled: Scheduled) -> list[Millis]:
    return [at for at, outcome, _ in scheduled.rows() if outcome is LedgerOutcome.FIRED]


def test_a_rate_of_ten_seconds_fires_to_the_millisecond(world: World):
    start = world.clock.now()
    scheduled = Scheduled(world, every(10 * SECOND, world), overlap=ALLOW)
    live(scheduled, MINUTE, SECOND)

    begun = [run for run in scheduled.runs() if run.attempt]
    assert [run.spec.occurrence.scheduled_for - start for run in begun] == [
        n * 10 * SECOND for n in range(1, 7)
    ]
    assert {run.current.drift_ms for run in begun} == {0}
    assert len(world.starts) == len(set(world.starts)) == 6


def test_hourly_and_daily_schedules_fire_across_the_change_of_the_clock(world: World):
    clock = world.clock
    assert isinstance(clock, SteppedClock)
    world.advance_to(at("2027-03-27T22:30"))  # Berlin puts its clock forward at 01:00 UTC
    hourly = Scheduled(world, cron("0 * * * *", "Europe/Berlin"), overlap=ALLOW)
    daily = Scheduled(world, cron("30 2 * * *", "Europe/Berlin"), overlap=ALLOW)
    for _ in range(6 * 60):
        world.advance(MINUTE)
        world.tick()
        world.deliver()

    assert fired(hourly) == [at("2027-03-27T23:00") + n * HOUR for n in range(6)]
    assert fired(daily) == [at("2027-03-28T01:00")]  # 02:30 does not exist: at the end of the gap
    assert {run.status for run in hourly.runs()[:5]} == {Status.SUCCEEDED}


def test_occurrences_are_put_a_horizon_ahead_and_only_once(world: World):
    scheduled = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    world.tick()
    first = fired(scheduled)
    world.tick()

    assert len(first) == 4
    assert fired(scheduled) == first
    assert scheduled.now.next_at == first[-1] + MINUTE


POLICIES = [
    (Misfire(policy=MisfirePolicy.RUN_ONCE), 1),
    (Misfire(policy=MisfirePolicy.SKIP), 0),
    (Misfire(policy=MisfirePolicy.RUN_ALL, per_minute=60), 23),
    (Misfire(policy=MisfirePolicy.RUN_ALL, window=5 * HOUR), 5),
]


@pytest.mark.parametrize(("misfire", "made_up"), POLICIES)
def test_misfire_policies_after_a_day_without_a_tick(world: World, misfire: Misfire, made_up: int):
    """An hourly schedule; one of the missed runs is within the horizon before the outage."""
    scheduled = Scheduled(world, every(HOUR, world), overlap=ALLOW, misfire=misfire)
    world.advance(57 * MINUTE)
    world.tick()
    world.advance_to(scheduled.now.next_at + 23 * HOUR + 30 * MINUTE)
    for _ in range(30):
        world.advance(SECOND * 2)
        world.tick()
        world.deliver()

    rows = scheduled.rows()
    times = [time for time, _, _ in rows]
    assert times == sorted(set(times))
    assert len(times) == 25  # one before the outage, and every hour since
    skipped = [time for time, outcome, _ in rows if outcome is LedgerOutcome.SKIPPED_MISFIRE]
    missed_runs = [run for run in scheduled.runs()[1:] if run.spec.occurrence.scheduled_for]
    assert len(missed_runs) == 24 - len(skipped)
    assert made_up - 1 <= len(missed_runs) <= made_up + 1
    if misfire.policy is MisfirePolicy.RUN_ONCE:
        assert fired(scheduled)[-1] == max(times)
    starts = sorted(run.due_at for run in missed_runs)
    gaps = [b - a for a, b in pairwise(starts)]
    assert all(gap >= SECOND for gap in gaps)


def test_a_schedule_ends_with_its_last_run(world: World):
    scheduled = Scheduled(world, every(MINUTE, world), overlap=ALLOW, max_runs=6)
    live(scheduled, 10 * MINUTE, 10 * SECOND)

    assert len(scheduled.runs()) == 6
    assert scheduled.now.status is ScheduleStatus.FINISHED
    assert scheduled.id not in world.awake()


def test_backfill_goes_at_its_pace_beside_the_rule(world: World):
    scheduled = Scheduled(world, every(HOUR, world), overlap=ALLOW)
    world.advance(30 * MINUTE)
    now = world.clock.now()
    scheduled.backfill(now - 12 * HOUR, now, per_minute=2)
    live(scheduled, 8 * MINUTE, 10 * SECOND)

    filled = [run for run in scheduled.runs() if run.spec.occurrence.version is None]
    assert len(filled) == 12
    dues = sorted(run.due_at for run in filled)
    assert {b - a for a, b in pairwise(dues)} == {30 * SECOND}
    assert {run.status for run in filled} == {Status.SUCCEEDED}


# a broken schedule is set aside, and the others go on


def test_a_schedule_whose_rule_raises_is_broken_and_others_go_on(world: World):
    broken = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    sound = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    found = broken.now
    bad = Recurrence(rules=(cron("* * * * *", "Nowhere/Land"),))
    broken.replace(
        replace(found, plan=replace(found.plan, recurrence=bad), revision=found.revision + 1)
    )
    report = world.tick()

    assert report.set_aside == 1
    assert broken.now.status is ScheduleStatus.BROKEN
    assert "Nowhere" in str(broken.now.last_error)
    assert broken.rows()[0][1] is LedgerOutcome.BROKEN
    assert broken.id not in world.awake()
    assert len(fired(sound)) == 4


def test_an_occurrence_whose_task_cannot_be_built_is_noted_as_broken(world: World):
    template = {"payload": "{{scheduled_for}"}
    broken = Scheduled(world, every(MINUTE, world), task=template, overlap=ALLOW)
    sound = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    world.tick()

    assert [outcome for _, outcome, _ in broken.rows()] == [LedgerOutcome.BROKEN] * 4
    assert "not closed" in str(broken.now.last_error)
    assert broken.now.next_at == sound.now.next_at
    assert len(fired(sound)) == 4


def test_the_previous_run_is_in_the_context_and_in_the_template(world: World):
    results = iter([{"cursor": 1}, {"cursor": 2}, {"cursor": 3}])
    seen = []

    def script(task, ctx):
        seen.append((task.spec.payload, ctx.previous and ctx.previous.result))
        return next(results)

    world.script = script
    template = {"payload": {"from": "{{previous.result.cursor}}"}}
    scheduled = Scheduled(world, every(MINUTE, world), task=template)
    live(scheduled, 3 * MINUTE + SECOND, SECOND)

    assert seen == [
        ({"from": None}, None),
        ({"from": 1}, {"cursor": 1}),
        ({"from": 2}, {"cursor": 2}),
    ]


def test_schedule_that_this_machine_cannot_evaluate_now_is_not_broken(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """Its time zone is read from a file, and a process may have too many files open."""

    def no_descriptor(*_: object) -> None:
        raise OSError(24, "Too many open files")

    scheduled = Scheduled(world, cron("* * * * *", "Europe/Berlin"), overlap=ALLOW)
    with monkeypatch.context() as patch:
        patch.setattr("duetime.engine.materialise.look_ahead", no_descriptor)
        with pytest.raises(Unavailable, match="Too many open files"):
            world.tick()
    assert scheduled.now.status is ScheduleStatus.ACTIVE

    live(scheduled, 2 * MINUTE, MINUTE)
    assert len(world.starts) == 2


def test_run_that_cannot_read_its_previous_run_is_snoozed_and_uses_up_no_attempt(world: World):
    def unreachable() -> None:
        raise Unavailable("the store does not answer")

    template = {"payload": {"from": "{{previous.result}}"}, "retry": RetryPolicy(max_attempts=1)}
    scheduled = Scheduled(world, every(MINUTE, world), task=template)
    world.tick()
    world.advance(MINUTE)
    [run] = world.lease()
    world.schedules.before["ledger"] = unreachable
    world.record([world.executor.run_target(run)])

    assert world.starts == []
    assert world.task(run.task.id).status is Status.RETRYING
    [attempt] = world.attempts(run.task.id)
    assert attempt.outcome is Outcome.SNOOZED
    assert "the store does not answer" in attempt.error.message

    world.advance(5 * SECOND)
    world.deliver()
    assert scheduled.runs()[0].status is Status.SUCCEEDED


@pytest.mark.parametrize("stored", ["[" * 5_000 + "]" * 5_000, "{"], ids=["deep", "broken"])
def test_previous_result_that_cannot_be_read_is_null(world: World, stored: str):
    """An earlier release stored results of any depth."""
    seen = []

    def script(task, ctx):
        seen.append((task.spec.payload, ctx.previous and ctx.previous.result))
        return Encoded(stored)

    world.script = script
    scheduled = Scheduled(world, every(MINUTE, world), task={"payload": "{{previous.result}}"})
    live(scheduled, 2 * MINUTE + SECOND, SECOND)

    assert seen == [(None, None), (None, None)]
    assert {run.status for run in scheduled.runs()[:2]} == {Status.SUCCEEDED}


def test_the_previous_run_is_found_behind_many_that_were_skipped(world: World):
    scheduled = Scheduled(world, every(10 * SECOND, world))
    live(scheduled, 11 * SECOND, SECOND)
    [run] = [run for run in scheduled.runs() if run.status is Status.SUCCEEDED]
    world.advance(9 * SECOND)
    [long] = world.lease()
    for _ in range(20):  # the run takes minutes
        world.advance(10 * SECOND)
        world.executor.renew([long])
        if world.clock.now() % MINUTE < 10 * SECOND:
            world.tick()
        assert world.deliver() == []

    assert long.context.previous.task_id == run.id
    world.record([world.executor.run_target(long)])
    world.advance(10 * SECOND)
    [after] = world.lease()
    assert after.context.previous.task_id == long.task.id


def test_an_unreadable_schedule_stops_no_other_schedule(world: World):
    broken = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    sound = Scheduled(world, every(MINUTE, world), overlap=ALLOW)
    world.corrupt_schedule(broken.id)
    report = world.tick()

    assert report.set_aside == 1
    assert len(fired(sound)) == 4
    assert world.tick().set_aside == 0


def test_a_deleted_schedule_that_the_index_still_shows_is_skipped(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """A deleted schedule does not count as set aside, so it raises no alarm."""
    scheduled = Scheduled(world, every(MINUTE, world))
    wake = scheduled.now.wake
    world.schedules.delete(scheduled.id)
    monkeypatch.setattr(world.store, "few_wakes", lambda limit: [wake])

    assert world.tick().set_aside == 0

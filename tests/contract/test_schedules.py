"""Schedules: a writer that has read the stored revision replaces the whole schedule."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from duetime.core.change import Applied, Refused, Unreadable
from duetime.core.lanes import Lane
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import (
    CronRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    RateRule,
    Recurrence,
)
from duetime.core.schedules.plan import Misfire, MisfirePolicy
from duetime.core.schedules.ports import ScheduleAnswer, ScheduleStore
from duetime.core.schedules.schedule import Schedule, ScheduleStatus, Span
from duetime.core.times import DAY, HOUR, MINUTE
from tests.backends import Stores
from tests.factories import NOW, a_schedule, a_spec, an_id

RIVALS = 32
ROUNDS = 3
LONG = "ä" * 100_000  # 200 KB of UTF-8
PAYLOADS = pytest.mark.parametrize("payload", [None, LONG], ids=["short", "long"])


def a_full_schedule() -> Schedule:
    span = Span(
        id="b1",
        next_at=NOW - DAY,
        until=NOW,
        due_at=NOW + MINUTE,
        interval=MINUTE,
        overlap=OverlapPolicy.QUEUE,
    )
    return a_schedule(
        recurrence=Recurrence(
            rules=(
                CronRule(
                    expression="30 2 * * *",
                    timezone="Europe/Berlin",
                    gap=DstGap.SKIP,
                    overlap=DstOverlap.BOTH,
                ),
                RateRule(every=MINUTE, anchor=NOW),
            ),
            exclude=(ExcludedDates(dates=("2026-12-25",), timezone="Europe/Berlin"),),
        ),
        task=a_spec(payload={"text": "Größe 🚀"}, priority=Lane.LOW, namespace="growth", run_at=0),
        name="täglich 📦",
        starts_at=NOW - DAY,
        ends_at=NOW + DAY,
        max_runs=7,
        paused_at=NOW,
        paused_by="ada",
        jitter=1.5,
        misfire=Misfire(policy=MisfirePolicy.RUN_ALL, grace=0, window=HOUR, per_minute=0.5),
        overlap=OverlapPolicy.CANCEL,
        pause_on_failure=3,
        status=ScheduleStatus.PAUSED,
        version=4,
        updated_at=NOW + 1,
        put_at=(NOW - HOUR, NOW),
        runs=12,
        active=an_id(),
        waiting=(an_id(), an_id()),
        active_since=NOW,
        settled_until=NOW,
        awaited=an_id(),
        dead_runs=(an_id(), an_id()),
        spans=(span, replace(span, id="")),
        note="holidays — 不行",
        last_error="no such zone",
    )


def next_of(schedule: Schedule, **changes: Any) -> Schedule:
    return replace(schedule, revision=schedule.revision + 1, **changes)


def advanced(schedule: Schedule) -> Schedule:
    return next_of(schedule, next_at=NOW + 2 * HOUR, runs=schedule.runs + 1, put_at=(NOW,))


def replanned(schedule: Schedule, payload: Any) -> Schedule:
    plan = replace(schedule.plan, task=replace(schedule.plan.task, payload=payload))
    return next_of(schedule, plan=plan, version=schedule.version + 1)


def stored(schedules: ScheduleStore, schedule: Schedule) -> Schedule:
    assert schedules.put([schedule]) == [Applied(schedule)]
    return schedule


@pytest.mark.parametrize("make", [a_schedule, a_full_schedule])
def test_a_schedule_is_stored_as_it_was_given(schedules: ScheduleStore, make: Any):
    schedule = stored(schedules, make())

    assert schedules.get([schedule.id]) == {schedule.id: schedule}


def test_get_returns_what_exists(schedules: ScheduleStore):
    made = [stored(schedules, a_schedule(task=a_spec(payload=p))) for p in (None, LONG, None)]
    ids = [made[0].id, an_id(), made[1].id, made[0].id]

    assert schedules.get(ids) == {s.id: s for s in made[:2]}
    assert schedules.get([]) == {}


def test_batches_of_more_than_a_hundred(schedules: ScheduleStore):
    made = [a_schedule() for _ in range(105)]
    assert schedules.put(made) == [Applied(s) for s in made]
    later = [advanced(s) for s in made]

    assert schedules.put(later) == [Applied(s) for s in later]
    assert schedules.get([s.id for s in made]) == {s.id: s for s in later}
    assert schedules.put([]) == []


@PAYLOADS
def test_the_next_revision_replaces_the_whole_schedule(schedules: ScheduleStore, payload: Any):
    first = stored(schedules, replace(a_full_schedule(), next_at=NOW))
    second = stored(schedules, replanned(first, payload))
    bare = stored(
        schedules,
        replace(
            a_schedule(id=first.id, plan=second.plan),
            revision=3,
            next_at=None,
            wake=None,
            created_at=first.created_at,
        ),
    )

    assert schedules.get([first.id]) == {first.id: bare}


@PAYLOADS
def test_a_step_keeps_the_plan(schedules: ScheduleStore, payload: Any):
    schedule = stored(schedules, a_schedule(task=a_spec(payload=payload)))
    for _ in range(3):
        schedule = stored(schedules, advanced(schedule))

    assert schedules.get([schedule.id]) == {schedule.id: schedule}


def test_a_plan_may_change_and_change_back(schedules: ScheduleStore):
    schedule = stored(schedules, a_schedule(task=a_spec(payload=LONG)))
    for payload in ("other " * 10_000, None, LONG, LONG, {"a": 1}, LONG):
        schedule = stored(schedules, replanned(schedule, payload))
        schedule = stored(schedules, advanced(schedule))
        assert schedules.get([schedule.id]) == {schedule.id: schedule}


def test_a_change_of_namespace_moves_it(schedules: ScheduleStore):
    schedule = stored(schedules, a_schedule())
    task = replace(schedule.plan.task, namespace="growth")
    moved = stored(schedules, next_of(schedule, plan=replace(schedule.plan, task=task)))

    assert schedules.get([schedule.id]) == {schedule.id: moved}


@PAYLOADS
def test_a_revision_that_is_not_the_next_is_refused(schedules: ScheduleStore, payload: Any):
    first = stored(schedules, a_schedule(task=a_spec(payload=payload)))
    second = stored(schedules, advanced(first))

    for stale in (
        next_of(first, runs=99),
        replanned(first, "another"),
        replanned(first, LONG + "!"),
        replace(second, revision=4),
        replace(first, runs=99),
        first,
    ):
        assert schedules.put([stale]) == [Refused(second)]
    assert schedules.get([first.id]) == {first.id: second}


@PAYLOADS
def test_a_schedule_that_does_not_exist_cannot_be_replaced(schedules: ScheduleStore, payload: Any):
    schedule = a_schedule(task=a_spec(payload=payload), revision=2)

    assert schedules.put([schedule]) == [Refused(None)]
    assert schedules.get([schedule.id]) == {}


@PAYLOADS
def test_a_write_whose_answer_was_lost_is_applied_when_it_is_repeated(
    schedules: ScheduleStore, payload: Any
):
    first = a_schedule(task=a_spec(payload=payload))
    changed = replanned(first, ["another"])
    for schedule in (first, changed, advanced(changed), replanned(advanced(changed), payload)):
        for _ in range(2):
            assert schedules.put([schedule]) == [Applied(schedule)]
        assert schedules.get([first.id]) == {first.id: schedule}


def test_each_schedule_is_answered_alone_and_in_order(schedules: ScheduleStore):
    existing = [stored(schedules, a_schedule()) for _ in range(3)]
    good = [a_schedule(), advanced(existing[0]), replanned(existing[1], LONG)]
    stale = replace(advanced(existing[2]), revision=9)

    assert schedules.put([*good[:2], stale, good[2]]) == [
        Applied(good[0]),
        Applied(good[1]),
        Refused(existing[2]),
        Applied(good[2]),
    ]


@pytest.mark.parametrize("_round", range(ROUNDS))
@pytest.mark.parametrize("kind", ["create", "advance", "change"])
def test_of_many_writers_one_replaces_the_schedule(
    schedules: ScheduleStore, kind: str, _round: int
):
    base = a_schedule(task=a_spec(payload=LONG))
    if kind == "create":
        rivals = [replace(base, note=f"by {n}") for n in range(RIVALS)]
    else:
        stored(schedules, base)
        rivals = [next_of(base, note=f"by {n}") for n in range(RIVALS)]
    if kind == "change":
        rivals = [replace(r, plan=replanned(base, f"{LONG}{n}").plan) for n, r in enumerate(rivals)]

    answers = at_once(schedules, rivals)

    [winner] = [a.stored for a in answers if isinstance(a, Applied)]
    assert all(a == Refused(winner) for a in answers if not isinstance(a, Applied))
    assert schedules.get([base.id]) == {base.id: winner}


@PAYLOADS
def test_two_that_differ_in_their_plan_alone_are_not_the_same(
    schedules: ScheduleStore, payload: Any
):
    first = stored(schedules, a_schedule(task=a_spec(payload=payload)))
    second = stored(schedules, replanned(first, ["another"]))

    for other in (replanned(first, "different"), replanned(first, LONG + "!")):
        assert schedules.put([other]) == [Refused(second)]


def test_many_writers_that_retry_all_succeed(schedules: ScheduleStore):
    schedule = stored(schedules, a_schedule())

    def insist(rival: int) -> None:
        answer: ScheduleAnswer = Refused(schedule)
        while isinstance(answer, Refused):
            assert answer.stored is not None
            seen = answer.stored
            [answer] = schedules.put([next_of(seen, runs=seen.runs + 1, note=f"by {rival}")])

    with ThreadPoolExecutor(RIVALS) as threads:
        list(threads.map(insist, range(RIVALS)))

    [last] = schedules.get([schedule.id]).values()
    assert (last.runs, last.revision) == (RIVALS, RIVALS + 1)


def at_once(schedules: ScheduleStore, rivals: list[Schedule]) -> list[ScheduleAnswer]:
    start = Barrier(len(rivals))

    def go(rival: Schedule) -> ScheduleAnswer:
        start.wait()
        return schedules.put([rival])[0]

    with ThreadPoolExecutor(len(rivals)) as threads:
        return list(threads.map(go, rivals))


@PAYLOADS
def test_a_deleted_schedule_stays_deleted(schedules: ScheduleStore, payload: Any):
    gone, other = (stored(schedules, a_schedule(task=a_spec(payload=payload))) for _ in range(2))

    for _ in range(2):
        schedules.delete(gone.id)
        assert schedules.get([gone.id, other.id]) == {other.id: other}
        assert schedules.exist([gone.id, other.id]) == {other.id}
    assert schedules.put([advanced(gone)]) == [Refused(None)]
    assert schedules.put([replanned(gone, "another")]) == [Refused(None)]


def test_an_unreadable_row_is_skipped_and_logged(stores: Stores, caplog: pytest.LogCaptureFixture):
    schedules = stores.schedules
    bad, good = (stored(schedules, a_schedule()) for _ in range(2))
    stores.spoil(bad.id)

    assert schedules.get([bad.id, good.id]) == {good.id: good}
    assert [record.schedule_id for record in caplog.records] == [bad.id]
    assert schedules.exist([bad.id, good.id, "nobody"]) == {bad.id, good.id}
    [answer] = schedules.put([replace(bad, revision=7)])
    assert isinstance(answer, Unreadable)


def test_an_unreadable_schedule_may_be_replaced_and_deleted(stores: Stores):
    schedules = stores.schedules
    bad, worse = (stored(schedules, a_schedule()) for _ in range(2))
    stores.spoil(bad.id)
    stores.spoil(worse.id)
    repaired = advanced(bad)

    assert schedules.put([repaired]) == [Applied(repaired)]
    schedules.delete(worse.id)
    assert schedules.get([bad.id, worse.id]) == {bad.id: repaired}

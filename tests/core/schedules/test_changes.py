"""Create, change, pause, resume, backfill: one write each, a new version, and what is left."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DelayRule, RateRule, Recurrence
from lambdas.core.schedules.changes import backfill, broken, change, create, pause, resume
from lambdas.core.schedules.ledger import Expected, LedgerSpan
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import MISSED, ScheduleStatus, Span
from lambdas.core.times import HOUR, MINUTE, SECOND
from tests.core.schedules.draws import plans
from tests.factories import NOW, RULES, a_schedule, a_spec, an_id

HOURLY = Recurrence(rules=(RateRule(every=HOUR, anchor=NOW),))
DELAY = Recurrence(rules=(DelayRule(delay=MINUTE),))
FILL = Span(id="fill", next_at=0, until=NOW, due_at=NOW, interval=1, overlap=OverlapPolicy.ALLOW)
MADE_UP = replace(FILL, id=MISSED, next_at=NOW - 2 * HOUR, until=NOW - HOUR)


def a_plan(**fields) -> Plan:
    return Plan(**({"recurrence": HOURLY, "task": a_spec(run_at=0)} | fields))


@given(plans)
def test_a_new_schedule_wakes_a_horizon_before_its_first_fire_time(plan):
    made = create(RULES, an_id(), plan, NOW)

    assert (made.version, made.revision, made.runs) == (1, 1, 0)
    assert made.next_at is None or made.next_at > NOW
    assert (made.wake is None) == (made.next_at is None)
    if made.wake:
        assert made.wake.at == max(made.next_at - RULES.horizon, NOW)


@given(plans, plans, st.integers(0, 10 * HOUR))
def test_every_change_is_a_version_of_its_own_and_looks_ahead_only(plan, other, wait):
    made, now = create(RULES, an_id(), plan, NOW), NOW + wait
    for changed in (
        change(RULES, made, other, now),
        pause(RULES, made, now, "why"),
        resume(RULES, pause(RULES, made, now, None).schedule, now),
    ):
        after = changed.schedule
        assert after.version > made.version
        assert after.revision > made.revision
        assert after.since == now
        if after.status is ScheduleStatus.ACTIVE:
            assert after.next_at is None or after.next_at > now
        else:
            assert after.wake is None


def test_what_the_old_version_has_not_come_to_is_told():
    made = create(RULES, an_id(), a_plan(), NOW)
    now = NOW + 3 * HOUR
    [span] = change(RULES, made, a_plan(name="other"), now).notes

    assert isinstance(span, LedgerSpan)
    assert (span.start, span.until) == (NOW + HOUR, now + 1)
    assert span.outcome is Expected.SKIPPED_MISFIRE
    assert change(RULES, made, a_plan(), NOW + MINUTE).notes == ()


def test_what_passed_in_a_pause_is_told_when_it_is_over_and_no_later_than_the_schedule_ends():
    made = create(RULES, an_id(), a_plan(ends_at=NOW + 150 * MINUTE), NOW)
    paused = pause(RULES, made, NOW + MINUTE, None)
    assert paused.notes == ()
    resumed = resume(RULES, paused.schedule, NOW + 9 * HOUR)
    [span] = resumed.notes

    assert (span.start, span.until) == (NOW + HOUR, NOW + 150 * MINUTE)
    assert span.outcome is Expected.PAUSED
    assert resumed.schedule.status is ScheduleStatus.FINISHED


@pytest.mark.parametrize("how", ["pause", "change"])
def test_what_was_being_made_up_for_is_told_and_backfills_go_on(how):
    schedule = a_schedule(spans=(MADE_UP, FILL))
    if how == "pause":
        changed, outcome = pause(RULES, schedule, NOW, None), Expected.PAUSED
    else:
        changed = change(RULES, schedule, schedule.plan, NOW)
        outcome = Expected.SKIPPED_MISFIRE

    assert changed.schedule.spans == (FILL,)
    [span] = changed.notes
    assert (span.start, span.until, span.outcome) == (MADE_UP.next_at, MADE_UP.until, outcome)


def test_a_delay_goes_on_awaiting_its_run():
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited="run")
    changed = change(RULES, schedule, a_plan(recurrence=DELAY), NOW).schedule
    assert (changed.awaited, changed.next_at) == ("run", None)
    by_the_clock = change(RULES, schedule, a_plan(), NOW).schedule
    assert (by_the_clock.awaited, by_the_clock.next_at) == (None, NOW + HOUR)
    paused = pause(RULES, schedule, NOW, None).schedule
    assert resume(RULES, paused, NOW + HOUR).schedule.awaited == "run"


def test_a_paused_schedule_stays_paused_when_it_is_changed():
    paused = pause(RULES, a_schedule(), NOW, "holiday").schedule
    changed = change(RULES, paused, a_plan(), NOW + SECOND).schedule
    assert changed.status is ScheduleStatus.PAUSED
    assert pause(RULES, paused, NOW, "longer").schedule.version == paused.version


def test_resumed_it_counts_dead_runs_anew():
    paused = pause(RULES, a_schedule(dead_runs=("a",)), NOW, None).schedule
    assert resume(RULES, paused, NOW).schedule.dead_runs == ()


def test_what_is_broken_is_set_aside_with_its_error():
    aside = broken(RULES, a_schedule(spans=(FILL,)), "BadRule: no", NOW)
    assert aside.schedule.status is ScheduleStatus.BROKEN
    assert (aside.schedule.wake, aside.schedule.spans) == (None, ())
    assert aside.notes[0].error == aside.schedule.last_error == "BadRule: no"


def test_a_backfill_wakes_even_a_paused_schedule():
    paused = pause(RULES, a_schedule(), NOW, None).schedule
    filling = backfill(
        RULES,
        paused,
        "fill",
        start=NOW - HOUR,
        until=NOW,
        overlap=OverlapPolicy.SKIP,
        per_minute=6,
        now=NOW,
    )
    assert filling.version == paused.version
    assert filling.spans[0].interval == 10 * SECOND
    assert filling.wake is not None

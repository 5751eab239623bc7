"""Create, change, pause, resume, backfill: one write each, and what it records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import DelayRule, RateRule, Recurrence
from duetime.core.schedules.changes import backfill, broken, change, create, pause, resume
from duetime.core.schedules.ledger import LedgerOutcome, LedgerSpan
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import OWN_RULE, ScheduleStatus, Span
from duetime.core.times import HOUR, MINUTE, SECOND
from tests.core.schedules.strategies import plans
from tests.factories import NOW, WAKE_POLICY, a_schedule, a_spec, an_id

HOURLY = Recurrence(rules=(RateRule(every=HOUR, anchor=NOW),))
DELAY = Recurrence(rules=(DelayRule(delay=MINUTE),))
FILL = Span(id="fill", next_at=0, until=NOW, due_at=NOW, interval=1, overlap=OverlapPolicy.ALLOW)
MADE_UP = replace(FILL, id=OWN_RULE, next_at=NOW - 2 * HOUR, until=NOW - HOUR)


def a_plan(**fields) -> Plan:
    return Plan(**({"recurrence": HOURLY, "task": a_spec(run_at=0)} | fields))


@given(plans)
def test_a_new_schedule_wakes_a_horizon_before_its_first_fire_time(plan):
    made = create(WAKE_POLICY, an_id(), plan, NOW)

    assert (made.version, made.revision, made.runs) == (1, 1, 0)
    assert made.next_at is None or made.next_at > NOW
    assert (made.wake is None) == (made.next_at is None)
    if made.wake:
        assert made.wake.at == max(made.next_at - WAKE_POLICY.horizon, NOW)


@given(plans, plans, st.integers(0, 10 * HOUR))
def test_every_change_begins_a_version_with_future_fire_times_only(plan, other, wait):
    made, now = create(WAKE_POLICY, an_id(), plan, NOW), NOW + wait
    for changed in (
        change(WAKE_POLICY, made, other, now),
        pause(WAKE_POLICY, made, now, "why"),
        resume(WAKE_POLICY, pause(WAKE_POLICY, made, now, None).schedule, now),
    ):
        after = changed.schedule
        assert after.version > made.version
        assert after.revision > made.revision
        assert after.since == now
        if after.status is ScheduleStatus.ACTIVE:
            assert after.next_at is None or after.next_at > now
        else:
            assert after.wake is None


def test_change_records_the_fire_times_that_the_old_version_did_not_reach():
    made = create(WAKE_POLICY, an_id(), a_plan(), NOW)
    now = NOW + 3 * HOUR
    [span] = change(WAKE_POLICY, made, a_plan(name="other"), now).ledger_entries

    assert isinstance(span, LedgerSpan)
    assert (span.start, span.until) == (NOW + HOUR, now + 1)
    assert span.outcome is LedgerOutcome.SKIPPED_MISFIRE
    assert change(WAKE_POLICY, made, a_plan(), NOW + MINUTE).ledger_entries == ()


def test_resume_records_the_fire_times_of_the_pause_up_to_the_end_of_the_schedule():
    made = create(WAKE_POLICY, an_id(), a_plan(ends_at=NOW + 150 * MINUTE), NOW)
    paused = pause(WAKE_POLICY, made, NOW + MINUTE, None)
    assert paused.ledger_entries == ()
    resumed = resume(WAKE_POLICY, paused.schedule, NOW + 9 * HOUR)
    [span] = resumed.ledger_entries

    assert (span.start, span.until) == (NOW + HOUR, NOW + 150 * MINUTE)
    assert span.outcome is LedgerOutcome.PAUSED
    assert resumed.schedule.status is ScheduleStatus.FINISHED


@pytest.mark.parametrize("how", ["pause", "change"])
def test_change_records_what_was_being_caught_up_and_keeps_backfills(how):
    schedule = a_schedule(spans=(MADE_UP, FILL))
    if how == "pause":
        changed, outcome = pause(WAKE_POLICY, schedule, NOW, None), LedgerOutcome.PAUSED
    else:
        changed = change(WAKE_POLICY, schedule, schedule.plan, NOW)
        outcome = LedgerOutcome.SKIPPED_MISFIRE

    assert changed.schedule.spans == (FILL,)
    [span] = changed.ledger_entries
    assert (span.start, span.until, span.outcome) == (MADE_UP.next_at, MADE_UP.until, outcome)


def test_changed_delay_still_awaits_its_run():
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited="run")
    changed = change(WAKE_POLICY, schedule, a_plan(recurrence=DELAY), NOW).schedule
    assert (changed.awaited, changed.next_at) == ("run", None)
    by_the_clock = change(WAKE_POLICY, schedule, a_plan(), NOW).schedule
    assert (by_the_clock.awaited, by_the_clock.next_at) == (None, NOW + HOUR)
    paused = pause(WAKE_POLICY, schedule, NOW, None).schedule
    assert resume(WAKE_POLICY, paused, NOW + HOUR).schedule.awaited == "run"


def test_a_paused_schedule_stays_paused_when_it_is_changed():
    paused = pause(WAKE_POLICY, a_schedule(), NOW, "holiday").schedule
    changed = change(WAKE_POLICY, paused, a_plan(), NOW + SECOND).schedule
    assert changed.status is ScheduleStatus.PAUSED
    assert pause(WAKE_POLICY, paused, NOW, "longer").schedule.version == paused.version


def test_resumed_schedule_counts_dead_runs_from_zero():
    paused = pause(WAKE_POLICY, a_schedule(dead_runs=("a",)), NOW, None).schedule
    assert resume(WAKE_POLICY, paused, NOW).schedule.dead_runs == ()


def test_broken_schedule_has_its_error_and_does_not_wake():
    aside = broken(WAKE_POLICY, a_schedule(spans=(FILL,)), "BadRule: no", NOW)
    assert aside.schedule.status is ScheduleStatus.BROKEN
    assert (aside.schedule.wake, aside.schedule.spans) == (None, ())
    assert aside.ledger_entries[0].error == aside.schedule.last_error == "BadRule: no"


def test_a_backfill_wakes_even_a_paused_schedule():
    paused = pause(WAKE_POLICY, a_schedule(), NOW, None).schedule
    filling = backfill(
        WAKE_POLICY,
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

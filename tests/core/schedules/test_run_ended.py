"""How the end of a run changes its schedule; a second time it changes nothing."""

from dataclasses import replace

import pytest

from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.recurrence.rules import DelayRule, Recurrence
from duetime.core.schedules.run_ended import schedule_after_run
from duetime.core.schedules.schedule import ScheduleStatus
from duetime.core.times import MINUTE, SECOND
from tests.factories import NOW, WAKE_POLICY, a_schedule, a_spec, a_task

DELAY = Recurrence(rules=(DelayRule(delay=MINUTE),))


def over(status: Status = Status.SUCCEEDED, at=NOW + SECOND, fire_time=NOW, version=1):
    occurrence = Occurrence(
        schedule_id="s", scheduled_for=fire_time, version=version, has_follow_up=True
    )
    return a_task(spec=a_spec(occurrence=occurrence), status=status, updated_at=at, attempt=1)


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.DEAD, Status.CANCELLED])
def test_delay_counts_from_the_end_of_its_run(status):
    task = over(status)
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited=task.id)
    after = schedule_after_run(WAKE_POLICY, schedule, task, NOW + 5 * SECOND).schedule

    assert (after.next_at, after.awaited) == (NOW + SECOND + MINUTE, None)
    assert after.wake is not None
    assert schedule_after_run(WAKE_POLICY, after, task, NOW + MINUTE) is None  # the second time


def test_end_of_a_run_that_was_put_but_not_recorded_counts():
    task = over(fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=NOW, max_runs=2)
    after = schedule_after_run(WAKE_POLICY, schedule, task, NOW + SECOND).schedule

    assert (after.next_at, after.runs, after.put_at) == (NOW + SECOND + MINUTE, 1, (NOW,))


@pytest.mark.parametrize("other", [{"version": 2}, {"fire_time": NOW + 1}, {"version": None}])
def test_end_of_any_other_run_does_not_count_for_a_delay(other):
    schedule = a_schedule(recurrence=DELAY, next_at=NOW)

    assert schedule_after_run(WAKE_POLICY, schedule, over(**other), NOW + SECOND) is None


def test_the_last_run_of_a_delay_ends_it():
    task = over(fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=NOW, max_runs=1)
    after = schedule_after_run(WAKE_POLICY, schedule, task, NOW + SECOND).schedule

    assert (after.status, after.next_at, after.wake) == (ScheduleStatus.FINISHED, None, None)


def test_run_cancelled_before_its_fire_time_is_not_put_again():
    task = over(Status.CANCELLED, at=NOW - MINUTE - SECOND, fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited=task.id)

    assert schedule_after_run(WAKE_POLICY, schedule, task, NOW).schedule.next_at == NOW + 1


def test_paused_delay_has_a_next_fire_time_and_no_wake():
    task = over()
    paused = a_schedule(
        recurrence=DELAY, next_at=None, awaited=task.id, status=ScheduleStatus.PAUSED
    )
    after = schedule_after_run(WAKE_POLICY, paused, task, NOW).schedule

    assert after.status is ScheduleStatus.PAUSED
    assert after.wake is None
    assert after.awaited is None


def test_ended_run_is_no_longer_named_by_the_schedule():
    task = over()
    after = schedule_after_run(
        WAKE_POLICY, a_schedule(active=task.id, waiting=("next",)), task, NOW
    ).schedule
    assert (after.active, after.waiting) == (None, ("next",))
    after = schedule_after_run(
        WAKE_POLICY, a_schedule(active="other", waiting=(task.id,)), task, NOW
    ).schedule
    assert (after.active, after.waiting) == ("other", ())


def test_dead_runs_in_a_row_are_counted_once_each():
    first, second = over(Status.DEAD), over(Status.DEAD)
    schedule = a_schedule(pause_on_failure=2, since=NOW)
    once = schedule_after_run(WAKE_POLICY, schedule, first, NOW).schedule
    assert once.dead_runs == (first.id,)
    assert schedule_after_run(WAKE_POLICY, once, first, NOW) is None
    changed = schedule_after_run(WAKE_POLICY, once, second, NOW)

    assert changed.schedule.status is ScheduleStatus.PAUSED
    assert changed.schedule.version == schedule.version + 1
    assert "2 runs" in changed.schedule.note


def test_success_resets_the_count_of_dead_runs_and_a_cancelled_run_does_not():
    schedule = a_schedule(pause_on_failure=3, dead_runs=("a", "b"))
    assert schedule_after_run(WAKE_POLICY, schedule, over(), NOW).schedule.dead_runs == ()
    assert schedule_after_run(WAKE_POLICY, schedule, over(Status.CANCELLED), NOW) is None


def test_run_that_ended_before_a_resume_is_not_counted():
    dead = over(Status.DEAD, at=NOW)
    resumed = a_schedule(pause_on_failure=1, since=NOW + 1)

    assert schedule_after_run(WAKE_POLICY, resumed, dead, NOW + MINUTE) is None
    assert (
        schedule_after_run(WAKE_POLICY, replace(resumed, since=NOW), dead, NOW + MINUTE) is not None
    )

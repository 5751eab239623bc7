"""What follows when a run is over; however often it is said."""

from dataclasses import replace

import pytest

from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import Occurrence
from lambdas.core.recurrence.rules import DelayRule, Recurrence
from lambdas.core.schedules.ended import ended
from lambdas.core.schedules.schedule import ScheduleStatus
from lambdas.core.times import MINUTE, SECOND
from tests.factories import NOW, RULES, a_schedule, a_spec, a_task

DELAY = Recurrence(rules=(DelayRule(delay=MINUTE),))


def over(status: Status = Status.SUCCEEDED, at=NOW + SECOND, fire_time=NOW, version=1):
    occurrence = Occurrence(schedule_id="s", scheduled_for=fire_time, version=version, owes=True)
    return a_task(spec=a_spec(occurrence=occurrence), status=status, updated_at=at, attempt=1)


@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.DEAD, Status.CANCELLED])
def test_a_delay_counts_from_the_end(status):
    task = over(status)
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited=task.id)
    after = ended(RULES, schedule, task, NOW + 5 * SECOND).schedule

    assert (after.next_at, after.awaited) == (NOW + SECOND + MINUTE, None)
    assert after.wake is not None
    assert ended(RULES, after, task, NOW + MINUTE) is None  # paid twice


def test_a_run_that_nobody_could_say_was_put_counts_all_the_same():
    task = over(fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=NOW, max_runs=2)
    after = ended(RULES, schedule, task, NOW + SECOND).schedule

    assert (after.next_at, after.runs, after.put_at) == (NOW + SECOND + MINUTE, 1, (NOW,))


@pytest.mark.parametrize("other", [{"version": 2}, {"fire_time": NOW + 1}, {"version": None}])
def test_any_other_run_does_not(other):
    schedule = a_schedule(recurrence=DELAY, next_at=NOW)

    assert ended(RULES, schedule, over(**other), NOW + SECOND) is None


def test_the_last_run_of_a_delay_ends_it():
    task = over(fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=NOW, max_runs=1)
    after = ended(RULES, schedule, task, NOW + SECOND).schedule

    assert (after.status, after.next_at, after.wake) == (ScheduleStatus.FINISHED, None, None)


def test_a_run_cancelled_ahead_of_its_time_is_not_put_again():
    task = over(Status.CANCELLED, at=NOW - MINUTE - SECOND, fire_time=NOW)
    schedule = a_schedule(recurrence=DELAY, next_at=None, awaited=task.id)

    assert ended(RULES, schedule, task, NOW).schedule.next_at == NOW + 1


def test_a_paused_delay_knows_its_next_time_and_does_not_wake():
    task = over()
    paused = a_schedule(
        recurrence=DELAY, next_at=None, awaited=task.id, status=ScheduleStatus.PAUSED
    )
    after = ended(RULES, paused, task, NOW).schedule

    assert after.status is ScheduleStatus.PAUSED
    assert after.wake is None
    assert after.awaited is None


def test_it_gives_its_place_back():
    task = over()
    after = ended(RULES, a_schedule(active=task.id, waiting=("next",)), task, NOW).schedule
    assert (after.active, after.waiting) == (None, ("next",))
    after = ended(RULES, a_schedule(active="other", waiting=(task.id,)), task, NOW).schedule
    assert (after.active, after.waiting) == ("other", ())


def test_dead_runs_in_a_row_are_counted_once_each():
    first, second = over(Status.DEAD), over(Status.DEAD)
    schedule = a_schedule(pause_on_failure=2, since=NOW)
    once = ended(RULES, schedule, first, NOW).schedule
    assert once.dead_runs == (first.id,)
    assert ended(RULES, once, first, NOW) is None
    changed = ended(RULES, once, second, NOW)

    assert changed.schedule.status is ScheduleStatus.PAUSED
    assert changed.schedule.version == schedule.version + 1
    assert "2 runs" in changed.schedule.note


def test_a_success_begins_the_count_anew_and_a_cancelled_one_does_not():
    schedule = a_schedule(pause_on_failure=3, dead_runs=("a", "b"))
    assert ended(RULES, schedule, over(), NOW).schedule.dead_runs == ()
    assert ended(RULES, schedule, over(Status.CANCELLED), NOW) is None


def test_what_was_over_before_a_resumption_is_not_counted():
    dead = over(Status.DEAD, at=NOW)
    resumed = a_schedule(pause_on_failure=1, since=NOW + 1)

    assert ended(RULES, resumed, dead, NOW + MINUTE) is None
    assert ended(RULES, replace(resumed, since=NOW), dead, NOW + MINUTE) is not None

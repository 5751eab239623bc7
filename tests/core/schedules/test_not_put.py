"""not_put: the fire times of a schedule that are not tasks yet."""

from typing import Any

import pytest

from duetime.core.recurrence.rules import DelayRule, Recurrence
from duetime.core.schedules.fire_times import not_put
from duetime.core.schedules.schedule import ScheduleStatus
from duetime.core.times import HOUR, MINUTE
from tests.factories import NOW, a_schedule

DELAY = Recurrence(rules=(DelayRule(delay=10 * MINUTE),))


def minutes(start: int = 0, until: int = 30, **fields: Any) -> list[int]:
    schedule = a_schedule(**({"due_in": 10 * MINUTE} | fields))
    found = not_put(schedule, NOW + start * MINUTE, NOW + until * MINUTE)
    return [(at - NOW) // MINUTE for at in found]


def test_fire_times_begin_with_the_next_and_end_before_the_end():
    assert minutes() == [10, 15, 20, 25]


def test_fire_times_before_the_start_are_left_out():
    assert minutes(start=15) == [15, 20, 25]


def test_runs_that_are_left_limit_them():
    assert minutes(max_runs=5, runs=3) == [10, 15]
    assert minutes(max_runs=5, runs=5) == []


def test_delay_has_one_fire_time_if_that_is_known():
    assert minutes(recurrence=DELAY) == [10]
    assert minutes(recurrence=DELAY, until=10) == []
    assert minutes(recurrence=DELAY, next_at=None) == []


@pytest.mark.parametrize("status", sorted(set(ScheduleStatus) - {ScheduleStatus.ACTIVE}))
def test_schedule_that_is_not_active_has_none(status: ScheduleStatus):
    """A paused one may have a wake, for its backfill."""
    assert minutes(status=status) == []


def test_end_of_the_schedule_ends_them():
    assert minutes(ends_at=NOW + 20 * MINUTE, until=HOUR // MINUTE) == [10, 15]

"""Fire times in reverse order, from rules that can only be searched forwards."""

from itertools import islice

import pytest

from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import RateRule
from duetime.core.schedules import fire_times as times
from duetime.core.schedules.fire_times import backwards
from duetime.core.times import DAY, MINUTE, SECOND
from tests.core.recurrence.cron_cases import at, recurring

OFFICE = recurring("* 9-16 * * 1-5 *")
MONDAY = at("2026-11-16T08:57")


@pytest.mark.parametrize(
    ("recurrence", "start"),
    [
        (OFFICE, MONDAY - 3 * DAY),
        (recurring("0 9 * * 1-5"), MONDAY - 90 * DAY),
        (recurring(*[RateRule(every=SECOND, anchor=n) for n in range(10)]), MONDAY - MINUTE),
        (recurring("0 0 29 2 *"), MONDAY - 90 * DAY),
    ],
)
def test_backwards_yields_the_same_fire_times_latest_first(recurrence, start):
    ahead = list(fire_times(recurrence, start - 1, MONDAY - 1))

    assert list(backwards(recurrence, start, MONDAY)) == ahead[::-1]


@pytest.mark.parametrize(
    ("recurrence", "start", "below"),
    [
        (OFFICE, MONDAY - 14 * DAY, MONDAY),
        (recurring("* * * 1 * *"), at("2025-12-01T00:00"), at("2026-12-31T23:58")),
    ],
)
def test_last_fire_time_before_a_long_rest_is_found_without_computing_all_earlier_ones(
    recurrence, start, below, monkeypatch
):
    """Every second except at the weekend, or only in January: millions of fire times before one."""
    asked = []

    def counted(*given):
        for fires in fire_times(*given):
            asked.append(fires)
            yield fires

    monkeypatch.setattr(times, "fire_times", counted)

    (last,) = islice(backwards(recurrence, start, below), 1)

    assert last == max(asked)
    assert len(asked) < 30 * times.DENSE

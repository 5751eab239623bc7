from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core import times
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, YEAR
from tests.strategies import moments

offsets = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
datetimes = st.datetimes(
    min_value=datetime(1900, 1, 2), max_value=datetime(2200, 1, 1), timezones=offsets
)


@given(moments)
def test_time_survives_conversion_to_datetime_and_back(at):
    assert times.from_datetime(times.to_datetime(at)) == at


@given(moments)
def test_time_survives_conversion_to_text_and_back(at):
    assert times.from_datetime(datetime.fromisoformat(times.rfc3339(at))) == at


@given(datetimes)
def test_a_moment_is_never_rounded_down(moment):
    at = times.to_datetime(times.from_datetime(moment))

    assert timedelta(0) <= at - moment < timedelta(milliseconds=1)


@given(datetimes)
def test_the_same_moment_in_another_zone_is_the_same_time(moment):
    assert times.from_datetime(moment.astimezone(UTC)) == times.from_datetime(moment)


@given(moments, moments)
def test_rfc3339_text_sorts_as_time_does(one, other):
    assert (times.rfc3339(one) < times.rfc3339(other)) == (one < other)


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (7, "1970-01-01T00:00:00.007Z"),
        (1_794_820_020_120, "2026-11-16T09:07:00.120Z"),
    ],
)
def test_text_is_rfc_3339_to_the_millisecond(at, text):
    assert times.rfc3339(at) == text


@pytest.mark.parametrize(
    ("microsecond", "millis"), [(0, 0), (1, 1), (999, 1), (1000, 1), (1001, 2), (999_001, 1000)]
)
def test_a_part_of_a_millisecond_counts_as_a_whole_one(microsecond, millis):
    assert times.from_datetime(datetime(1970, 1, 1, microsecond=microsecond, tzinfo=UTC)) == millis


@given(st.integers(0, 10**9))
def test_seconds_of_whole_milliseconds_are_exact(millis):
    assert times.seconds(millis / SECOND) == millis


@pytest.mark.parametrize(
    ("unit", "length"),
    [
        (SECOND, timedelta(seconds=1)),
        (MINUTE, timedelta(minutes=1)),
        (HOUR, timedelta(hours=1)),
        (DAY, timedelta(days=1)),
        (YEAR, timedelta(days=365)),
    ],
)
def test_units_are_milliseconds(unit, length):
    assert timedelta(milliseconds=unit) == length

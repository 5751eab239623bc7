"""Statistics: counts add up by minute and by hour, in every store."""

import pytest

from duetime.core.lanes import Lane
from duetime.core.stats.counts import MAXIMA, NUMBERS, Counts, LaneCounts, total
from duetime.core.stats.ports import StatsStore
from duetime.core.times import DAY, HOUR, MINUTE
from tests.backends import Stores
from tests.factories import NOW

HOUR_START = NOW // HOUR * HOUR
FULL = Counts(
    {name: place for place, name in enumerate(sorted(NUMBERS), 1)}, dict.fromkeys(MAXIMA, 40)
)


@pytest.fixture
def stats(stores: Stores) -> StatsStore:
    return stores.stats


def row(minute: int, lane: Lane = Lane.HIGH, **numbers: int) -> LaneCounts:
    return LaneCounts(start=HOUR_START + minute * MINUTE, lane=lane, counts=Counts(numbers))


def hour(stats: StatsStore) -> list[LaneCounts]:
    return list(stats.minutes(HOUR_START, HOUR_START + HOUR).rows)


def test_counts_of_a_minute_and_lane_add_up(stats: StatsStore):
    stats.add([row(0, succeeded=1, drift3=1), row(0, Lane.LOW, failed=2)])
    stats.add([row(0, succeeded=2), row(59, DEAD=1)])

    assert hour(stats) == [
        row(0, succeeded=3, drift3=1),
        row(0, Lane.LOW, failed=2),
        row(59, DEAD=1),
    ]


def test_every_number_and_maximum_is_kept(stats: StatsStore):
    stats.add([LaneCounts(start=HOUR_START, lane=Lane.MEDIUM, counts=FULL)])

    [found] = hour(stats)
    assert found == LaneCounts(start=HOUR_START, lane=Lane.MEDIUM, counts=FULL)


def test_longest_of_several_writes_is_kept(stats: StatsStore):
    for longest in (7, 40, 12):
        counts = Counts({"drift0": 1}, {"drift_max": longest})
        stats.add([LaneCounts(start=HOUR_START, lane=Lane.HIGH, counts=counts)])

    [found] = hour(stats)
    assert found.counts == Counts({"drift0": 3}, {"drift_max": 40})


def test_minutes_are_read_from_since_to_before_until(stats: StatsStore):
    stats.add([row(minute, succeeded=1) for minute in (-61, -1, 0, 1, 59, 60)])
    page = stats.minutes(HOUR_START, HOUR_START + HOUR)

    assert list(page.rows) == [row(minute, succeeded=1) for minute in (0, 1, 59)]
    assert page.since == HOUR_START
    assert stats.minutes(HOUR_START + 2 * HOUR, HOUR_START + DAY).rows == []


def test_given_counts_are_not_changed(stats: StatsStore):
    given_row = row(0, succeeded=1)
    stats.add([given_row])
    stats.add([given_row])

    assert given_row == row(0, succeeded=1)
    assert total(each.counts for each in hour(stats)) == Counts({"succeeded": 2})


def test_hours_have_the_sums_of_their_minutes(stats: StatsStore):
    stats.add([row(-1, failed=1), row(0, succeeded=1), row(30, succeeded=2), row(60, DEAD=4)])
    page = stats.hours(HOUR_START - HOUR, HOUR_START + HOUR)

    assert list(page.rows) == [
        LaneCounts(start=HOUR_START - HOUR, lane=Lane.HIGH, counts=Counts({"failed": 1})),
        LaneCounts(start=HOUR_START, lane=Lane.HIGH, counts=Counts({"succeeded": 3})),
    ]
    assert page.since == HOUR_START - HOUR

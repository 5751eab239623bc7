import pytest

from duetime.core.lanes import Lane


def test_high_goes_before_medium_before_low():
    assert sorted(Lane, key=lambda lane: lane.rank) == [Lane.HIGH, Lane.MEDIUM, Lane.LOW]


@pytest.mark.parametrize("lane", Lane)
def test_rank_identifies_its_lane(lane):
    assert Lane.ranked(lane.rank) is lane
    assert 0 <= lane.rank <= 9  # one character of a wake key

from duetime.core.times import MINUTE
from duetime.core.wakes import minute_of
from duetime.scanner.windows import LOOK_BACK, lag, window
from tests.factories import NOW

HERE = minute_of(NOW) - LOOK_BACK  # the normal position of a cursor


def windows(shards: int) -> list:
    return [window(shard, HERE, now=NOW, horizon=4 * MINUTE) for shard in range(shards)]


def test_lag_is_that_of_the_oldest_cursor():
    assert lag(windows(3), {0: HERE, 1: HERE - 7, 2: HERE - 2}) == 7 * MINUTE
    assert lag(windows(2), {0: HERE, 1: HERE}) == 0


def test_a_slice_without_shards_does_not_lag():
    assert lag([], {}) == 0

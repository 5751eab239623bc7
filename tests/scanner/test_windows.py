from lambdas.core.times import MINUTE
from lambdas.core.wakes import minute_of
from lambdas.scanner.window import LOOK_BACK, lag, window
from tests.factories import NOW

HERE = minute_of(NOW) - LOOK_BACK  # where a cursor stands when all is well


def windows(shards: int) -> list:
    return [window(shard, HERE, now=NOW, horizon=4 * MINUTE) for shard in range(shards)]


def test_the_oldest_cursor_tells_the_lag():
    assert lag(windows(3), {0: HERE, 1: HERE - 7, 2: HERE - 2}) == 7 * MINUTE
    assert lag(windows(2), {0: HERE, 1: HERE}) == 0


def test_a_slice_without_shards_does_not_lag():
    assert lag([], {}) == 0

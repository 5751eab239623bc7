from typing import Any

from duetime.aws.cursor_store import DynamoCursorStore
from duetime.core.ports import Shards
from duetime.core.times import DAY
from tests.factories import NOW


def test_the_shard_count_only_grows(dynamodb: Any, table: str):
    def shards(configured: int, now: int) -> Shards:
        return DynamoCursorStore(dynamodb, table, shards=configured).shards(now)

    assert shards(4, NOW) == Shards(count=4, since=NOW)
    assert shards(16, NOW + DAY) == Shards(count=16, since=NOW)
    assert shards(8, NOW + DAY) == Shards(count=16, since=NOW)


def test_two_who_write_the_first_count_agree(dynamodb: Any, table: str):
    early, late = (DynamoCursorStore(dynamodb, table, shards=n) for n in (2, 2))

    early._first_config(NOW)
    late._first_config(NOW + 1)

    assert early.shards(NOW + 2) == late.shards(NOW + 2) == Shards(count=2, since=NOW)


def test_a_larger_shard_count_written_meanwhile_stays(dynamodb: Any, table: str):
    small, large = (DynamoCursorStore(dynamodb, table, shards=n) for n in (8, 16))
    DynamoCursorStore(dynamodb, table, shards=4).shards(NOW)
    large.shards(NOW)

    small._grow()

    assert small.shards(NOW).count == 16

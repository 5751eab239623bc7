from dataclasses import replace

from duetime.aws import schema
from duetime.aws.cursor_store import _read as read_dynamo
from duetime.core.ports import Chain, CursorStore, SliceState
from duetime.core.times import DAY
from duetime.sqlite.cursor_store import _read as read_sqlite
from tests.factories import NOW

FIRST = SliceState(
    fence=1,
    cursors={0: 29_913_660, 3: 29_913_000},
    swept=29_912_000,
    paced={"high": NOW, "low": NOW + 10},
    ticked_at=NOW + 20,
    backed_up={"low": 3},
    chain=Chain(id="5f3a", until=NOW + 30, slices=4),
)


def test_the_shards_are_known_since_they_were_first_asked_for(cursors: CursorStore):
    first = cursors.shards(NOW)

    assert first.count >= 1
    assert first.since == NOW
    assert cursors.shards(NOW + DAY) == first


def test_a_slice_begins_with_nothing(cursors: CursorStore):
    assert cursors.load(0) == SliceState()


def test_a_saved_state_is_loaded(cursors: CursorStore):
    assert cursors.save(2, FIRST)

    assert cursors.load(2) == FIRST
    assert cursors.load(1) == SliceState(), "every slice has its own"


def test_each_save_takes_the_next_fence(cursors: CursorStore):
    second = replace(FIRST, fence=2, swept=5)
    cursors.save(0, FIRST)

    assert cursors.save(0, second)
    assert cursors.load(0) == second


def test_a_tick_that_was_overtaken_is_refused(cursors: CursorStore):
    cursors.save(0, FIRST)
    slower = replace(FIRST, swept=1)

    assert not cursors.save(0, slower)
    assert cursors.load(0) == FIRST


def test_a_fence_from_the_future_is_refused(cursors: CursorStore):
    assert not cursors.save(0, replace(FIRST, fence=5))
    cursors.save(0, FIRST)
    assert not cursors.save(0, replace(FIRST, fence=3))
    assert cursors.load(0) == FIRST


def test_a_repeated_save_is_applied(cursors: CursorStore):
    cursors.save(0, FIRST)

    assert cursors.save(0, FIRST)


def test_a_state_of_an_earlier_version_is_read():
    text = '{"fence": 1, "cursors": {"0": 29913660}, "swept": 5}'
    row = {schema.FENCE: {"N": "1"}, schema.TEXT: {"S": text}}

    assert read_sqlite(text) == read_dynamo(row)
    assert read_sqlite(text) == SliceState(fence=1, cursors={0: 29_913_660}, swept=5)

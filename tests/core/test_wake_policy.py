import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lanes import Lane
from lambdas.core.rules import FIRST_WATCH, LONGEST_HORIZON, WATCH_SPREAD, Rules
from lambdas.core.times import MINUTE, SECOND
from lambdas.core.wakes import WakeKind, bucket_of, minute_of, shard_of
from tests.factories import NOW, RULES, a_draw
from tests.strategies import draws, lanes, moments, rules, task_ids, waits

dues = st.tuples(moments, waits, st.booleans()).map(
    lambda t: (t[0], t[0] + t[1] if t[2] else t[0] - t[1])
)


@given(rules, task_ids, lanes, dues, draws)
def test_within_the_horizon_a_watch_stands_behind_the_delivery(r, task_id, lane, due, draw):
    now, due_at = due
    wake = r.place(task_id, lane, due_at, now=now, draw=draw)

    if due_at - now > r.horizon:
        assert wake.kind is WakeKind.DISPATCH
        assert wake.at == due_at
    else:
        assert wake.kind is WakeKind.WATCH
        late = wake.at - max(due_at, now)
        assert FIRST_WATCH <= late <= FIRST_WATCH + WATCH_SPREAD


@pytest.mark.parametrize(
    ("past_the_edge", "kind"), [(-1, WakeKind.WATCH), (0, WakeKind.WATCH), (1, WakeKind.DISPATCH)]
)
@given(rules, task_ids, lanes, moments, draws)
def test_the_horizon_is_exact(past_the_edge, kind, r, task_id, lane, now, draw):
    due_at = now + r.horizon + past_the_edge

    assert r.place(task_id, lane, due_at, now=now, draw=draw).kind is kind


@given(rules, st.sampled_from(WakeKind), task_ids, lanes, dues)
def test_a_wake_is_filed_under_its_minute_but_never_under_a_past_one(r, kind, task_id, lane, due):
    now, at = due
    wake = r.wake(kind, task_id, lane, at, now=now)

    minute = max(minute_of(at), minute_of(now))
    assert wake.bucket == bucket_of(minute, shard_of(task_id, r.shards))
    assert (wake.kind, wake.lane, wake.at, wake.task_id) == (kind, lane, at, task_id)


@given(rules, task_ids, lanes, dues, draws)
def test_a_placed_wake_is_never_under_a_past_minute(r, task_id, lane, due, draw):
    now, due_at = due
    wake = r.place(task_id, lane, due_at, now=now, draw=draw)

    assert wake.bucket >= bucket_of(minute_of(now), shard_of(task_id, r.shards))


@pytest.mark.parametrize(("spread", "late"), [(0.0, 120), (0.25, 150), (0.5, 180), (0.999, 240)])
def test_first_watches_are_spread_by_the_draw_made_for_it(spread, late):
    draw = a_draw(luck=0.7, spread=spread)
    wake = RULES.first_watch("t", Lane.LOW, NOW, now=NOW, draw=draw)

    assert round((wake.at - NOW) / SECOND) == late


def test_the_numbers_of_the_design():
    assert Rules(shards=16).horizon == 4 * MINUTE
    assert LONGEST_HORIZON == 15 * MINUTE
    assert FIRST_WATCH == WATCH_SPREAD == 2 * MINUTE


@pytest.mark.parametrize("wrong", [{"shards": 0}, {"horizon": 0}, {"horizon": LONGEST_HORIZON + 1}])
def test_rules_that_cannot_work_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Rules(**{"shards": 16} | wrong)

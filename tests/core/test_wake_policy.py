import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.times import MINUTE, SECOND
from duetime.core.wake_policy import FIRST_WATCH, LONGEST_HORIZON, WATCH_SPREAD, WakePolicy
from duetime.core.wakes import WakeKind, bucket_of, minute_of, shard_of
from tests.factories import NOW, WAKE_POLICY, a_draw
from tests.strategies import draws, lanes, moments, task_ids, waits, wake_policies

dues = st.tuples(moments, waits, st.booleans()).map(
    lambda t: (t[0], t[0] + t[1] if t[2] else t[0] - t[1])
)


@given(wake_policies, task_ids, lanes, dues, draws)
def test_task_due_within_the_horizon_gets_a_watch(wake_policy, task_id, lane, due, draw):
    now, due_at = due
    wake = wake_policy.place(task_id, lane, due_at, now=now, draw=draw)

    if due_at - now > wake_policy.horizon:
        assert wake.kind is WakeKind.DISPATCH
        assert wake.at == due_at
    else:
        assert wake.kind is WakeKind.WATCH
        late = wake.at - max(due_at, now)
        assert FIRST_WATCH <= late <= FIRST_WATCH + WATCH_SPREAD


@pytest.mark.parametrize(
    ("past_the_edge", "kind"), [(-1, WakeKind.WATCH), (0, WakeKind.WATCH), (1, WakeKind.DISPATCH)]
)
@given(wake_policies, task_ids, lanes, moments, draws)
def test_the_horizon_is_exact(past_the_edge, kind, wake_policy, task_id, lane, now, draw):
    due_at = now + wake_policy.horizon + past_the_edge

    assert wake_policy.place(task_id, lane, due_at, now=now, draw=draw).kind is kind


@given(wake_policies, st.sampled_from(WakeKind), task_ids, lanes, dues)
def test_wake_is_in_the_bucket_of_its_minute_but_never_of_a_past_one(
    wake_policy, kind, task_id, lane, due
):
    now, at = due
    wake = wake_policy.wake(kind, task_id, lane, at, now=now)

    minute = max(minute_of(at), minute_of(now))
    assert wake.bucket == bucket_of(minute, shard_of(task_id, wake_policy.shards))
    assert (wake.kind, wake.lane, wake.at, wake.task_id) == (kind, lane, at, task_id)


@given(wake_policies, task_ids, lanes, dues, draws)
def test_placed_wake_is_never_in_a_past_bucket(wake_policy, task_id, lane, due, draw):
    now, due_at = due
    wake = wake_policy.place(task_id, lane, due_at, now=now, draw=draw)

    assert wake.bucket >= bucket_of(minute_of(now), shard_of(task_id, wake_policy.shards))


@pytest.mark.parametrize(("spread", "late"), [(0.0, 120), (0.25, 150), (0.5, 180), (0.999, 240)])
def test_first_watches_are_spread_by_their_draw(spread, late):
    draw = a_draw(luck=0.7, spread=spread)
    wake = WAKE_POLICY.first_watch("t", Lane.LOW, NOW, now=NOW, draw=draw)

    assert round((wake.at - NOW) / SECOND) == late


def test_the_numbers_of_the_design():
    assert WakePolicy(shards=16).horizon == 4 * MINUTE
    assert LONGEST_HORIZON == 15 * MINUTE
    assert FIRST_WATCH == WATCH_SPREAD == 2 * MINUTE


@pytest.mark.parametrize("wrong", [{"shards": 0}, {"horizon": 0}, {"horizon": LONGEST_HORIZON + 1}])
def test_wake_policy_that_cannot_work_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        WakePolicy(**{"shards": 16} | wrong)

from hypothesis import given

from lambdas.core import lease
from lambdas.core.times import SECOND
from tests.strategies import moments, waits


@given(moments, waits)
def test_a_holder_is_taken_for_dead_only_after_the_grace(lease_until, wait):
    now = lease_until + wait

    assert lease.run_out(lease_until, now) == (wait > 5 * SECOND)
    assert not lease.run_out(lease_until, lease_until - wait)


@given(moments)
def test_without_a_lease_nothing_runs_out(now):
    assert not lease.run_out(None, now)


@given(moments)
def test_a_renewed_lease_outlasts_four_heartbeats(now):
    assert lease.renewed(now) > now + 4 * lease.HEARTBEAT
    assert not lease.run_out(lease.renewed(now), now + 4 * lease.HEARTBEAT)


def test_three_missed_heartbeats_are_noticed_before_the_lease_can_pass_on():
    assert 3 * lease.HEARTBEAT < lease.LENGTH

import pytest
from hypothesis import given

from duetime.core.steps import lease
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND
from tests.factories import NOW
from tests.strategies import moments, waits


@given(moments, waits)
def test_holder_is_presumed_dead_only_after_the_grace(lease_until, wait):
    now = lease_until + wait

    assert lease.run_out(lease_until, now) == (wait > 5 * SECOND)
    assert not lease.run_out(lease_until, lease_until - wait)


@pytest.mark.parametrize(
    ("now", "dead"), [(NOW, False), (NOW + 5 * SECOND, False), (NOW + 5 * SECOND + 1, True)]
)
def test_the_grace_is_exact(now, dead):
    assert lease.run_out(NOW, now) is dead


@given(moments)
def test_without_a_lease_nothing_runs_out(now):
    assert not lease.run_out(None, now)


@given(moments)
def test_a_renewed_lease_outlasts_four_heartbeats(now):
    assert lease.renewed(now) > now + 4 * lease.HEARTBEAT
    assert not lease.run_out(lease.renewed(now), now + 4 * lease.HEARTBEAT)


def test_the_numbers_of_the_design():
    assert (lease.LENGTH, lease.HEARTBEAT) == (45 * SECOND, 10 * SECOND)
    assert (CLOCK_SKEW, lease.WATCH_AFTER) == (5 * SECOND, MINUTE)


def test_three_missed_heartbeats_are_noticed_before_the_lease_can_pass_on():
    assert 3 * lease.HEARTBEAT < lease.LENGTH

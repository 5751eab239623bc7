"""Faults reach the real roles, and the real recovery repairs them."""

from datetime import timedelta

import pytest

from duetime.testing import World
from tests.testing import shop
from tests.testing.shop import remind, restock


def test_executor_that_dies_at_the_end_of_a_handler_runs_it_again(w: World):
    w.kill_executor(during=restock)
    submission = restock.submit(items=["tea"])
    w.advance("5m")

    assert [a.outcome for a in w.attempts(submission)] == ["lease_expired", "succeeded"]
    assert (shop.seen, shop.stock) == ([1, 2], {"tea": 1})


def test_executor_that_dies_at_the_start_of_a_handler_runs_none_of_its_code(w: World):
    w.kill_executor(during="kit.restock", at="start")
    submission = restock.submit(items=["tea"])
    w.drain()

    assert [a.outcome for a in w.attempts(submission)] == ["lease_expired", "succeeded"]
    assert shop.seen == [2]


def test_executor_dies_in_attempts_of_the_named_handler_alone(w: World):
    w.kill_executor(during=restock)
    other = remind.submit(email="ada@example.com")
    w.drain()
    assert [a.outcome for a in w.attempts(other)] == ["succeeded"]


def test_lost_message_is_sent_again_by_the_scanner(w: World):
    w.lose_message()
    lost, other = remind.submit(email="ada@example.com"), remind.submit(email="bob@example.com")
    submitted_at = w.now
    w.advance("1s")
    assert (lost.status(), other.status()) == ("ENQUEUED", "SUCCEEDED")

    w.drain()

    assert lost.wait() == "ada@example.com 2027-01-01"
    assert timedelta(minutes=2) < w.now - submitted_at <= timedelta(minutes=5)


def test_purged_lanes_are_filled_again(w: World):
    submission = remind.submit(email="ada@example.com")
    assert w.purge_lanes() == 1
    w.advance("1m")
    assert submission.status() == "ENQUEUED"
    w.advance("5m")
    assert submission.status() == "SUCCEEDED"


@pytest.mark.parametrize(("ticks", "late"), [(3, False), (20, True)])
def test_task_is_late_if_more_ticks_are_missing_than_the_horizon_covers(
    w: World, ticks: int, late: bool
):
    submission = remind.submit_in("10m", email="ada@example.com")
    w.advance("5m")
    w.skip_ticks(ticks)
    w.advance("1h")
    [attempt] = w.attempts(submission)
    due_at = w.submitted(remind)[0].due_at
    assert (attempt.started_at > due_at) is late


def test_death_at_an_unknown_moment_is_refused(w: World):
    with pytest.raises(ValueError, match="start or end"):
        w.kill_executor(at="middle")  # type: ignore[arg-type]


def test_fault_that_never_happens_is_refused(w: World):
    with pytest.raises(ValueError, match="count: must be at least 1"):
        w.lose_message(0)
    with pytest.raises(ValueError, match="count: must be at least 1"):
        w.skip_ticks(-1)

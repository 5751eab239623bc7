"""The relay of the local runner leaves the ends of steps to the role that made them."""

from collections.abc import Sequence

import pytest

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.local.late_follow_ups import DELAY, LateFollowUps
from tests.local.test_activity import a_change


class Relay:
    """Records the ids of the tasks whose follow-ups are run."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ran: list[str] = []
        self.error: Exception | None = None
        self.follow_ups = LateFollowUps(self._run, clock=lambda: self.now)

    def _run(self, changes: Sequence[StatusChange]) -> None:
        if self.error:
            raise self.error
        self.ran += [change.task_id for change in changes]

    def see(self, task_id: str, before: Status, run_id: str | None = "r1") -> None:
        change = a_change(task_id=task_id, before=before, run_id=run_id, has_follow_up=True)
        self.follow_ups([change])


@pytest.fixture
def relay() -> Relay:
    return Relay()


@pytest.mark.parametrize("before", [Status.RUNNING, Status.WAITING])
def test_follow_up_of_a_step_is_put_off(relay: Relay, before: Status):
    relay.see("t1", before)
    relay.now += DELAY - 0.25
    relay.follow_ups.run_due()
    early, wait = list(relay.ran), relay.follow_ups.wait
    relay.now += 0.25
    relay.follow_ups.run_due()

    assert (early, wait) == ([], 0.25)
    assert (relay.ran, relay.follow_ups.wait) == (["t1"], None)


def test_follow_up_of_a_step_that_was_cancelled_before_it_ran_is_run_at_once(relay: Relay):
    relay.see("t1", Status.PENDING)

    assert (relay.ran, relay.follow_ups.wait) == (["t1"], None)


def test_follow_up_of_an_occurrence_is_run_at_once(relay: Relay):
    relay.see("t1", Status.RUNNING, run_id=None)

    assert (relay.ran, relay.follow_ups.wait) == (["t1"], None)


def test_follow_ups_that_fail_do_not_end_the_relay(relay: Relay, caplog: pytest.LogCaptureFixture):
    relay.see("t1", Status.RUNNING)
    relay.now += DELAY
    relay.error = ConnectionError("no answer")
    relay.follow_ups.run_due()
    relay.error = None
    relay.see("t2", Status.RUNNING)
    relay.now += DELAY
    relay.follow_ups.run_due()

    assert relay.ran == ["t2"]
    assert [record.message for record in caplog.records] == ["follow-up failed"]

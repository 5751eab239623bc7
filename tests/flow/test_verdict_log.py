"""The scanner logs the reason of each verdict on a task, at debug level."""

import logging

import pytest

from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD
from tests.world import World

WATCHED = FIRST_WATCH + WATCH_SPREAD


def reasons(caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    checked = [r for r in caplog.records if getattr(r, "step", None) == "watch"]
    return {record.task_id: record.reason for record in checked}


def test_scanner_logs_the_reason_of_each_verdict(world: World, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    orphaned = world.submit()
    world.lease()
    lost = world.submit()
    world.purge()

    world.advance(WATCHED)
    world.tick()

    assert reasons(caplog) == {orphaned: "lease run out", lost: "message not taken"}


def test_verdicts_are_not_logged_at_info_level(world: World, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    world.submit()
    world.purge()

    world.advance(WATCHED)
    world.tick()

    assert reasons(caplog) == {}

"""A world in mode "inline" runs a task before its submission returns."""

import asyncio
from collections.abc import Iterator

import pytest

from duetime import PermanentError
from duetime.testing import World, world
from tests.testing import shop
from tests.testing.shop import answer, broken, flaky, now_too, remind, sign_up, snoozes


@pytest.fixture
def w() -> Iterator[World]:
    with world(mode="inline") as opened:
        yield opened


def test_task_has_run_when_submit_returns(w: World):
    submission = remind.submit(email="ada@example.com")
    assert (submission.status(), shop.seen) == ("SUCCEEDED", ["ada@example.com"])


def test_client_returns_the_task_as_it_ended(w: World):
    target = {"type": "python", "handler": "kit.remind"}
    task = w.client.submit(target=target, payload={"email": "ada@example.com"})
    assert task["status"] == "SUCCEEDED"


def test_submit_raises_what_the_handler_raised(w: World):
    with pytest.raises(PermanentError, match="never works"):
        broken.submit()
    assert [run.status for run in w.runs(broken)] == ["DEAD"]


def test_failed_attempt_is_retried_when_time_passes(w: World):
    with pytest.raises(ValueError, match="attempt 1 fails"):
        flaky.submit(fails=1)
    w.drain()
    assert [run.status for run in w.runs(flaky)] == ["SUCCEEDED"]


def test_snoozing_handler_raises_nothing(w: World):
    assert snoozes.submit(until_attempt=1).status() == "RETRYING"


def test_delayed_task_waits_for_its_time(w: World):
    sign_up("ada@example.com")
    assert shop.seen == []
    w.advance("24h")
    assert shop.seen == ["ada@example.com"]


def test_task_that_a_handler_submits_runs_after_it_and_before_submit_returns(w: World):
    now_too.submit(name="ada@example.com")
    assert shop.seen == ["parent", "ada@example.com"]


def test_many_tasks_run_at_their_submission(w: World):
    remind.submit_many([{"email": "ada@example.com"}, {"email": "bob@example.com"}])
    assert shop.seen == ["ada@example.com", "bob@example.com"]


def test_async_submission_runs_the_task(w: World):
    async def main() -> str:
        submission = await answer.asubmit(question="why")
        return await submission.astatus()

    assert asyncio.run(main()) == "SUCCEEDED"

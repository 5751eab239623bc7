"""A world runs the real roles in virtual time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

import duetime
from duetime import Context, TaskDead, WaitTimeout, task
from duetime.handlers import registry
from duetime.testing import TooManyRuns, WaitInsideHandler, World, world
from tests.testing import shop
from tests.testing.shop import (
    answer,
    broken,
    flaky,
    isolated,
    now_too,
    order,
    parent,
    remind,
    restock,
    sign_up,
    snoozes,
    waits,
)


def test_delayed_task_runs_at_its_time_and_not_before(w: World):
    sign_up("ada@example.com")
    w.advance("23h59m59s")
    assert w.runs(remind) == []

    w.advance("1s")

    [run] = w.runs(remind)
    assert (run.status, run.result) == ("SUCCEEDED", "ada@example.com 2027-01-01")
    assert run.started_at == w.now == datetime(2027, 1, 5, 9, tzinfo=UTC)


def test_manual_world_runs_nothing_at_submission(w: World):
    submission = remind.submit(email="ada@example.com")

    assert (submission.status(), shop.seen) == ("ENQUEUED", [])


@pytest.mark.parametrize("by", [60, "1m", timedelta(minutes=1)])
def test_advance_takes_seconds_text_or_a_timedelta(w: World, by: float | str | timedelta):
    before = w.now
    w.advance(by)
    assert w.now - before == timedelta(minutes=1)


def test_advance_refuses_a_negative_span(w: World):
    with pytest.raises(ValueError, match="negative"):
        w.advance(-1)


def test_drain_jumps_over_backoffs(w: World):
    submission = flaky.submit(fails=2)
    w.drain()

    assert submission.wait() == 3
    assert [a.outcome for a in w.attempts(submission)] == ["failed", "failed", "succeeded"]
    first, second, third = (a.started_at for a in w.attempts(submission))
    assert (second - first, third - second) == (timedelta(minutes=1), timedelta(minutes=2))


def test_drain_leaves_tasks_that_are_due_later(w: World):
    before = w.now
    sign_up("ada@example.com")
    remind.submit_in("3m", email="bob@example.com")
    w.drain()
    assert (w.now, w.runs()) == (before, [])


def test_drain_runs_what_a_handler_submits_for_now(w: World):
    now_too.submit(name="ada@example.com")
    w.drain()
    assert shop.seen == ["parent", "ada@example.com"]


def test_drain_follows_a_task_that_snoozes(w: World):
    submission = snoozes.submit(until_attempt=3)
    w.drain()
    assert submission.wait() == 3
    assert w.now == datetime(2027, 1, 4, 12, tzinfo=UTC)


def test_drain_of_a_task_that_snoozes_for_ever_ends_with_an_error(
    w: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(registry, "_handlers", {**registry._handlers})

    @duetime.task("kit.never")
    def never() -> None:
        raise duetime.Snooze(30 * 24 * 3_600)

    never.submit()
    with pytest.raises(RuntimeError, match="snooze for ever"):
        w.drain()


def test_handler_that_submits_makes_tasks_of_the_world(w: World):
    parent.submit(names=["ada@example.com", "bob@example.com"])
    w.drain()
    w.assert_submitted(remind, count=2, due_in="10m")

    w.advance("10m")

    assert shop.seen == ["ada@example.com", "bob@example.com"]


def test_submission_in_a_thread_of_a_handler_is_a_child_if_the_thread_has_the_context(
    w: World, monkeypatch: pytest.MonkeyPatch
):
    """As "Submit from inside a handler" in docs/how-to/submit-from-code.md says."""
    monkeypatch.setattr(registry, "_handlers", {**registry._handlers})

    @task("kit.threads")
    async def threads(ctx: Context) -> list[str]:
        with ThreadPoolExecutor(1) as pool:
            alone = pool.submit(remind.submit, "ada@example.com").result()
            given = pool.submit(ctx.submit, remind, "ada@example.com").result()
        copied = await asyncio.to_thread(remind.submit, "ada@example.com")
        return [alone.id, given.id, copied.id]

    submission = threads.submit()
    parents = [w.client.get(task_id)["parent_id"] for task_id in submission.wait()]
    assert parents == [None, submission.id, submission.id]


def test_wait_advances_the_world_until_the_task_ends(w: World):
    submission = remind.submit_in("90d", email="ada@example.com")
    assert submission.wait() == "ada@example.com 2027-01-01"
    assert w.now == datetime(2027, 4, 4, 9, tzinfo=UTC)


def test_wait_ends_after_its_timeout_of_virtual_time(w: World):
    submission = remind.submit_in("2h", email="ada@example.com")
    with pytest.raises(WaitTimeout, match="still PENDING after 3600 s"):
        submission.wait(timeout=3_600)
    assert w.now == datetime(2027, 1, 4, 10, tzinfo=UTC)
    assert submission.wait(timeout=3_600) == "ada@example.com 2027-01-01"


def test_wait_for_a_dead_task_raises(w: World):
    with pytest.raises(TaskDead, match="never works"):
        broken.submit().wait()


def test_wait_inside_a_handler_fails_the_test_at_once(w: World):
    waits.submit()
    with pytest.raises(WaitInsideHandler, match="must not wait"):
        w.drain()
    [run] = w.runs(waits)
    assert (run.status, run.error and run.error.type) == ("DEAD", "WaitInsideHandler")


@pytest.mark.parametrize("what", ["advance", "drain", "set"])
def test_handler_cannot_move_the_clock(w: World, what: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_handlers", {**registry._handlers})

    @duetime.task(f"kit.moves_{what}")
    def moves() -> None:
        {"advance": lambda: w.advance(1), "drain": w.drain, "set": lambda: w.set(w.now)}[what]()

    moves.submit()
    with pytest.raises(WaitInsideHandler, match=what):
        w.advance(1)


def test_client_of_the_world_polls_in_virtual_time(w: World):
    submission = remind.submit_in("2s", email="ada@example.com")
    statuses = [task["status"] for task in w.client.follow(submission.id)]
    assert (statuses[0], statuses[-1]) == ("ENQUEUED", "SUCCEEDED")


def test_async_code_submits_and_waits(w: World):
    async def main() -> str:
        submission = await answer.asubmit(question="why")
        assert await submission.astatus() == "ENQUEUED"
        return await submission.await_()

    assert asyncio.run(main()) == "WHY"


def test_async_handler_runs_although_the_test_has_an_event_loop(w: World):
    async def main() -> list[str]:
        await answer.asubmit_many([{"question": "why"}, {"question": "how"}])
        w.drain()
        return [run.result for run in w.runs(answer)]

    assert asyncio.run(main()) == ["WHY", "HOW"]


def test_isolated_handler_runs_in_the_process_of_the_test(w: World):
    isolated.submit()
    w.drain()
    assert shop.seen == ["in this process"]


def test_code_under_test_that_sets_a_client_of_its_own_submits_to_the_world(w: World):
    with duetime.Client("http://127.0.0.1:1") as other, duetime.use(other):
        remind.submit(email="ada@example.com")
    w.assert_submitted(remind)


def test_after_the_world_handlers_have_the_client_that_they_had_before():
    with duetime.Client("http://127.0.0.1:1", retries=0) as other, duetime.use(other):
        with world() as w:
            remind.submit(email="ada@example.com")
            assert len(w.submitted()) == 1
        with pytest.raises(duetime.Unreachable):
            remind.submit(email="ada@example.com")


def test_same_seed_gives_the_same_ids_and_times():
    def course(seed: int) -> list[tuple[object, ...]]:
        with world(seed=seed) as w:
            remind.options(jitter="10m").submit_in("1h", email="ada@example.com")
            flaky.options(retry={"max_attempts": 3, "jitter": 60}).submit(fails=2)
            w.advance("3h")
            return [
                (run.id, *(attempt.started_at for attempt in w.attempts(run))) for run in w.runs()
            ]

    assert course(7) == course(7)
    assert course(7) != course(8)


def test_ids_come_from_the_seed_also_at_the_time_of_the_machine():
    def an_id() -> str:
        with world(start="now"):
            return remind.submit(email="ada@example.com").id[10:]  # without the time

    assert an_id() == an_id()


def test_two_worlds_share_nothing():
    with world() as first:
        sign_up("ada@example.com")
        first.http.post("https://api.shop/charge")
    with world() as second:
        assert (second.submitted(), second.runs()) == ([], [])
        assert second.http.find("POST", "https://api.shop/charge") is None


def test_more_runs_than_allowed_stop_with_an_error_that_says_what_to_do():
    with world(max_runs=10) as w:
        remind.submit_many([{"email": f"{n}@example.com"} for n in range(11)])
        with pytest.raises(TooManyRuns, match=r"more than 10 runs.*kit\.remind.*max_runs"):
            w.drain()
        assert len(shop.seen) == 10
        w.drain()
        assert len(shop.seen) == 11


def test_time_can_be_set_back_while_nothing_is_stored(w: World):
    w.set("2024-03-30T12:00+01:00")
    assert w.now == datetime(2024, 3, 30, 11, tzinfo=UTC)
    remind.submit_in("1h", email="ada@example.com")
    w.advance("1h")
    assert shop.seen == ["ada@example.com"]
    with pytest.raises(ValueError, match="cannot go back"):
        w.set("2024-03-30T12:00+01:00")


def test_time_that_is_set_ahead_leaves_late_tasks_for_the_next_advance(w: World):
    sign_up("ada@example.com")
    w.set("2027-03-01T00:00Z")
    assert w.runs() == []
    w.drain()
    [run] = w.runs()
    assert run.started_at is not None
    assert timedelta(0) <= run.started_at - datetime(2027, 3, 1, tzinfo=UTC) <= timedelta(minutes=2)


@pytest.mark.parametrize("when", ["2027-03-01T00:00", datetime(2027, 3, 1)])
def test_time_without_a_zone_is_refused(w: World, when: str | datetime):
    with pytest.raises(ValueError, match="needs a time zone"):
        w.set(when)


def test_world_can_begin_at_the_time_of_the_machine():
    with world(start="now") as w:
        assert abs(w.now - datetime.now(UTC)) < timedelta(minutes=10)
        remind.submit_at(datetime.now(UTC) + timedelta(hours=24), email="ada@example.com")
        w.assert_submitted(remind, due_in="24h", within="10m")


def test_payload_and_result_pass_through_the_annotations(w: World):
    assert order.submit(shop.Order("tea", 250)).wait() == 250
    assert remind.submit("ada@example.com", day=date(2027, 2, 3)).wait().endswith("2027-02-03")


def test_large_payload_and_result_are_read(w: World):
    items = ["x" * 1_000 for _ in range(300)]
    submission = restock.submit(items=items)
    w.drain()
    [run] = w.runs(restock)
    assert run.payload == {"items": items}
    assert submission.wait() == run.result == {"x" * 1_000: 1}


def test_interrupt_of_the_user_ends_the_test_and_not_only_the_attempt(
    w: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(registry, "_handlers", {**registry._handlers})

    @duetime.task("kit.interrupted")
    def interrupted() -> None:
        raise KeyboardInterrupt

    interrupted.submit()
    with pytest.raises(KeyboardInterrupt):
        w.advance(1)


def test_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="manual or inline"):
        world(mode="eager")  # type: ignore[arg-type]

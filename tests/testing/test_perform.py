"""`perform` runs one attempt as the executor would."""

import asyncio
from datetime import date
from typing import Any
from uuid import UUID

import pytest

import duetime
from duetime import BadPayload, Context, PermanentError, Snooze
from duetime.core.errors import BadResult
from duetime.handlers import registry
from duetime.testing import World, perform, world
from tests.testing import shop
from tests.testing.shop import (
    answer,
    broken,
    flaky,
    now_too,
    order,
    parent,
    remind,
    restock,
    snoozes,
)


@pytest.fixture(autouse=True)
def _own_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_handlers", {**registry._handlers})


def test_handler_of_each_shape_returns_its_result():
    assert perform(remind, "ada@example.com", day=date(2027, 2, 3)) == "ada@example.com 2027-02-03"
    assert perform(restock, items=["tea"]) == {"tea": 1}
    assert perform(order, shop.Order("tea", 250)) == 250
    assert perform(answer, question="why") == "WHY"


def test_async_handler_runs_inside_of_an_event_loop():
    async def main() -> str:
        return perform(answer, question="why")

    assert asyncio.run(main()) == "WHY"


def test_handler_sees_its_attempt_and_that_it_is_cancelled():
    @duetime.task("kit.sees")
    def sees(ctx: Context) -> list[Any]:
        ctx.progress(0.5)
        return [ctx.attempt, ctx.cancelled, ctx.heartbeat(), ctx.scheduled_for]

    assert perform(sees) == [1, False, True, None]
    assert perform(sees, attempt=3, cancelled=True) == [3, True, False, None]


@pytest.mark.parametrize(
    ("handler", "error"), [(broken, PermanentError), (flaky, ValueError), (snoozes, Snooze)]
)
def test_error_is_raised_as_it_is(handler: Any, error: type[Exception]):
    parameters = {flaky: {"fails": 1}, snoozes: {"until_attempt": 1}}.get(handler, {})
    with pytest.raises(error):
        perform(handler, **parameters)


def test_error_has_no_context_but_its_own():
    with pytest.raises(PermanentError) as caught:
        perform(broken)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_handler_that_submits_does_so_in_the_world_that_is_open(w: World):
    assert perform(parent, ["ada@example.com", "bob@example.com"]) == 2

    first, second = w.submitted(remind)
    w.assert_submitted(remind, email="bob@example.com", due_in="10m")
    assert w.client.get(first.id)["parent_id"] == w.client.get(second.id)["parent_id"] is not None
    w.advance("10m")
    assert [run.status for run in w.runs()] == ["SUCCEEDED", "SUCCEEDED"]


def test_each_call_is_a_task_of_its_own(w: World):
    for _ in range(2):
        perform(parent, ["ada@example.com"])
    w.assert_submitted(remind, count=2)


def test_equal_seeds_give_equal_children():
    def ids() -> list[str]:
        with world(seed=7) as w:
            perform(parent, ["ada@example.com"])
            return [task.id for task in w.submitted()]

    assert ids() == ids()


def test_children_in_an_async_test_go_to_the_world(w: World):
    async def main() -> int:
        return perform(parent, ["ada@example.com"])

    assert asyncio.run(main()) == 1
    w.assert_submitted(remind, email="ada@example.com", count=1)


def test_children_in_inline_mode_run_after_the_handler():
    with world(mode="inline") as w:
        perform(now_too, "ada@example.com")
        assert [run.status for run in w.runs(remind)] == ["SUCCEEDED"]
    assert shop.seen == ["parent", "ada@example.com"]


def test_handler_sees_the_time_of_the_world(w: World):
    @duetime.task("kit.deadline", timeout=30)
    def deadline(ctx: Context) -> str:
        return ctx.deadline.isoformat()

    assert perform(deadline) == "2027-01-04T09:00:30+00:00"


def test_submission_without_a_world_says_to_open_one():
    with pytest.raises(RuntimeError, match=r"open a world around the call: with world\(\) as w"):
        perform(parent, ["ada@example.com"])


def test_payload_that_does_not_fit_is_refused():
    with pytest.raises(BadPayload, match="items"):
        perform(restock, items=5)


def test_result_becomes_json_and_back():
    @duetime.task("kit.id")
    def new_id() -> UUID:
        return UUID(int=17)

    @duetime.task("kit.tuple")
    def a_tuple():
        return (1, 2)

    @duetime.task("kit.object")
    def an_object() -> object:
        return object()

    assert perform(new_id) == UUID(int=17)
    assert perform(a_tuple) == [1, 2]
    with pytest.raises(BadResult):
        perform(an_object)


def test_attempt_before_the_first_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        perform(answer, question="why", attempt=0)

"""Handlers that are submitted: what is sent, and what a wait returns."""

import asyncio
import pickle
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

import duetime
from duetime import (
    BadPayload,
    Problem,
    Submission,
    TaskCancelled,
    TaskDead,
    TaskExpired,
    WaitTimeout,
)
from duetime.client import Invalid
from duetime.handlers import registry
from tests.handlers import shop as handlers
from tests.handlers.conftest import Shop

AT = datetime(2027, 1, 4, 9, tzinfo=UTC)
PARCEL = handlers.Parcel(UUID(int=7), handlers.Size.LARGE, date(2026, 11, 18))


def test_handler_that_is_called_is_the_plain_function():
    assert handlers.echo({"a": 1}) == {"a": 1}
    assert handlers.order.__name__ == "order"
    assert handlers.order.name == "shop.order"
    assert handlers.restock.defaults["timeout"] == 120.0


def test_handler_is_pickled_by_its_place():
    assert pickle.loads(pickle.dumps(handlers.restock)) is handlers.restock


@pytest.mark.parametrize(
    ("submit", "result"),
    [
        (lambda: handlers.parcel.submit(PARCEL), PARCEL),
        (lambda: handlers.restock.submit(items=["tea"]), {"tea": 1}),
        (lambda: handlers.restock.submit(items=["tea"], dry_run=True), {"tea": 0}),
        (lambda: handlers.count.submit([{"name": "tea", "at": AT}]), [AT]),
        (lambda: handlers.count.submit(rows=[], sizes={handlers.Size.SMALL}), []),
        (
            lambda: handlers.order.submit(handlers.Order(orderNumber=1, at=AT)),
            handlers.Order(orderNumber=1, at=AT),
        ),
        (lambda: handlers.echo.submit({"any": [1, None]}), {"any": [1, None]}),
        (lambda: handlers.more.submit(2, a=date(2027, 1, 1)), ["2", "a 2027"]),
        (handlers.more.submit, ["1"]),
    ],
)
def test_wait_returns_the_result_in_its_type(any_shop: Shop, submit: Any, result: Any):
    assert submit().wait(timeout=60) == result


def test_submission_sends_what_the_caller_gives_and_no_default(shop: Shop):
    handlers.restock.submit(items=["tea"])
    handlers.restock.submit_in("24h", items=["tea"])
    handlers.restock.submit_in(timedelta(seconds=5), items=["tea"])
    handlers.restock.submit_at(AT, items=["tea"])
    handlers.restock.options(priority="high", key="order-17", timeout="5m").submit(items=["tea"])

    plain = {
        "target": {"type": "python", "handler": "shop.restock"},
        "payload": {"items": ["tea"]},
    }
    assert shop.bodies() == [
        plain,
        plain | {"delay": 86_400.0},
        plain | {"delay": 5.0},
        plain | {"run_at": "2027-01-04T09:00:00+00:00"},
        plain | {"priority": "high", "idempotency_key": "order-17", "timeout": 300.0},
    ]


def test_payload_is_the_json_of_the_annotated_values(shop: Shop):
    handlers.parcel.submit(PARCEL)
    handlers.count.submit([{"name": "tea", "at": AT}], sizes={handlers.Size.SMALL})

    assert [body["payload"] for body in shop.bodies()] == [
        {"id": str(UUID(int=7)), "size": "l", "sent": "2026-11-18"},
        {"rows": [{"name": "tea", "at": "2027-01-04T09:00:00Z"}], "sizes": ["s"]},
    ]


@pytest.mark.parametrize(
    ("call", "field", "reason"),
    [
        (handlers.restock.submit, "items", "is required by handler 'shop.restock'"),
        (
            lambda: handlers.restock.submit(items=[], itms=[]),
            "itms",
            "is not a parameter of handler 'shop.restock'",
        ),
        (lambda: handlers.restock.submit(items=["a", 1]), "items.1", "must be text"),
        (lambda: handlers.restock.submit(items="tea"), "items", "must be a list"),
        (
            lambda: handlers.restock.submit(["tea"]),
            "",
            "handler 'shop.restock' takes 0",
        ),
        (lambda: handlers.more.submit(1, first=2), "first", "is given twice"),
        (lambda: handlers.more.submit(a="soon"), "a", "input should be a valid date"),
        (lambda: handlers.parcel.submit({"size": "xl"}), "id", "field required"),
        (handlers.parcel.submit, "", "handler 'shop.parcel' takes one value"),
        (
            lambda: handlers.count.submit([{"name": "tea", "at": datetime(2027, 1, 4, 9)}]),
            "rows",
            "a datetime needs a time zone",
        ),
        (lambda: handlers.restock.submit_many([{"items": []}, {"items": 1}]), "items", "must be"),
        (lambda: handlers.restock.submit_many([["tea"]]), "", "the payload must be an object"),
    ],
)
def test_call_that_does_not_fit_raises_and_sends_nothing(
    shop: Shop, call: Any, field: str, reason: str
):
    with pytest.raises(BadPayload) as caught:
        call()
    assert caught.value.field == field
    assert caught.value.reason.startswith(reason)
    assert shop.requests == []


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda h: h.submit_at(datetime(2027, 1, 4, 9), items=[]), ValueError),
        (lambda h: h.submit_at("2027-01-04T09:00Z", items=[]), TypeError),
        (lambda h: h.submit_in(-1, items=[]), ValueError),
        (lambda h: h.submit_in("-1h", items=[]), ValueError),
        (lambda h: h.submit_in("tomorrow", items=[]), ValueError),
        (lambda h: h.submit_in(float("inf"), items=[]), ValueError),
        (lambda h: h.submit_in(True, items=[]), TypeError),
        (lambda h: h.options(prio="high"), TypeError),
        (lambda h: h.options(key="a").submit_many([{"items": []}]), ValueError),
    ],
)
def test_bad_time_or_option_is_refused_and_nothing_is_sent(shop: Shop, call: Any, error: Any):
    with pytest.raises(error):
        call(handlers.restock)
    assert shop.requests == []


def test_submit_many_sends_100_with_each_request_and_answers_in_order(shop: Shop):
    payloads: list[Any] = [{"items": [str(n)]} for n in range(150)]
    answers = handlers.restock.options(tags={"run": "1"}).submit_many(iter(payloads))

    assert [len(body["tasks"]) for _, body in shop.requests] == [100, 50]
    assert [a.wait() for a in answers if isinstance(a, Submission)] == [
        {str(n): 1} for n in range(150)
    ]


def test_submit_many_returns_the_problem_of_a_refused_task(shop: Shop):
    (problem,) = handlers.restock.options(priority="urgent").submit_many([{"items": []}])  # type: ignore[typeddict-item]
    assert isinstance(problem, Problem)
    assert problem.status == 422
    assert [error.field for error in problem.errors] == ["priority"]
    assert "priority" in str(problem)


def test_wait_for_a_dead_task_raises_with_its_error(shop: Shop):
    with pytest.raises(TaskDead, match="PermanentError: no tea") as caught:
        handlers.fails.submit().wait()
    assert caught.value.task["status"] == "DEAD"


def test_wait_for_a_cancelled_and_for_an_expired_task_raises(shop: Shop):
    cancelled = handlers.restock.submit_in(60, items=[])
    shop.client.cancel(cancelled.id)
    with pytest.raises(TaskCancelled):
        cancelled.wait()

    soon = datetime.fromtimestamp(shop.world.clock.now() / 1000 + 1, UTC)
    expired = handlers.restock.options(expires_at=soon).submit(items=[])
    shop.world.advance(5_000)
    with pytest.raises(TaskExpired):
        expired.wait()


def test_wait_that_ends_before_its_task_raises_a_timeout(shop: Shop):
    submission = handlers.restock.submit_in("1h", items=[])
    with pytest.raises(TimeoutError) as caught:
        submission.wait(timeout=3)
    assert isinstance(caught.value, WaitTimeout)
    assert caught.value.task["id"] == submission.id
    assert submission.status() in ("PENDING", "ENQUEUED")


def test_submission_is_found_again_by_its_id(shop: Shop):
    submitted = handlers.parcel.submit(PARCEL)
    assert handlers.parcel.submission(submitted.id).wait() == PARCEL


def test_async_code_submits_and_waits(shop: Shop):
    async def run() -> list[Any]:
        first = await handlers.restock.asubmit(items=["tea"])
        later = await handlers.restock.asubmit_in(1, items=["salt"])
        at = await handlers.parcel.asubmit_at(AT - timedelta(days=400), PARCEL)
        many = await handlers.restock.options(priority="high").asubmit_many([{"items": []}])
        assert await first.astatus() == "ENQUEUED"
        return [await s.await_(60) for s in (first, later, at, *many) if isinstance(s, Submission)]

    assert asyncio.run(run()) == [{"tea": 1}, {"salt": 1}, PARCEL, {}]


def test_async_client_that_is_in_use_is_awaited(shop: Shop):
    class AsyncShop:
        async def submit(self, **fields: Any) -> Any:
            return {"id": fields["payload"]["items"][0]}

    async def run() -> str:
        with duetime.use(AsyncShop()):  # type: ignore[type-var]
            return (await handlers.restock.asubmit(items=["tea"])).id

    assert asyncio.run(run()) == "tea"


# the executor's side


@pytest.mark.parametrize(
    ("handler", "payload", "message"),
    [
        ("shop.restock", {"items": ["a", 1]}, "items.1: must be text"),
        ("shop.restock", None, "items: is required by handler 'shop.restock'"),
        ("shop.restock", {"items": [], "x": 1}, "x: is not a parameter of handler 'shop.restock'"),
        ("shop.restock", [], "the payload must be an object with the parameters"),
        ("shop.order", {"order": {"orderNumber": "many", "at": "2027-01-04T09:00Z"}}, "order."),
        ("shop.parcel", {"id": "7", "size": "l", "sent": "2026-11-18"}, "id: input should be"),
    ],
)
def test_stored_payload_that_does_not_fit_fails_the_task_for_good(
    any_shop: Shop, handler: str, payload: Any, message: str
):
    stored = any_shop.client.submit(target={"type": "python", "handler": handler}, payload=payload)
    task = any_shop.client.wait(stored["id"])

    assert (task["status"], task["attempt"]) == ("DEAD", 1)
    assert task["error"]["type"] == "BadPayload"  # type: ignore[index]
    assert task["error"]["message"].startswith(message)  # type: ignore[index]
    assert task["error"]["traceback"] is None  # type: ignore[index]


def test_result_that_does_not_fit_its_annotation_fails_the_task_for_good(shop: Shop):
    with pytest.raises(TaskDead, match=r"BadResult: result\.tea: must be a whole number"):
        handlers.wrong.submit(items=["tea"]).wait()


def test_field_names_and_aliases_of_a_model_are_both_read(shop: Shop):
    target = {"type": "python", "handler": "shop.order"}
    for name in ("orderNumber", "number"):
        payload = {"order": {name: 3, "at": "2027-01-04T09:00:00Z"}}
        stored = shop.client.submit(target=target, payload=payload)
        assert shop.client.wait(stored["id"])["status"] == "SUCCEEDED"


def test_context_outside_of_a_handler_is_refused():
    with pytest.raises(RuntimeError, match="inside a running handler only"):
        duetime.context()


# defaults


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"priority": "low", "timeout": 120.0, "tags": {"team": "tea"}}),
        ({"priority": "high", "timeout": 9}, {"priority": "high", "timeout": 9.0}),
        ({"tags": {"run": "1"}}, {"tags": {"team": "tea", "run": "1"}}),
        ({"tags": {"team": "me"}}, {"tags": {"team": "me"}}),
    ],
)
def test_task_by_name_has_the_callers_fields_then_the_handlers(
    any_shop: Shop, given: Any, expected: Any
):
    target = {"type": "python", "handler": "shop.restock"}
    task = any_shop.client.submit(target=target, payload={"items": []}, **given)
    assert {name: task[name] for name in expected} == expected  # type: ignore[literal-required]


@pytest.mark.parametrize(
    ("given", "limits", "fairness_key"),
    [
        ({}, [("stripe", None)], "money"),
        ({"limits": [{"name": "stripe", "key": "acct-7"}]}, [("stripe", "acct-7")], "money"),
        ({"limits": [], "fairness_key": "me"}, [], "me"),
    ],
)
def test_limits_of_a_task_are_the_callers_then_the_handlers(
    any_shop: Shop, given: Any, limits: Any, fairness_key: str
):
    any_shop.client.limits.put("stripe", rate={"count": 5, "period": 1})

    submitted = handlers.charge.options(**given).submit("acct-7")

    task = any_shop.client.get(submitted.id)
    assert [(use["name"], use["key"]) for use in task["limits"]] == limits
    assert task["fairness_key"] == fairness_key


def test_limit_of_a_handler_must_exist(shop: Shop):
    with pytest.raises(Invalid, match=r"limits\.0\.name: there is no limit 'stripe'"):
        handlers.charge.submit("acct-7")


def test_retry_policy_of_a_task_is_filled_in_field_by_field(shop: Shop):
    target = {"type": "python", "handler": "shop.restock"}
    task = shop.client.submit(target=target, payload={"items": []}, retry={"base_delay": 7})
    assert task["retry"] == {
        **{"max_attempts": 3, "base_delay": 7.0, "multiplier": 2.0},
        **{"max_delay": 3600.0, "jitter": 0.5},
    }


def test_every_task_of_a_batch_has_the_defaults(shop: Shop):
    target = {"type": "python", "handler": "shop.restock"}
    (result,) = shop.client.submit_batch([{"target": target, "payload": {"items": []}}])
    assert result["task"]["priority"] == "low"


def test_runs_of_a_schedule_have_the_defaults(any_shop: Shop):
    target = {"type": "python", "handler": "shop.restock"}
    task: Any = {"target": target, "payload": {"items": ["tea"]}, "tags": {"run": "1"}}
    created = any_shop.client.schedules.create(rule={"type": "rate", "every": 60}, task=task)
    stored = any_shop.client.schedules.trigger(created["id"])

    assert (stored["priority"], stored["timeout"]) == ("low", 120.0)
    assert stored["tags"] == {"team": "tea", "run": "1"}
    assert stored["retry"]["max_attempts"] == 3


def test_registry_has_the_defaults_of_each_handler():
    known = registry.defaults()
    assert known["shop.restock"] == {
        "priority": "low",
        "retry": {"max_attempts": 3},
        "timeout": 120.0,
        "tags": {"team": "tea"},
    }
    assert known["shop.echo"] == {}

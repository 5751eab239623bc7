"""AsyncClient sends what Client sends, and returns what it returns."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from duetime.client import (
    ApiError,
    AsyncClient,
    AsyncDeadLetters,
    AsyncLimits,
    AsyncSchedules,
    BadArgument,
    NotFound,
    Throttled,
    Unreachable,
    WaitTimeout,
)
from duetime.client.system import AsyncSystem
from duetime.core.ids import is_id
from tests.client.scripted_server import Script, ok
from tests.client.test_submissions import OWN, REFUSED, Echo

HELLO = {"type": "python", "handler": "demo.hello"}
RULE = {"type": "rate", "every": 60}
FIELDS = {"rule": RULE, "task": {"target": HELLO}}
TASK = ok({"id": "t1", "status": "SUCCEEDED"})
NO_MORE = ok({"items": [{"id": "b"}], "next_cursor": None})
PAGES = (ok({"items": [{"id": "a"}], "next_cursor": "1"}), NO_MORE)
PART = {"matched": 2, "changed": 1, "not_changed": [{"id": "a", "reason": "it runs"}]}
BULK = (ok({**PART, "next_cursor": "1"}), ok({**PART, "next_cursor": None}))
PURGED = {"matched": 2, "removed": 2, "dry_run": False}
PURGE = (ok({**PURGED, "next_cursor": "1"}), ok({**PURGED, "next_cursor": None}))
REDRIVEN = {"redriven": 1, "not_redriven": [], "dry_run": False}
REDRIVE = (ok({**REDRIVEN, "next_cursor": "1"}), ok({**REDRIVEN, "next_cursor": None}))
STORED = ok({"results": [{"status": 201, "task": {"id": "t1"}}]})
RUNNING = ok({"id": "t1", "status": "RUNNING"})

RATE = {"count": 5, "period": timedelta(minutes=1)}
LIMIT = ok({"name": "stripe"})

CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any], tuple[httpx.Response, ...]]] = {
    "submit": ((), {"target": HELLO, "id": "i"}, (ok({"id": "i"}, 201),)),
    "submit_once": ((), {"target": HELLO, "id": "i"}, (ok({"id": "i"}),)),
    "submit_batch": (([{"target": HELLO, "id": "i"}],), {}, (STORED,)),
    "submit_many": (([{"target": HELLO, "id": "i"}],), {}, (STORED,)),
    "get": (("t1",), {}, (TASK,)),
    "cancel": (("t1",), {}, (TASK,)),
    "change": (("t1",), {"delay": 5}, (TASK,)),
    "run": (("t1",), {}, (TASK,)),
    "retry": (("t1",), {}, (TASK,)),
    "complete": (("t1",), {"result": {"ok": True}}, (TASK,)),
    "cancel_many": ((), {"tag": "team:growth"}, BULK),
    "retry_many": ((), {"namespace": "shop", "dry_run": True}, BULK),
    "shift_many": ((), {"by": 60, "key": "k", "namespace": "shop"}, BULK),
    "attempts": (("t1",), {}, PAGES),
    "payload": (("t1",), {}, (ok([1]),)),
    "result": (("t1",), {}, (ok([1]),)),
    "page": ((), {"status": ["DEAD"], "limit": 3}, (NO_MORE,)),
    "list": ((), {"tag": {"team": "growth"}}, PAGES),
    "follow": (("t1",), {"poll": 1}, (RUNNING, TASK)),
    "wait": (("t1",), {"timeout": 9}, (RUNNING, TASK)),
    "purge": ((), {"older_than": 0}, PURGE),
    "purge_in_parts": ((), {"older_than": 0, "namespace": "shop"}, PURGE),
    "forecast": ((), {"hours": 2, "by": "lane"}, (ok({"minutes": []}),)),
    "stats": ((), {"window": "2h", "step": 300, "lane": "high"}, (ok({"series": []}),)),
    "slo": ((), {}, (ok({"lanes": []}),)),
    "quota": (("shop",), {}, (ok({"namespace": "shop"}),)),
    "lanes": ((), {}, (ok({"items": [{"lane": "high"}], "next_cursor": None}),)),
    "health": ((), {}, (ok({"status": "ok"}),)),
    "me": ((), {}, (ok({"actor": None}),)),
    "stuck": ((), {"namespace": "shop", "limit": 5}, (ok({"items": []}),)),
    "handlers": ((), {}, (ok({"items": [{"name": "a"}], "next_cursor": None}),)),
    "workers": ((), {}, (ok({"items": [{"name": "gpu-1"}], "next_cursor": None}),)),
    "dead_letters.groups": ((), {"handler": "a", "cursor": "c"}, (ok({"items": []}),)),
    "dead_letters.page": ((), {"error_type": "E"}, (NO_MORE,)),
    "dead_letters.list": ((), {"namespace": "shop"}, PAGES),
    "dead_letters.redrive": ((), {"everything": True}, REDRIVE),
    "dead_letters.redrive_in_parts": ((), {"ids": ["a", "b"]}, REDRIVE[1:]),
    "dead_letters.discard": ((), {"everything": True}, BULK),
    "limits.put": (("stripe",), {"rate": RATE, "namespace": "n"}, (LIMIT,)),
    "limits.get": (("a/b",), {"key": "k"}, (LIMIT,)),
    "limits.page": ((), {"namespace": "*", "limit": 3}, (NO_MORE,)),
    "limits.list": ((), {"key": "k"}, PAGES),
    "limits.delete": (("stripe",), {"drain": True}, (httpx.Response(204),)),
    "schedules.create": ((), {"idempotency_key": "k", **FIELDS}, (ok({"id": "s"}, 201),)),
    "schedules.create_once": ((), FIELDS, (ok({"id": "s"}),)),
    "schedules.get": (("s",), {}, (ok({"id": "s"}),)),
    "schedules.get_by_name": (("a/b",), {"namespace": "n"}, (ok({"id": "s"}),)),
    "schedules.put": (("daily",), FIELDS, (ok({"id": "s"}, 201),)),
    "schedules.delete_by_name": (("daily",), {}, (httpx.Response(204),)),
    "schedules.sync": (([],), {"app": "a", "prune": True}, (ok({"generation": 7}), ok({}))),
    "schedules.generation": (("shop",), {}, (ok({"generation": 7}, 201),)),
    "schedules.detach": (("s",), {}, (ok({"id": "s"}),)),
    "schedules.page": ((), {"status": "active"}, (NO_MORE,)),
    "schedules.list": ((), {"namespace": "shop"}, PAGES),
    "schedules.update": (("s",), FIELDS, (ok({"id": "s"}),)),
    "schedules.delete": (("s",), {}, (httpx.Response(204),)),
    "schedules.pause": (("s", "a move"), {}, (ok({"id": "s"}),)),
    "schedules.resume": (("s",), {}, (ok({"id": "s"}),)),
    "schedules.trigger": (("s",), {}, (ok({"id": "t"}, 201),)),
    "schedules.trigger_once": (("s",), {"idempotency_key": "k"}, (ok({"id": "t"}),)),
    "schedules.backfill": (("s",), {"start": "a", "until": "b"}, (ok({"fire_times": 2}),)),
    "schedules.upcoming": (("s",), {"count": 2}, (ok({"fire_times": []}),)),
    "schedules.preview": ((), {"rule": RULE, "count": 2}, (ok({"fire_times": []}),)),
    "schedules.ledger_page": (("s",), {"limit": 2}, (NO_MORE,)),
    "schedules.ledger": (("s",), {}, PAGES),
}
OTHERS = {"url", "aclose"}


def test_every_method_is_compared() -> None:
    of = [("", AsyncClient), ("", AsyncSystem), ("schedules.", AsyncSchedules)]
    of += [("dead_letters.", AsyncDeadLetters), ("limits.", AsyncLimits)]
    names = {f"{n}{name}" for n, kind in of for name in vars(kind) if not name.startswith("_")}
    assert set(CALLS) == names - OTHERS


def seen(script: Script) -> list[Any]:
    return [
        (request.method, str(request.url), request.content, sorted(request.headers.items()))
        for request in script.asked
    ]


def value_of(result: Any) -> Any:
    return [*result] if inspect.isgenerator(result) else result


async def async_value_of(result: Any) -> Any:
    return [item async for item in result] if inspect.isasyncgen(result) else await result


def find(client: Any, name: str) -> Any:
    for part in name.split("."):
        client = getattr(client, part)
    return client


async def no_pause(_seconds: float) -> None:
    """Takes no time."""


@pytest.mark.parametrize("name", CALLS)
def test_async_client_sends_and_returns_the_same(name: str) -> None:
    given, options, answers = CALLS[name]
    script, async_script = Script(*answers), Script(*answers)
    still: Any = {"clock": lambda: 0.0}

    client = script.client(sleep=lambda _: None, **still)
    expected = value_of(find(client, name)(*given, **options))
    found = run(async_script, lambda c: async_value_of(find(c, name)(*given, **options)), **still)

    assert found == expected
    assert seen(async_script) == seen(script)
    assert len(script.asked) == len(answers)


def run(script: Script, call: Callable[[AsyncClient], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with script.async_client(**{"sleep": no_pause, **options}) as client:
            return await call(client)

    return asyncio.run(main())


def test_async_submission_without_an_answer_is_sent_again_with_its_id() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    busy = httpx.Response(503, json={"title": "Try again"}, headers={"retry-after": "7"})
    script = Echo(REFUSED, busy, ok({"id": OWN}, 201))

    task = run(script, lambda c: c.submit(target=HELLO), retries=3, sleep=sleep, chance=lambda: 1.0)

    assert is_id(task["id"])
    assert {json.loads(request.content)["id"] for request in script.asked} == {task["id"]}
    assert slept == [0.2, 7.0]


def test_async_submissions_are_in_their_order_whatever_ends_first() -> None:
    """The first batch is answered last."""
    sizes: list[int] = []

    class Server(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            tasks = json.loads(await request.aread())["tasks"]
            sizes.append(len(tasks))
            if tasks[0]["name"] == "0":
                while len(sizes) < 3:
                    await asyncio.sleep(0)
            return ok({"results": [{"status": 201, "task": {"id": t["name"]}} for t in tasks]})

    async def main() -> Any:
        async with AsyncClient("http://duetime.test", transport=Server()) as client:
            tasks = ({"target": HELLO, "name": str(n)} for n in range(250))
            return await client.submit_many(tasks, concurrency=2)  # type: ignore[arg-type]

    results = asyncio.run(main())

    assert [result["task"]["id"] for result in results] == [str(n) for n in range(250)]
    assert sizes == [100, 100, 50]


def test_async_submissions_stop_at_an_error() -> None:
    script = Script(httpx.Response(401, json={"title": "No", "status": 401}))

    with pytest.raises(ApiError, match=r"^No$"):
        run(script, lambda c: c.submit_many([{"target": HELLO}] * 1_000, concurrency=1))
    assert len(script.asked) == 1


def test_async_submissions_that_are_under_way_end_with_an_error() -> None:
    ended: list[str] = []

    class Server(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if json.loads(await request.aread())["tasks"][0]["name"] == "100":
                return httpx.Response(401, json={"title": "No", "status": 401})
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("first")
            raise AssertionError

    async def main() -> None:
        async with AsyncClient("http://duetime.test", transport=Server()) as client:
            tasks: Any = ({"target": HELLO, "name": str(n)} for n in range(200))
            with pytest.raises(ApiError):
                await client.submit_many(tasks, concurrency=2)
            assert ended == ["first"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(404, json={"title": "Not found", "status": 404}), NotFound),
        (httpx.Response(429, json={"message": "Too Many Requests"}), Throttled),
        (httpx.ConnectError("no"), Unreachable),
    ],
)
def test_async_call_raises_the_same_errors(answer: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        run(Script(answer), lambda c: c.get("t1"))


def test_async_value_that_json_lacks_is_refused_before_it_is_sent() -> None:
    script = Script(ok({}))

    with pytest.raises(BadArgument, match=r"^payload: bytes are not JSON"):
        run(script, lambda c: c.submit(target=HELLO, payload=b"x"))
    assert script.asked == []


def test_async_wait_times_out() -> None:
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    with pytest.raises(TimeoutError, match="t1 is still RUNNING after 3 s") as caught:
        run(Script(RUNNING), lambda c: c.wait("t1", timeout=3), sleep=sleep, clock=lambda: now[0])
    assert isinstance(caught.value, WaitTimeout)
    assert now == [3.0]


def test_list_that_is_left_early_reads_no_further_page() -> None:
    script = Script(*PAGES)

    async def first(client: AsyncClient) -> Any:
        async for task in client.list():
            return task
        return None

    assert run(script, first) == {"id": "a"}
    assert len(script.asked) == 1

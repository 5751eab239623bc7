"""Live updates over real sockets: the handshake, and both clients."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from duetime.client import AsyncClient, Client
from duetime.handlers.context import Context
from duetime.handlers.registry import task
from tests.live_service import LiveService

PATIENCE = 60.0
HELLO = '{"op": "hello", "version": 1}'
ECHO: Any = {"target": {"type": "python", "handler": "live.echo"}}


@task("live.echo")
def echo(payload: Any, ctx: Context) -> Any:
    ctx.progress(0.5, "half")
    return payload


@pytest.fixture
def service() -> Iterator[LiveService]:
    with closing(LiveService()) as service:
        yield service


def socket_url(service: LiveService, path: str = "/v1/live") -> str:
    return service.url.replace("http", "ws", 1) + path


def refusal(url: str, **headers: str) -> tuple[int, Any]:
    with pytest.raises(InvalidStatus) as refused:
        connect(url, additional_headers=headers, proxy=None)
    response = refused.value.response
    return response.status_code, json.loads(response.body)


def test_handshake_of_a_foreign_page_is_refused(service: LiveService):
    url = socket_url(service)

    status, problem = refusal(url, origin="https://evil.example")
    assert (status, problem["type"]) == (403, "urn:duetime:problem:foreign")
    with connect(url, origin=service.url, proxy=None) as own:  # type: ignore[arg-type]
        own.send(HELLO)
        assert json.loads(own.recv(PATIENCE))["type"] == "hello"


def test_handshake_with_a_foreign_host_is_refused(service: LiveService):
    """A name that was made to point to this machine."""
    port = service.url.rpartition(":")[2]
    upgrade = {
        "host": f"evil.example:{port}",
        "connection": "upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    answer = httpx.get(f"{service.url}/v1/live", headers=upgrade, trust_env=False)

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:duetime:problem:foreign")


def test_only_v1_live_is_a_websocket(service: LiveService):
    assert refusal(socket_url(service, "/v1/tasks"))[0] == 404
    answer = httpx.get(f"{service.url}/v1/live", trust_env=False)
    assert (answer.status_code, answer.headers["upgrade"]) == (426, "websocket")


def test_ticket_of_the_api_opens_the_socket_once(service: LiveService):
    ticket = httpx.post(f"{service.url}/v1/live/tickets", trust_env=False).json()

    with connect(ticket["url"], proxy=None) as opened:
        opened.send(HELLO)
        assert json.loads(opened.recv(PATIENCE))["type"] == "hello"
    status, problem = refusal(ticket["url"])
    assert (status, problem["title"]) == (403, "The ticket is not valid")


def test_handshake_without_a_ticket_is_refused_where_one_is_required():
    with closing(LiveService(ticket_required=True)) as service:
        assert refusal(socket_url(service))[0] == 401


def test_message_that_is_far_too_long_closes_the_connection(service: LiveService):
    with connect(socket_url(service), proxy=None) as hostile:
        hostile.send("x" * 100_000)
        with pytest.raises(ConnectionClosed) as closed:
            hostile.recv(PATIENCE)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_client_iterates_over_changes(service: LiveService):
    with Client(service.url) as client:
        stored = client.submit(**ECHO)
        changes = client.live(task_id=stored["id"], reread=PATIENCE)
        assert next(changes)["status"] == "ENQUEUED"
        service.run_due()
        found = list(changes)

    assert (found[-1]["status"], found[-1]["outcome"]) == ("SUCCEEDED", "succeeded")


def test_client_gets_the_progress_of_a_task(service: LiveService):
    with Client(service.url) as client:
        stored = client.submit(**ECHO)
        changes = client.live(task_id=stored["id"], reread=PATIENCE)
        next(changes)
        service.live.hub.notify = lambda change: None  # type: ignore[method-assign]
        service.run_due()
        change = next(changes)

    assert change["progress"] == {"fraction": 0.5, "message": "half"}


def test_client_that_stops_to_iterate_closes_its_socket(service: LiveService):
    with Client(service.url) as client:
        stored = client.submit(**ECHO)
        changes = client.live(task_id=stored["id"])
        next(changes)
        [connection] = service.live.hub._connections
        changes.close()  # type: ignore[attr-defined]

    async def closed() -> None:
        await asyncio.wait_for(connection.closed.wait(), PATIENCE)

    loop = service.live.hub._loop
    assert loop is not None
    asyncio.run_coroutine_threadsafe(closed(), loop).result(PATIENCE)


def test_client_is_right_after_a_restart(service: LiveService):
    """It learns of what has changed while there was no server."""
    with Client(service.url, chance=lambda: 0.1) as client:
        stored = client.submit(**ECHO)
        changes = client.live(task_id=stored["id"], reread=1_000, poll=0.1)
        next(changes)
        service.stop()
        service.run_due()
        service.start()
        found = list(changes)

    assert found[-1]["status"] == "SUCCEEDED"


def test_client_finds_what_was_not_pushed(service: LiveService):
    service.silent = True
    with Client(service.url) as client:
        stored = client.submit(**ECHO)
        changes = client.live(task_id=stored["id"], reread=0.05)
        next(changes)
        service.run_due()
        found = list(changes)

    assert (found[-1]["status"], found[-1]["outcome"]) == ("SUCCEEDED", None)


def test_async_client_iterates_over_changes(service: LiveService):
    async def follow() -> list[str]:
        async with AsyncClient(service.url) as client:
            stored = await client.submit(**ECHO)
            found = []
            async for change in client.live(task_id=stored["id"], reread=PATIENCE):
                found.append(change["status"])
                if change["status"] == "ENQUEUED":
                    await asyncio.to_thread(service.run_due)
            return found

    assert asyncio.run(asyncio.wait_for(follow(), PATIENCE))[-1] == "SUCCEEDED"


def test_async_client_is_right_after_a_restart(service: LiveService):
    async def follow() -> list[str]:
        async with AsyncClient(service.url, chance=lambda: 0.1) as client:
            stored = await client.submit(**ECHO)
            found = []
            async for task in client.live.task(stored["id"]):
                found.append(task["status"])
                if task["status"] == "ENQUEUED":
                    await asyncio.to_thread(service.stop)
                    service.run_due()
                    service.start()
            return found

    assert asyncio.run(asyncio.wait_for(follow(), PATIENCE))[-1] == "SUCCEEDED"

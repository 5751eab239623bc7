"""`duetime.fastapi`: the clients of an app, and dependencies."""

import asyncio
import time
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from fastapi import Body, Depends, FastAPI, WebSocket
from fastapi.testclient import TestClient

from duetime import AsyncClient, task
from duetime.client import current
from duetime.core.webhook_signatures import key_of, signature_headers
from duetime.fastapi import client, lifespan, verified
from duetime.handlers import registry
from duetime.testing import world

SECRET = "whsec_c2hvcC1ob29rLXNlY3JldC0xMjM0"


@pytest.fixture(autouse=True)
def nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUETIME_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(registry, "_handlers", {})


@pytest.fixture
def hook() -> Iterator[TestClient]:
    app = FastAPI()

    @app.post("/hook")
    async def receive(
        task_id: Annotated[str, Depends(verified(SECRET, tolerance=60))],
        body: Annotated[dict[str, Any], Body()],
    ) -> dict[str, Any]:
        return {"task": task_id, **body}

    with TestClient(app) as browser:
        yield browser


def post(
    hook: TestClient, *, secret: str = SECRET, ago: int = 0, signed: bytes = b'{"a":1}'
) -> Any:
    sent_at = int(time.time()) - ago
    headers = signature_headers([key_of(secret)], "01T", sent_at, signed)
    headers["content-type"] = "application/json"
    return hook.post("/hook", content=b'{"a":1}', headers=headers)


def test_signed_request_gets_its_task_id_and_its_body(hook: TestClient) -> None:
    assert post(hook).json() == {"task": "01T", "a": 1}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"secret": "whsec_b3RoZXI="}, "does not match"),
        ({"signed": b'{"a":2}'}, "does not match"),
        ({"ago": 120}, "60 s away"),
    ],
)
def test_request_that_is_not_signed_so_gets_401(
    hook: TestClient, given: dict[str, Any], reason: str
) -> None:
    answer = post(hook, **given)
    assert answer.status_code == 401
    assert reason in answer.json()["detail"]


def test_request_without_a_signature_gets_401(hook: TestClient) -> None:
    answer = hook.post("/hook", json={"a": 1})
    assert (answer.status_code, answer.json()["detail"]) == (
        401,
        "the request has no header webhook-id",
    )


@pytest.mark.parametrize("secret", ["", b"", "whsec_", "whsec_?"])
def test_secret_that_is_none_is_refused_at_the_start(secret: str | bytes) -> None:
    with pytest.raises(ValueError, match="the secret"):
        verified(secret)


def an_app() -> FastAPI:
    app = FastAPI(lifespan=lifespan)

    @task("shop.greet")
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    @app.get("/async")
    async def asynchronous() -> str:
        return (await greet.asubmit("Ada")).id

    @app.get("/plain")
    def plain() -> str:
        return greet.submit("Ada").id

    @app.get("/url")
    async def url(found: Annotated[AsyncClient, Depends(client)]) -> str:
        return found.url

    @app.websocket("/socket")
    async def socket(websocket: WebSocket, found: Annotated[AsyncClient, Depends(client)]) -> None:
        await websocket.accept()
        await websocket.send_text(found.url)

    return app


def test_dependency_is_the_client_of_the_app() -> None:
    app = an_app()
    with TestClient(app) as browser:
        assert browser.get("/url").json() == app.state.duetime.url == "http://127.0.0.1:1"
        with browser.websocket_connect("/socket") as connected:
            assert connected.receive_text() == "http://127.0.0.1:1"


def test_dependency_without_the_lifespan_says_what_is_missing() -> None:
    browser = TestClient(an_app())  # not entered, so its lifespan has not begun
    with pytest.raises(RuntimeError, match=r"lifespan=duetime\.fastapi\.lifespan"):
        browser.get("/url")


def test_handlers_use_the_clients_of_the_app_until_it_ends() -> None:
    app = FastAPI()

    async def within() -> tuple[Any, Any]:
        async with lifespan(app):
            return current.async_client(), current.sync_client()

    before = current.sync_client()
    asynchronous, plain = asyncio.run(within())
    assert asynchronous is app.state.duetime
    assert plain.url == asynchronous.url
    assert plain is not before
    assert current.sync_client() is before


def test_app_submits_to_the_world_of_a_test() -> None:
    with world() as w, TestClient(an_app()) as browser:
        ids = [browser.get("/async").json(), browser.get("/plain").json()]
        assert browser.get("/url").json() == w.async_client.url
        w.drain()
        assert [w.client.get(each)["result"] for each in ids] == ["Hello, Ada!"] * 2

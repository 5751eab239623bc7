"""Duetime in a FastAPI application: one client for the app, and a check for signed requests.

from duetime.fastapi import client, lifespan, verified

app = FastAPI(lifespan=lifespan)

@app.post("/hook")
async def hook(task_id: Annotated[str, Depends(verified(SECRET))]) -> None: ...
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from fastapi.requests import HTTPConnection, Request

from duetime.client.async_client import AsyncClient
from duetime.client.client import Client
from duetime.client.current import clients_in_test, use_in_process
from duetime.core.webhook_signatures import key_of
from duetime.webhooks import BadSignature, verify

__all__ = ["client", "lifespan", "verified"]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Opens the clients of the app, which read DUETIME_URL, for as long as it runs:
    `FastAPI(lifespan=lifespan)`, or `async with lifespan(app)` in a lifespan of your own.

    `app.state.duetime` is an AsyncClient, which `asubmit` of every handler uses. `submit`, in plain
    endpoints, uses a Client."""
    async with AsyncClient() as opened:
        with Client() as plain, use_in_process(opened, plain):
            app.state.duetime = opened
            yield


async def client(connection: HTTPConnection) -> AsyncClient:
    """Returns the client of the app, as a dependency: `Depends(client)`. In a test it is the client
    of the test's world."""
    for found in (*clients_in_test(), getattr(connection.app.state, "duetime", None)):
        if isinstance(found, AsyncClient):
            return found
    raise RuntimeError("the app has no client: FastAPI(lifespan=duetime.fastapi.lifespan)")


def verified(secret: str | bytes, *, tolerance: float = 300) -> Callable[[Request], Awaitable[str]]:
    """Returns a dependency that checks the signature of a request and returns the id of its task.
    A request that Duetime has not signed with this secret gets 401.

    Args:
        secret: The value of the secret that `sign` of the `http` task names. Raises ValueError if
            it is empty, or begins with `whsec_` and is not Base64 after that.
        tolerance: How many seconds the request may be old, or ahead of this machine's clock.
    """
    key = key_of(secret)

    async def check(request: Request) -> str:
        try:
            return verify(request.headers, await request.body(), key, tolerance)
        except BadSignature as error:
            raise HTTPException(401, str(error)) from None

    return check

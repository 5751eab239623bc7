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
from duetime.client.current import use
from duetime.core.webhook_signatures import key_of
from duetime.webhooks import BadSignature, verify

__all__ = ["client", "lifespan", "verified"]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Opens an AsyncClient, which reads DUETIME_URL, for as long as the app runs:
    `FastAPI(lifespan=lifespan)`, or `async with lifespan(app)` in a lifespan of your own.

    The client is `app.state.duetime`, and `asubmit` of every handler uses it."""
    async with AsyncClient() as opened:
        app.state.duetime = opened
        used = use(opened)
        try:
            yield
        finally:
            used.undo()


async def client(connection: HTTPConnection) -> AsyncClient:
    """Returns the client of the app, as a dependency: `Depends(client)`."""
    found = getattr(connection.app.state, "duetime", None)
    if not isinstance(found, AsyncClient):
        raise RuntimeError("app.state.duetime has no AsyncClient: FastAPI(lifespan=lifespan)")
    return found


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

"""The client that handlers submit with: `duetime.use(client)`, or else one from DUETIME_URL."""

import asyncio
import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from threading import Lock
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, cast

from duetime.client.types import BatchResult, Task


class TaskClient(Protocol):
    """What a handler needs of a client: duetime.Client has it, and so may a client for tests."""

    @property
    def submit(self) -> Callable[..., Task]: ...

    def submit_many(self, tasks: Iterable[Any]) -> list[BatchResult]: ...

    def get(self, task_id: str) -> Task: ...

    def wait(self, task_id: str, *, timeout: float | None = None) -> Task: ...

    def result(self, task_id: str) -> Any: ...


class AsyncTaskClient(Protocol):
    """The same for `async` code."""

    @property
    def submit(self) -> Callable[..., Coroutine[Any, Any, Task]]: ...

    async def submit_many(self, tasks: Iterable[Any]) -> list[BatchResult]: ...

    async def get(self, task_id: str) -> Task: ...

    async def wait(self, task_id: str, *, timeout: float | None = None) -> Task: ...

    async def result(self, task_id: str) -> Any: ...


AnyClient = TaskClient | AsyncTaskClient
C = TypeVar("C", bound=AnyClient)

_in_block: ContextVar[tuple[AnyClient, ...]] = ContextVar("duetime_clients", default=())
_in_process: "tuple[_Registration, ...]" = ()  # the newest first
_in_test: tuple[AnyClient, ...] = ()  # before all others
_default: tuple[int, TaskClient] | None = None  # with the id of its process
_lock = Lock()


class _Registration:
    """Makes clients those of the process until it is ended. Several may overlap and end in any
    order, as those of blocks in several threads do."""

    def __init__(self, *clients: AnyClient) -> None:
        global _in_process  # noqa: PLW0603
        self.clients = clients
        with _lock:
            _in_process = (self, *_in_process)

    def end(self) -> None:
        global _in_process  # noqa: PLW0603
        with _lock:
            _in_process = tuple(one for one in _in_process if one is not self)


class use(Generic[C]):
    """Makes handlers submit with this client: everywhere in the process, or, as
    `with duetime.use(client): …`, inside the block alone.

    A `Client` serves `submit` and, in a thread, `asubmit`; an `AsyncClient` serves `asubmit`. Call
    it with one of each to serve both. Closing a client remains with the caller."""

    def __init__(self, client: C) -> None:
        self._client = client
        self._tokens: list[Token[tuple[AnyClient, ...]]] = []
        self._registration = _Registration(client)

    def __enter__(self) -> C:
        """Gives up the process: a block in one thread does not concern the others."""
        self._registration.end()
        self._tokens.append(_in_block.set((self._client, *_in_block.get())))
        return self._client

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _in_block.reset(self._tokens.pop())


@contextmanager
def use_in_test(*clients: AnyClient) -> Iterator[None]:
    """Makes every handler submit with these clients until the end of the block, in all threads, and
    also where the code under test calls `use` itself."""
    global _in_test  # noqa: PLW0603
    before, _in_test = _in_test, clients
    try:
        yield
    finally:
        _in_test = before


@contextmanager
def use_in_process(*clients: AnyClient) -> Iterator[None]:
    """Makes handlers submit with these clients until the end of the block, in all threads."""
    registration = _Registration(*clients)
    try:
        yield
    finally:
        registration.end()


def clients_in_test() -> tuple[AnyClient, ...]:
    """Returns the clients of the test that runs; none outside of a test."""
    return _in_test


def is_async(client: AnyClient) -> bool:
    return inspect.iscoroutinefunction(client.submit)


def _given() -> tuple[AnyClient, ...]:
    of_process = (client for one in _in_process for client in one.clients)
    return _in_test or (*_in_block.get(), *of_process)


def as_sync(client: AnyClient | None) -> TaskClient | None:
    return None if client is None or is_async(client) else cast(TaskClient, client)


def sync_client() -> TaskClient:
    """Returns the client for `submit`."""
    given = _given()
    for client in given:
        if found := as_sync(client):
            return found
    if given:
        raise RuntimeError("duetime.use has an AsyncClient only: use asubmit, or add a Client")
    return _default_client()


def current_client() -> AnyClient:
    """Returns the client that comes first, plain or `async`."""
    return next(iter(_given()), None) or _default_client()


def async_client(client: AnyClient | None = None) -> AsyncTaskClient:
    """Returns the client for `asubmit`: the given one, or else the current one."""
    chosen = client or current_client()
    plain = as_sync(chosen)
    return _InThread(plain) if plain else cast(AsyncTaskClient, chosen)


def _default_client() -> TaskClient:
    """Returns the client of this process. A forked child makes its own: two processes cannot share
    a connection."""
    global _default  # noqa: PLW0603
    with _lock:
        if _default is None or _default[0] != os.getpid():
            from duetime.client.client import Client

            made: TaskClient = Client()
            _default = os.getpid(), made
        return _default[1]


class _InThread:
    """A plain client for `async` code: each call runs in a thread."""

    def __init__(self, client: TaskClient) -> None:
        self._client = client

    async def submit(self, /, **fields: Any) -> Task:
        return await asyncio.to_thread(self._client.submit, **fields)

    async def submit_many(self, tasks: Iterable[Any]) -> list[BatchResult]:
        return await asyncio.to_thread(self._client.submit_many, tasks)

    async def get(self, task_id: str) -> Task:
        return await asyncio.to_thread(self._client.get, task_id)

    async def wait(self, task_id: str, *, timeout: float | None = None) -> Task:
        return await asyncio.to_thread(self._client.wait, task_id, timeout=timeout)

    async def result(self, task_id: str) -> Any:
        return await asyncio.to_thread(self._client.result, task_id)

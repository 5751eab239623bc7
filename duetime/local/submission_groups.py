"""Submissions that arrive together are stored together.

A submission that arrives while a group is being stored waits for the next group. A group costs one
change of threads and one write for all its tasks, so under load a submission costs far less, and a
single client waits for no one.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from duetime.api.http import Request
from duetime.supervised_threads import ThreadPool

GROUP_LIMIT = 64
BODY_LIMIT = 64 * 1024  # bytes; a larger body takes long to read, and would delay its group

T = TypeVar("T")


def can_wait_for_others(request: Request) -> bool:
    """Whether the request submits one task, and is small enough for a group."""
    return (
        request.method == "POST" and request.path == "/v1/tasks" and len(request.body) <= BODY_LIMIT
    )


class SubmissionGroups(Generic[T]):
    """`answer` answers a group, in its order. It runs in one thread, a group at a time. All methods
    are called from one event loop."""

    def __init__(self, answer: Callable[[Sequence[Request]], Sequence[T]]) -> None:
        self._answer = answer
        self._thread = ThreadPool(1, "api-submit")
        self._waiting: list[tuple[Request, asyncio.Future[T]]] = []
        self._storing: asyncio.Task[None] | None = None

    async def call(self, request: Request) -> T:
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, answer))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store_groups())
        return await answer

    async def _store_groups(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting[:GROUP_LIMIT], self._waiting[GROUP_LIMIT:]
            await self._store(group)
        self._storing = None

    async def _store(self, group: Sequence[tuple[Request, asyncio.Future[T]]]) -> None:
        requests = [request for request, _ in group]
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._thread, self._answer, requests)
        except Exception as error:  # noqa: BLE001 - raised where each request waits
            for _, waiting in group:
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for (_, waiting), answer in zip(group, answers, strict=True):
            if not waiting.done():  # done: its client has gone
                waiting.set_result(answer)

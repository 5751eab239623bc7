"""`Prefer: wait=20` (RFC 7240): a read of a task that is answered when its status changes.

A waiting request holds no thread and reads the store only when it begins and after a change, so
that hundreds of them leave the API free. Only the local runner waits: a deployed API ignores the
preference, since a waiting Lambda function is billed.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

from duetime.api.http import Request, Response
from duetime.core.events import StatusChange
from duetime.core.lifecycle import FINISHED

MAX_WAIT = 60.0  # seconds
_TASK = re.compile(r"/v1/tasks/([^/]+)")
_WAIT = re.compile(r'(?:^|,)\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[;,]|$)', re.IGNORECASE)
NOT_READABLE = ("accept-encoding", "prefer")  # a compressed answer hides the status

Read = Callable[[Request], Awaitable[Response]]
HungUp = Callable[[], Awaitable[object]]  # returns when the client has closed its connection


class ClientGone(Exception):
    """The client hung up while its request waited."""


class Wait(NamedTuple):
    task_id: str
    seconds: float

    def applied(self) -> dict[str, str]:
        return {"preference-applied": f"wait={self.seconds:g}"}


def asked_wait(request: Request) -> Wait | None:
    """Returns what a request prefers to wait for. A preference that cannot be read is ignored, as
    the RFC says, and so is one beside If-None-Match, which asks for an answer at once."""
    task = _TASK.fullmatch(request.path)
    asked = _WAIT.search(request.headers.get("prefer", ""))
    if request.method != "GET" or not (task and asked) or "if-none-match" in request.headers:
        return None
    return Wait(unquote(task[1]), min(float(asked[1]), MAX_WAIT))


class StatusWaits:
    """The requests that wait. All of it runs on the event loop, except `notify`, which the relay
    calls from its thread."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False

    def notify(self, change: StatusChange) -> None:
        if change.task_id in self._waiting and self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake, change.task_id)

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        if self._waiting:
            for change in changes:
                self.notify(change)

    def end(self) -> None:
        """Lets every waiting request answer now: the server stops."""
        self._ended = True
        for task_id in [*self._waiting]:
            self._wake(task_id)

    async def respond(self, request: Request, wait: Wait, read: Read, gone: HungUp) -> Response:
        """Returns the task when its status differs from what it was at first, or has ended."""
        plain = {n: text for n, text in request.headers.items() if n not in NOT_READABLE}
        request = replace(request, headers=plain)
        with self._registered(wait.task_id) as changed:  # before the first read: none is missed
            first = response = await read(request)
            deadline = asyncio.get_running_loop().time() + wait.seconds
            while _unchanged(first, response) and not self._ended:
                if not await _woken(changed, deadline, gone):
                    break
                changed.clear()
                response = await read(request)
        if response.status != 200:
            return response
        return replace(response, headers={**response.headers, **wait.applied()})

    @contextmanager
    def _registered(self, task_id: str) -> Iterator[asyncio.Event]:
        self._loop = asyncio.get_running_loop()
        event = asyncio.Event()
        self._waiting.setdefault(task_id, set()).add(event)
        try:
            yield event
        finally:
            self._waiting[task_id].discard(event)
            if not self._waiting[task_id]:
                del self._waiting[task_id]

    def _wake(self, task_id: str) -> None:
        for event in self._waiting.get(task_id, ()):
            event.set()


def _unchanged(first: Response, response: Response) -> bool:
    if (first.status, response.status) != (200, 200):
        return False
    status = response.body["status"]
    return status not in FINISHED and bool(status == first.body["status"])


async def _woken(changed: asyncio.Event, deadline: float, gone: HungUp) -> bool:
    """Waits for a change. Returns False at the deadline; raises ClientGone."""
    loop = asyncio.get_running_loop()
    change = loop.create_task(changed.wait())
    hung_up = asyncio.ensure_future(gone())
    try:
        await asyncio.wait(
            (change, hung_up),
            timeout=max(deadline - loop.time(), 0),
            return_when=asyncio.FIRST_COMPLETED,
        )
    finally:
        change.cancel()
        hung_up.cancel()
    if hung_up.done() and not change.done():
        raise ClientGone
    return change.done()

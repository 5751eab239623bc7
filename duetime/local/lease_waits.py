"""Calls for leases that wait: `POST /v1/workers/lease` with `wait`.

A waiting call holds no thread. It is looked at again when a message has come for it, and only as
many calls are woken as there are messages. What the client does not wait for any more is not
leased.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from duetime.api.access import LEASE
from duetime.api.http import Problem, Request, Response
from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis
from duetime.core.worker_calls import LeaseRequest
from duetime.local.status_waits import ClientGone, HungUp
from duetime.supervised_threads import ThreadPool

WORKER_THREADS = 8  # for the calls of workers: a busy API does not delay a renewal
LONGEST_NAP = 5.0  # seconds after which a waiting call looks again in any case

STOPPING = Problem(503, "stopping", "The runner stops", "Send the request again in a moment.")
SENT_AGAIN = Problem(
    503, "superseded", "Sent again", "This request was sent again while it waited."
)


class LeaseCalls(Protocol):
    """The part of the API that answers calls for leases."""

    def read_lease(self, request: Request) -> LeaseRequest | Response: ...

    def lease(self, request: Request, wanted: LeaseRequest, arrived: Millis) -> Response: ...


class Work(Protocol):
    """What there is to lease: see duetime.executor.remote_attempts."""

    def note_waiting(self, wanted: LeaseRequest) -> None: ...

    def has_work(self, wanted: LeaseRequest, beside: int = 0) -> bool: ...

    def next_visible(self, wanted: LeaseRequest) -> Millis | None: ...


class _Waiting:
    """A call that waits."""

    def __init__(self, wanted: LeaseRequest) -> None:
        self.wanted = wanted
        self.look = asyncio.Event()
        self.superseded = False  # its client has sent it again


class LeaseWaits:
    """All methods run on one event loop, except `changed`, which any thread calls. `open`: whether
    there is anything to wait for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: LeaseCalls
        self._work: Work
        self.open = False
        self.threads = ThreadPool(WORKER_THREADS, "api-workers")
        self._waiting: dict[tuple[str, str], _Waiting] = {}  # by worker and request
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake_planned = False
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def serve(self, calls: LeaseCalls, work: Work) -> None:
        """From now on calls for leases are answered here."""
        self._calls, self._work, self.open = calls, work, True

    def changed(self) -> None:
        """A message was sent, or handed back."""
        if self._waiting and not self._wake_planned and self._loop is not None:
            self._wake_planned = True
            self._loop.call_soon_threadsafe(self._wake)

    def end(self) -> None:
        """Lets every waiting call answer now: the server stops."""
        self._ended = True
        for waiting in self._waiting.values():
            waiting.look.set()

    def answers(self, request: Request) -> bool:
        return self.open and (request.method, request.path) == ("POST", LEASE)

    async def respond(self, request: Request, gone: HungUp) -> Response:
        """Raises ClientGone if the client hangs up while it waits."""
        loop = self._loop = asyncio.get_running_loop()
        began, arrived = loop.time(), self._clock.monotonic()
        wanted = await loop.run_in_executor(self.threads, self._calls.read_lease, request)
        if isinstance(wanted, Response):
            return wanted
        with self._registered(wanted) as waiting:  # before the first look: none is missed
            while True:
                waiting.look.clear()
                if waiting.superseded:
                    raise SENT_AGAIN
                if self._ended:
                    raise STOPPING
                waited = loop.time() - began
                last = waited >= wanted.wait
                if not last and not self._work.has_work(wanted):
                    self._plan_next()
                else:
                    response = await loop.run_in_executor(
                        self.threads, self._calls.lease, request, wanted, arrived
                    )
                    if last or response.status != 200 or response.body["leases"]:
                        return response
                    if self._work.has_work(wanted):  # what was taken starts nothing: it waits for
                        waiting.look.set()  # a limit, or its message is outdated
                await self._nap(waiting, wanted.wait - waited, gone)

    @contextmanager
    def _registered(self, wanted: LeaseRequest) -> Iterator[_Waiting]:
        """A call that is sent again takes the place of the one that waits, whose client has given
        it up."""
        name = wanted.worker, wanted.request
        if (before := self._waiting.get(name)) is not None:
            before.superseded = True
            before.look.set()
        waiting = self._waiting[name] = _Waiting(wanted)
        self._work.note_waiting(wanted)
        try:
            yield waiting
        finally:
            if self._waiting.get(name) is waiting:
                del self._waiting[name]

    async def _nap(self, waiting: _Waiting, left: float, gone: HungUp) -> None:
        """Waits until there may be a lease, or the call has waited for long enough."""
        loop = asyncio.get_running_loop()
        look = loop.create_task(waiting.look.wait())
        hung_up = asyncio.ensure_future(gone())
        try:
            await asyncio.wait(
                (look, hung_up),
                timeout=max(min(left, LONGEST_NAP), 0),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            look.cancel()
            hung_up.cancel()
        if hung_up.done() and not hung_up.cancelled():
            raise ClientGone

    def _wake(self) -> None:
        """Wakes the calls, the longest waiting first, until there is one for each message."""
        self._wake_planned = False
        promised = 0
        for waiting in [*self._waiting.values()]:
            if self._work.has_work(waiting.wanted, promised):
                waiting.look.set()
                promised += waiting.wanted.most
        self._plan_next()

    def _plan_next(self) -> None:
        """Plans to look when the next message becomes visible."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        times = (self._work.next_visible(waiting.wanted) for waiting in self._waiting.values())
        at = min((at for at in times if at is not None), default=None)
        if at is not None and self._loop is not None:
            delay = max(at - self._clock.now(), 1) / SECOND
            self._timer = self._loop.call_later(delay, self._wake)

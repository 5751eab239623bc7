"""`client.live` of AsyncClient."""

from collections.abc import AsyncIterator, Callable
from typing import Any, Unpack

from duetime.client import live_calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.calls import Call
from duetime.client.documentation import documented_by
from duetime.client.live import Live
from duetime.client.live_types import LiveChange, LiveFilter
from duetime.client.types import Fields, Order, Task, TaskFilter, TaskPage
from duetime.client.waits import Patience
from duetime.extras import NotInstalled


@documented_by(Live)
class AsyncLive:
    def __init__(
        self, transport: AsyncTransport, patience: Patience, chance: Callable[[], float]
    ) -> None:
        self._transport = transport
        self._patience = patience
        self._chance = chance

    def __call__(
        self,
        *,
        reread: float = live_calls.REREAD,
        poll: float = live_calls.REREAD,
        **which: Unpack[LiveFilter],
    ) -> AsyncIterator[LiveChange]:
        if not live_calls.is_installed():
            raise NotInstalled("What receives live updates", "live")
        wanted = live_calls.wanted(which)
        return self._iterate(
            live_calls.changes(
                wanted, self._patience, chance=self._chance, reread=reread, poll=poll
            )
        )

    def task(
        self, task_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> AsyncIterator[Task]:
        return self._iterate(
            live_calls.follow_task(
                task_id, self._patience, chance=self._chance, timeout=timeout, poll=poll
            )
        )

    def page(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        limit: int | None = None,
        poll: float = 2.0,
        **which: Unpack[TaskFilter],
    ) -> AsyncIterator[TaskPage]:
        return self._iterate(
            live_calls.follow_page(
                which,
                self._patience,
                chance=self._chance,
                poll=poll,
                order=order,
                fields=fields,
                limit=limit,
            )
        )

    def _iterate(self, call: Call[None]) -> AsyncIterator[Any]:
        if not live_calls.is_installed():
            return self._transport.iterate(call)
        from duetime.client.async_live_sockets import iterate

        return iterate(self._transport, call)

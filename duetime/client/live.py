"""`client.live`: tasks as they change."""

from collections.abc import Callable, Iterator
from typing import Any, Unpack

from duetime.client import live_calls
from duetime.client.calls import Call
from duetime.client.live_types import LiveChange, LiveFilter
from duetime.client.transport import Transport
from duetime.client.types import Fields, Order, Task, TaskFilter, TaskPage
from duetime.client.waits import Patience
from duetime.extras import NotInstalled


class Live:
    """Follows tasks by pushes, and by reads that find what was not pushed: a push can be lost.

    It connects again by itself. While Duetime has no live updates, or no place for another
    connection, it only reads."""

    def __init__(
        self, transport: Transport, patience: Patience, chance: Callable[[], float]
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
    ) -> Iterator[LiveChange]:
        """Yields changes as they happen: of one task until it has ended, of the steps of one run,
        or of every task that gets one of these statuses and matches. Needs `duetime[live]`.

        It reads every `reread` seconds what it follows (of many tasks the newest 100), and yields
        what is newer there than what was pushed; every `poll` seconds while there is no connection.
        Of changes that follow each other closely, only the last may come."""
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
    ) -> Iterator[Task]:
        """Yields the whole task when it has changed, until it has ended; every `poll` seconds while
        there is no connection, or without `duetime[live]`.

        Raises WaitTimeout if that takes longer than `timeout` seconds."""
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
    ) -> Iterator[TaskPage]:
        """Yields a page of the tasks that match when one of them may have changed, at most once a
        second; every `poll` seconds while there is no connection, or without `duetime[live]`. For
        the other parameters see Client.page."""
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

    def _iterate(self, call: Call[None]) -> Iterator[Any]:
        if not live_calls.is_installed():
            return self._transport.iterate(call)
        from duetime.client.live_sockets import iterate

        return iterate(self._transport, call)

"""The hub of live updates: it takes status changes from the relay, and hands them to connections.

`notify` and `progressed` run on other threads and never wait for a client: without a subscriber,
and while all of them lag, they read collections that are empty. Everything else runs on the event
loop. Changes are gathered for 100 ms, reduced to the latest of each task, rendered once, and given
to every subscription that wants them.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from duetime.core.events import StatusChange
from duetime.core.live import frames
from duetime.core.live.changes import change_json, coalesced
from duetime.core.live.limits import ALL_SUBSCRIPTIONS, CONNECTIONS, LIFETIME
from duetime.core.live.messages import Topic
from duetime.core.live.tickets import Ticket
from duetime.core.ports import Clock
from duetime.core.task import Task
from duetime.core.times import SECOND
from duetime.local.live_connection import FrameResult, LiveConnection
from duetime.local.live_figures import Figures
from duetime.local.live_subscription import Subscription

log = logging.getLogger(__name__)

GATHER = 0.1  # seconds
MAX_PENDING = 20_000  # changes; more are dropped for a reset
STATS_EVERY = 5.0  # seconds
GOODBYE = 1.0  # seconds that connections have to send what they still hold, when the server stops

Lanes = Callable[[], Sequence[Mapping[str, Any]]]


class LiveHub:
    """`lanes` returns what a `stats` frame shows of the lanes; it may read the store. `chance`
    returns a number below 1: clients that are sent away return at different times."""

    def __init__(self, clock: Clock, lanes: Lanes, chance: Callable[[], float]) -> None:
        self._clock = clock
        self._lanes = lanes
        self._chance = chance
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pending: deque[StatusChange] = deque()
        self._progress: dict[str, Task] = {}  # the latest of each task
        self._woken = False
        self._overrun = False
        self._connections: set[LiveConnection] = set()
        self._of_tasks: set[Subscription] = set()  # with topic `tasks`
        self._of_stats: set[Subscription] = set()
        self._by_task: dict[str, set[Subscription]] = {}
        self._figures = Figures()
        self.frames: Counter[FrameResult] = Counter()  # only the loop writes it
        self._stats: asyncio.Task[None] | None = None
        self._ended = False

    # from any thread

    def notify(self, change: StatusChange) -> None:
        if self._of_stats:
            self._figures.count([change])
        self._keep(change)

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        if self._of_stats:
            self._figures.count(changes)
        if self._of_tasks or self._by_task:
            for change in changes:
                self._keep(change)

    def _keep(self, change: StatusChange) -> None:
        if self._of_tasks or change.task_id in self._by_task:
            if len(self._pending) < MAX_PENDING:
                self._pending.append(change)
            else:
                self._overrun = True
            self._wake()

    def progressed(self, task: Task) -> None:
        if task.id in self._by_task:
            self._progress[task.id] = task
            self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if not self._woken and loop is not None:
            self._woken = True
            with suppress(RuntimeError):  # the server has stopped meanwhile, and closed its loop
                loop.call_soon_threadsafe(self._gather)

    # on the event loop

    def connect(self, ticket: Ticket | None) -> LiveConnection | None:
        """Returns a connection, which is to be disconnected. None if there are too many."""
        if len(self._connections) >= CONNECTIONS or self._ended:
            return None
        self._loop = asyncio.get_running_loop()
        namespaces = ticket.namespaces if ticket else None
        connection = LiveConnection(
            self, closes_at=self._clock.now() + LIFETIME, namespaces=namespaces
        )
        self._connections.add(connection)
        connection.expire_after(LIFETIME / SECOND)
        return connection

    def disconnect(self, connection: LiveConnection) -> None:
        connection.drop()
        self._connections.discard(connection)

    @property
    def connections(self) -> int:
        return len(self._connections)

    @property
    def full(self) -> bool:
        """Whether no connection may subscribe to more."""
        return sum(len(c.subscriptions) for c in self._connections) >= ALL_SUBSCRIPTIONS

    def subscribe(self, subscription: Subscription) -> None:
        match subscription.topic:
            case Topic.TASKS:
                self._of_tasks.add(subscription)
            case Topic.TASK:
                for task_id in subscription.filter.task_ids:
                    self._by_task.setdefault(task_id, set()).add(subscription)
            case Topic.STATS:
                self._of_stats.add(subscription)
                if self._stats is None:
                    self._stats = asyncio.get_running_loop().create_task(self._send_stats())

    def suspend(self, subscription: Subscription) -> None:
        """Until its reset no change is kept for a subscription that lags: its client reads then."""
        self._of_tasks.discard(subscription)

    def resume(self, subscription: Subscription) -> None:
        if subscription.topic is Topic.TASKS:
            self._of_tasks.add(subscription)

    def unsubscribe(self, subscription: Subscription) -> None:
        self._of_tasks.discard(subscription)
        self._of_stats.discard(subscription)
        for task_id in subscription.filter.task_ids:
            subscribers = self._by_task[task_id]
            subscribers.discard(subscription)
            if not subscribers:
                del self._by_task[task_id]

    def retry_after(self) -> float:
        return 0.5 + 1.5 * self._chance()

    async def end(self) -> None:
        """Says goodbye to every connection: the server stops."""
        self._ended = True
        for connection in self._connections:
            connection.close(frames.Bye.SHUTDOWN)
        closed = [asyncio.ensure_future(each.closed.wait()) for each in self._connections]
        if closed:
            _, left = await asyncio.wait(closed, timeout=GOODBYE)
            for each in left:
                each.cancel()
        self._loop = None

    def _gather(self) -> None:
        asyncio.get_running_loop().call_later(GATHER, self._hand_out)

    def _hand_out(self) -> None:
        self._woken = False  # before the queues are read: what comes later wakes the loop again
        changes = [self._pending.popleft() for _ in range(len(self._pending))]
        if self._overrun:
            self._overrun = False
            for subscription in [*chain(self._of_tasks, *self._by_task.values())]:
                subscription.lag()
        latest, rendered = coalesced(changes), Rendered()
        for subscription in list(self._of_tasks):  # a subscription that lags leaves the set
            subscription.push(latest, rendered.of)
        for change in latest if self._by_task else ():
            for subscription in self._by_task.get(change.task_id, ()):
                subscription.push([change], rendered.of)
        self._hand_out_progress()

    def _hand_out_progress(self) -> None:
        for task_id in list(self._progress):
            task = self._progress.pop(task_id)
            for subscription in self._by_task.get(task_id, ()):
                subscription.push_progress(task)

    async def _send_stats(self) -> None:
        """Sends a summary every 5 s, while there are subscribers."""
        self._figures.take()  # what was counted before
        while self._of_stats:
            figures = self._figures.take()
            try:
                lanes = await asyncio.to_thread(self._lanes)
            except Exception:
                log.exception("lanes not read", extra={"step": "notify"})
            else:
                summary = {"lanes": lanes, **figures}
                for subscription in self._of_stats:
                    subscription.push_stats(self._clock.now(), summary)
            await asyncio.sleep(STATS_EVERY)
        self._stats = None


class Rendered(dict[str, str]):
    """The items of one batch: each is rendered when the first subscription wants it."""

    def of(self, change: StatusChange) -> str:
        if (item := self.get(change.task_id)) is None:
            item = self[change.task_id] = change_json(change)
        return item

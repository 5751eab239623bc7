"""A subscription of one connection: what it wants, and how much of it is sent."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from duetime.core.events import StatusChange
from duetime.core.live import frames
from duetime.core.live.changes import packed
from duetime.core.live.limits import FRAME_ITEMS
from duetime.core.live.messages import Subscribe, Topic
from duetime.core.task import Task
from duetime.core.times import Millis

if TYPE_CHECKING:
    from duetime.local.live_connection import LiveConnection

FRAMES_PER_SECOND = 10
# Seconds until a reset, and between two. A client reads a page of tasks after each: one read shows
# the whole of a burst. What it shows is right again within 5 s.
RESET_WAIT: Mapping[Topic, float] = {Topic.TASKS: 1.0, Topic.TASK: 0.0}
RESET_PAUSE: Mapping[Topic, float] = {Topic.TASKS: 4.0, Topic.TASK: 1.0}


class Subscription:
    """A subscription that changes faster than its frames allow lags: it gets one `reset` instead of
    what it has missed, and nothing before that."""

    def __init__(self, connection: "LiveConnection", wanted: Subscribe) -> None:
        self.id = wanted.id
        self.topic = wanted.topic
        self.filter = wanted.filter
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._budget = float(FRAMES_PER_SECOND)
        self._counted_at = self._loop.time()
        self._may_reset_at = self._loop.time()
        self._reset: asyncio.TimerHandle | None = None

    def push(self, changes: Sequence[StatusChange], render: Callable[[StatusChange], str]) -> None:
        if self._reset is not None:
            return
        mine = [change for change in changes if self._wants(change)]
        if not mine:
            return
        # Without a look at the items: rendering what is not sent would cost the most when busy.
        if len(mine) > self._left() * FRAME_ITEMS:
            self.lag()
            return
        sent = packed([render(change) for change in mine])
        if len(sent) > self._left():
            self.lag()
            return
        self._budget -= len(sent)
        for items in sent:
            self._connection.push(frames.changes(self.id, items))

    def push_progress(self, task: Task) -> None:
        """Without room it is dropped: the next one replaces it."""
        progress = task.progress
        allowed = self._connection.may_read(task.spec.namespace)
        if progress is None or not allowed or self._reset is not None or self._left() < 1:
            return
        self._budget -= 1
        self._connection.push(frames.progress(self.id, task.id, progress, task.updated_at))

    def push_stats(self, now: Millis, summary: Mapping[str, Any]) -> None:
        self._connection.push(frames.stats(self.id, now, summary))

    def lag(self) -> None:
        """Changes are dropped from now on, until a `reset` is sent."""
        if self._reset is None and self.topic in RESET_PAUSE:
            at = max(self._may_reset_at, self._loop.time() + RESET_WAIT[self.topic])
            self._reset = self._loop.call_at(at, self._send_reset)
            self._connection.suspend(self)

    def end(self) -> None:
        if self._reset is not None:
            self._reset.cancel()

    def _send_reset(self) -> None:
        self._reset = None
        self._connection.resume(self)  # first: changes after the client's read must be pushed
        self._may_reset_at = self._loop.time() + RESET_PAUSE[self.topic]
        self._connection.push(frames.reset(self.id))

    def _wants(self, change: StatusChange) -> bool:
        return self.filter.wants_in(self._connection.namespaces, change)

    def _left(self) -> float:
        """Returns how many frames may be sent now."""
        now = self._loop.time()
        refilled = self._budget + (now - self._counted_at) * FRAMES_PER_SECOND
        self._budget, self._counted_at = min(refilled, FRAMES_PER_SECOND), now
        return self._budget

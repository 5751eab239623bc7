"""Pushes: each subscription gets its changes in one frame, or a reset for what it misses.

A subscription gets one frame a second. An invocation that finds the frame of this second taken, or
whose post fails, notes that the subscription misses changes. The first to note it waits until a
reset is due, and sends it. So the last change of a burst reaches its client even if nothing
happens after it. Further changes meanwhile need no note: the client reads after the reset.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from duetime.core.errors import Unavailable
from duetime.core.live import frames
from duetime.core.live.changes import packed
from duetime.core.live.connections import ConnectionPosts, LiveConnections, Posted, Subscription
from duetime.core.live.pushes import ProgressFrame, Push, Recipient
from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis

log = logging.getLogger(__name__)


class Each(Protocol):
    """Calls a function with each value, several at once, and returns the answers in order."""

    def __call__(self, call: Callable[[Any], Any], values: Sequence[Any], /) -> list[Any]: ...


class Pushing:
    """`wait` sleeps for so many seconds."""

    def __init__(
        self,
        rows: LiveConnections,
        posts: ConnectionPosts,
        clock: Clock,
        each: Each,
        wait: Callable[[float], None],
    ) -> None:
        self._rows = rows
        self._posts = posts
        self._clock = clock
        self._each = each
        self._wait = wait

    def push(self, push: Push, until: Millis) -> None:
        """Posts the changes, then the resets that this invocation has to send and that are due by
        `until`, a wall time."""
        missing = self._each(lambda recipient: self._push(push, recipient, until), push.recipients)
        self._each(self._report, push.progress)
        self._reset([sub for sub in missing if sub is not None], until)

    def _push(self, push: Push, to: Recipient, until: Millis) -> Subscription | None:
        """Returns the subscription if this invocation has to send it a reset."""
        now = self._clock.now()
        fields = _fields(to.connection, to.subscription)
        if now >= until:
            log.warning("push dropped: out of time", extra=fields)
            return None
        try:
            if to.items is None or self._misses(push, to, to.items, now):
                return self._rows.plan_reset(to.connection, to.subscription, now)
        except Unavailable:
            log.warning("push dropped: the table did not answer", exc_info=True, extra=fields)
        return None

    def _report(self, made: ProgressFrame) -> None:
        """Without a frame to take, a report is dropped: the next one replaces it."""
        try:
            if self._rows.take_frame(made.connection, made.subscription, self._clock.now()):
                self._post(made.connection, made.frame)
        except Unavailable:
            fields = _fields(made.connection, made.subscription)
            log.warning("progress dropped: the table did not answer", exc_info=True, extra=fields)

    def _misses(self, push: Push, to: Recipient, items: Sequence[int], now: Millis) -> bool:
        """Returns whether the subscription misses changes after this, or has missed some since an
        invocation that left a reset to others."""
        taken = self._rows.take_frame(to.connection, to.subscription, now)
        if taken is None:
            return True
        first, *more = packed([push.items[number] for number in items])
        posted = self._post(to.connection, frames.changes(to.subscription, first))
        was_left = taken.reset_by is not None and taken.reset_by <= now
        return posted is Posted.FAILED or bool(more) or was_left

    def _post(self, connection: str, frame: str) -> Posted:
        posted = self._posts.post(connection, frame)
        if posted is Posted.GONE:
            self._rows.forget(connection)
        return posted

    def _reset(self, missing: Sequence[Subscription], until: Millis) -> None:
        """Sends each reset when it is due, and leaves those to the next push that are due too
        late."""
        left = sorted(missing, key=Subscription.reset_due)
        while left:
            due = left[0].reset_due()
            now = self._clock.now()
            if due >= until:
                self._each(self._leave, left)
                return
            if due > now:
                self._wait((due - now) / SECOND)
                now = self._clock.now()
            ready = [sub for sub in left if sub.reset_due() <= now]
            left = left[len(ready) :]
            self._each(self._send_reset, ready)

    def _send_reset(self, sub: Subscription) -> None:
        """If the table does not answer, the next push sends the reset: the note is still there."""
        fields = _fields(sub.connection, sub.id)
        try:
            if not self._rows.begin_reset(sub.connection, sub.id, self._clock.now()):
                return
            if self._post(sub.connection, frames.reset(sub.id)) is Posted.FAILED:
                self._leave(sub)
        except Unavailable:
            log.warning("reset not sent: the table did not answer", exc_info=True, extra=fields)

    def _leave(self, sub: Subscription) -> None:
        self._rows.leave_reset(sub.connection, sub.id, self._clock.now())


def _fields(connection: str, subscription: str) -> dict[str, str]:
    return {"step": "push", "connection": connection, "subscription": subscription}

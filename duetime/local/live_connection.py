"""One client of the live updates: what it subscribes to, and what is still to be sent to it.

It does no I/O: `live_socket` passes it each message, and sends the frames that `next` returns.
"""

import asyncio
from collections import deque
from collections.abc import Collection
from enum import StrEnum
from typing import TYPE_CHECKING

from duetime.core.live import frames
from duetime.core.live.frames import Bye
from duetime.core.live.limits import ALL_SUBSCRIPTIONS, SUBSCRIPTIONS
from duetime.core.live.messages import (
    BadMessage,
    Hello,
    Message,
    Ping,
    Subscribe,
    Unsubscribe,
    read_message,
)
from duetime.core.times import Millis
from duetime.local.live_subscription import Subscription

if TYPE_CHECKING:
    from duetime.local.live_hub import LiveHub

MAX_FRAMES, MAX_BYTES = 256, 1_000_000  # that wait to be sent to one client
CLOSE_CODES = {Bye.EXPIRING: 1001, Bye.SHUTDOWN: 1012, Bye.TOO_SLOW: 1013}


class FrameResult(StrEnum):
    """What became of a frame."""

    SENT = "sent"
    DROPPED = "dropped"  # the client is too slow
    GONE = "gone"  # the client is gone


class LiveConnection:
    """`namespaces` are those that the client may read; None: all. `closed` is set when the client
    has got its last frame, or is gone."""

    def __init__(
        self, hub: "LiveHub", *, closes_at: Millis, namespaces: Collection[str] | None
    ) -> None:
        self.namespaces = namespaces
        self.subscriptions: dict[str, Subscription] = {}
        self.closed = asyncio.Event()
        self.bye: Bye | None = None
        self._hub = hub
        self._closes_at = closes_at
        self._greeted = False
        self._outgoing = Outgoing()
        self._changed = asyncio.Event()
        self._expiry: asyncio.TimerHandle | None = None

    def may_read(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces

    # for the socket

    def receive(self, text: str | bytes) -> None:
        try:
            message = read_message(text)
        except BadMessage as refused:
            self._answer(frames.error(refused))
            return
        if self._greeted or isinstance(message, Hello):
            self._act(message)
        else:
            self._answer(frames.hello_first())

    async def next(self) -> str | None:
        """Waits for a frame to send. None: there is none left, and the socket is to be closed."""
        while (frame := self._outgoing.pop()) is None and self.bye is None:
            self._changed.clear()
            await self._changed.wait()
        if frame is not None:
            self._hub.frames[FrameResult.SENT] += 1
        return frame

    @property
    def close_code(self) -> int:
        return CLOSE_CODES[self.bye] if self.bye else 1000

    def expire_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(seconds, self.close, Bye.EXPIRING)

    def close(self, reason: Bye) -> None:
        """Ends the connection after what is still to be sent."""
        if self.bye is None:
            self.bye = reason
            self._outgoing.add(frames.bye(reason, self._hub.retry_after()))
            self._changed.set()

    def drop(self) -> None:
        """The client is gone."""
        for subscription in self.subscriptions.values():
            self._end(subscription)
        self.subscriptions.clear()
        self._hub.frames[FrameResult.GONE] += self._outgoing.clear()
        if self._expiry is not None:
            self._expiry.cancel()
        self.closed.set()

    # for subscriptions

    def push(self, frame: str) -> None:
        """Sends a frame that a read can replace. If too many wait, all of them are dropped, and
        every subscription gets one `reset`."""
        if self.bye is not None:
            return
        if self._outgoing.full:
            self._hub.frames[FrameResult.DROPPED] += self._outgoing.drop_pushes() + 1
            for subscription in self.subscriptions.values():
                subscription.lag()
            return
        self._outgoing.add_push(frame)
        self._changed.set()

    def suspend(self, subscription: Subscription) -> None:
        self._hub.suspend(subscription)

    def resume(self, subscription: Subscription) -> None:
        self._hub.resume(subscription)

    def _answer(self, frame: str) -> None:
        """Sends a frame that the client has asked for. A client that asks for too many without
        reading them is too slow."""
        if self._outgoing.full:
            self._hub.frames[FrameResult.DROPPED] += self._outgoing.drop_pushes()
        if self._outgoing.full:
            self.close(Bye.TOO_SLOW)
        elif self.bye is None:
            self._outgoing.add(frame)
            self._changed.set()

    def _act(self, message: Message) -> None:
        match message:
            case Hello():
                self._greeted = True
                self._answer(frames.hello(self._closes_at))
            case Ping():
                self._answer(frames.PONG)
            case Subscribe():
                self._subscribe(message)
            case Unsubscribe(id):
                if (subscription := self.subscriptions.pop(id, None)) is None:
                    self._answer(frames.no_subscription(id))
                else:
                    self._end(subscription)

    def _subscribe(self, wanted: Subscribe) -> None:
        if wanted.id in self.subscriptions:
            self._answer(frames.id_in_use(wanted.id))
        elif len(self.subscriptions) >= SUBSCRIPTIONS:
            self._answer(frames.too_many(wanted.id, "on this connection", SUBSCRIPTIONS))
        elif self._hub.full:
            self._answer(frames.too_many(wanted.id, "in all", ALL_SUBSCRIPTIONS))
        else:
            subscription = self.subscriptions[wanted.id] = Subscription(self, wanted)
            self._answer(frames.subscribed(wanted.id))
            self._hub.subscribe(subscription)

    def _end(self, subscription: Subscription) -> None:
        subscription.end()
        self._hub.unsubscribe(subscription)


class Outgoing:
    """The frames that wait to be sent, in order. Pushes may be dropped, answers may not."""

    def __init__(self) -> None:
        self._frames: deque[tuple[str, bool]] = deque()  # with whether it is a push
        self._size = 0

    @property
    def full(self) -> bool:
        return len(self._frames) >= MAX_FRAMES or self._size >= MAX_BYTES

    def add(self, frame: str) -> None:
        self._add(frame, False)

    def add_push(self, frame: str) -> None:
        self._add(frame, True)

    def pop(self) -> str | None:
        if not self._frames:
            return None
        frame, _ = self._frames.popleft()
        self._size -= len(frame)
        return frame

    def drop_pushes(self) -> int:
        """Returns how many it has dropped."""
        kept = [frame for frame, is_push in self._frames if not is_push]
        dropped = self.clear() - len(kept)
        for frame in kept:
            self.add(frame)
        return dropped

    def clear(self) -> int:
        """Returns how many frames there were."""
        count = len(self._frames)
        self._frames.clear()
        self._size = 0
        return count

    def _add(self, frame: str, is_push: bool) -> None:
        self._frames.append((frame, is_push))
        self._size += len(frame)

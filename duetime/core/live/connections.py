"""Open connections on AWS, where no process holds them: they are rows, which expire.

The function that a frame invokes knows nothing of earlier frames. So what a connection may read,
what it wants and when it last got a frame are stored with it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from duetime.core.live.filters import LiveFilter
from duetime.core.live.limits import LIFETIME
from duetime.core.live.messages import Subscribe, Topic, read_message
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.value import value

TOPICS = frozenset({Topic.TASKS, Topic.TASK})  # that the relay can serve
ROW_LIFE: Millis = LIFETIME + 10 * MINUTE
MAX_MESSAGE = 4_000  # bytes of a `subscribe` message: every relay reads it again and again

FRAME_GAP: Millis = SECOND  # between two frames of one subscription
RESET_GAP: Millis = 5 * SECOND  # between two resets; after each, a list is read again
RESET_GRACE: Millis = 5 * SECOND  # for an invocation that sends a reset, before another takes over


@value(frozen=True, kw_only=True, slots=True)
class Connection:
    id: str
    closes_at: Millis
    actor: str | None = None
    namespaces: frozenset[str] | None = None  # that it may read; None: all
    greeted: bool = False  # it has said hello


@value(frozen=True, kw_only=True, slots=True)
class Subscription:
    connection: str
    id: str
    message: str  # as its client sent it
    closes_at: Millis
    namespaces: frozenset[str] | None = None
    framed_at: Millis = 0  # when it last got a frame
    reset_at: Millis = 0  # when it last got a reset
    reset_by: Millis | None = None  # it misses changes; an invocation sends the reset by then

    @property
    def wanted(self) -> Subscribe:
        message = read_message(self.message, TOPICS)
        if not isinstance(message, Subscribe):
            raise TypeError(f"stored as a subscription: {self.message}")
        return message

    @property
    def filter(self) -> LiveFilter:
        return self.wanted.filter

    def reset_due(self) -> Millis:
        """Returns when it may get a reset. One for a list makes its client read a page."""
        gap = RESET_GAP if self.wanted.topic is Topic.TASKS else FRAME_GAP
        return max(self.framed_at + FRAME_GAP, self.reset_at + gap)


@value(frozen=True, kw_only=True, slots=True)
class OpenCounts:
    connections: int
    subscriptions: Mapping[str, int]  # of each connection that has any


class LiveConnections(Protocol):
    """The open connections and their subscriptions. A row that is gone stays gone: no method
    but `open` and `subscribe` makes one."""

    def open(self, connection: Connection) -> None: ...

    def counts(self, now: Millis) -> OpenCounts: ...

    def connection(self, id: str, now: Millis) -> Connection | None: ...

    def greet(self, id: str) -> None: ...

    def forget(self, id: str) -> None:
        """Deletes a connection with its subscriptions."""
        ...

    def subscribe(self, subscription: Subscription) -> bool:
        """Returns False if the connection has a subscription of that id."""
        ...

    def unsubscribe(self, connection: str, id: str) -> bool:
        """Returns False if there is no such subscription."""
        ...

    def take_frame(self, connection: str, id: str, now: Millis) -> Subscription | None:
        """Takes the next frame of a subscription, and returns the subscription. None if
        the last frame is less than FRAME_GAP old, or if there is no such subscription."""
        ...

    def plan_reset(self, connection: str, id: str, now: Millis) -> Subscription | None:
        """Notes that a subscription misses changes. Returns it if the caller has to send the
        reset; None if another has to, or if there is no such subscription."""
        ...

    def begin_reset(self, connection: str, id: str, now: Millis) -> bool:
        """Clears the note, before the reset is sent: what is missed from then on is noted again.
        Returns False if there is no such subscription."""
        ...

    def leave_reset(self, connection: str, id: str, now: Millis) -> None:
        """Notes that a subscription misses changes, and leaves the reset to the next push."""
        ...

    def until(self) -> Millis:
        """Returns until when there may be an open connection; 0 if there never was one."""
        ...

    def subscriptions(self, now: Millis) -> list[Subscription]: ...


class Posted(StrEnum):
    SENT = "sent"
    GONE = "gone"  # the connection has closed
    FAILED = "failed"  # too many posts, an error of API Gateway, or no answer in time


class ConnectionPosts(Protocol):
    """Sends frames to open connections."""

    def post(self, connection: str, frame: str) -> Posted: ...

    def close(self, connection: str) -> None:
        """Closes a connection; one that has closed already is ignored."""
        ...

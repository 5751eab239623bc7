"""The live feed: changes of the relay on AWS, on their way to open connections.

The relay never posts to a connection, so a slow client cannot delay its follow-ups. It invokes the
`websocket` function once for a batch, and only if a subscription wants something of it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.events import StatusChange
from duetime.core.live.connections import LiveConnections, Subscription
from duetime.core.live.pushes import Progressed, push_of
from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis

UNTIL_KEPT: Millis = 10 * SECOND  # how long a relay remembers whether there may be listeners
KEPT: Millis = 2 * SECOND  # how long it remembers the subscriptions
EMPTY_KEPT: Millis = 5 * SECOND  # the same, if there are none


class LiveFeed:
    """Kept by a warm relay. `invoke` queues the event of a push."""

    def __init__(
        self, rows: LiveConnections, invoke: Callable[[dict[str, Any]], object], clock: Clock
    ) -> None:
        self._rows = rows
        self._invoke = invoke
        self._clock = clock
        self._until: Millis = 0
        self._until_read_at: Millis | None = None
        self._subscriptions: list[Subscription] = []
        self._read_at: Millis | None = None

    def push(self, changes: Sequence[StatusChange], progressed: Sequence[Progressed] = ()) -> None:
        if not (changes or progressed) or not self._may_have_listeners():
            return
        push = push_of(changes, self._current(), progressed)
        if push.recipients or push.progress:
            self._invoke(push.event())

    def _may_have_listeners(self) -> bool:
        if self._is_older(self._until_read_at, UNTIL_KEPT):
            self._until = self._rows.until()
            self._until_read_at = self._clock.monotonic()
        return self._clock.now() < self._until

    def _current(self) -> list[Subscription]:
        if self._is_older(self._read_at, KEPT if self._subscriptions else EMPTY_KEPT):
            self._subscriptions = self._rows.subscriptions(self._clock.now())
            self._read_at = self._clock.monotonic()
        return self._subscriptions

    def _is_older(self, read_at: Millis | None, kept: Millis) -> bool:
        return read_at is None or self._clock.monotonic() - read_at >= kept

"""The pushes of one subscription: connects, subscribes, and does both again when it must.

Pushes are hints: whenever one may have been missed, the feed says so, and its caller reads.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duetime.client.calls import Call, Pause, ask
from duetime.client.errors import NotFound
from duetime.client.live_steps import (
    Close,
    Open,
    Receive,
    SendText,
    SocketLost,
    SocketRefused,
)
from duetime.client.responses import to_error
from duetime.core.errors import DuetimeError

TICKETS = "/v1/live/tickets"
VERSION = 1
ID = "s1"  # of the subscription: a socket has one
TICKET_LIFE = 30  # seconds
RENEW_BEFORE = 120  # seconds before the server closes the socket
ANSWER_TIME = 10.0  # seconds to wait for an answer to hello and subscribe
SHORTEST_PAUSE = 0.05  # seconds before the next try
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # the same, with full jitter
BUSY_PAUSE = 30.0  # seconds, after a refusal for too many connections
TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Changes:
    items: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ProgressMade:
    frame: dict[str, Any]


class Missed:
    """Changes may have been missed: read again."""


Push = Changes | ProgressMade | Missed
MISSED = Missed()


class Feed:
    """`subscription` has the topic and what belongs to it. Without support, by the server or on
    this side, there are no pushes."""

    def __init__(
        self,
        subscription: Mapping[str, Any],
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
        supported: bool = True,
    ) -> None:
        self._subscribe = {"op": "subscribe", "id": ID, **subscription}
        self._clock = clock
        self._chance = chance
        self._socket: Any = None
        self._failures = 0
        self._retry_at = clock()
        self._ping_every = self._ping_at = self._renew_at = 0.0
        self._supported = supported

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def next(self, until: float) -> Call[Push | None]:
        """Waits for a push. Returns None at the time `until`, even while there is no connection."""
        while True:
            now = self._clock()
            if self._supported and now >= (self._renew_at if self.connected else self._retry_at):
                if (yield from self._connect()):
                    return MISSED
            elif now >= until:
                return None
            elif not self.connected:
                yield Pause(min(until, self._retry_at if self._supported else until) - now)
            elif (push := (yield from self._receive(until))) is not None:
                return push

    def _receive(self, until: float) -> Call[Push | None]:
        now = self._clock()
        try:
            if now >= self._ping_at:
                self._ping_at = now + self._ping_every
                yield SendText(self._socket, '{"op":"ping"}')
            soonest = min(until, self._ping_at, self._renew_at)
            text = yield Receive(self._socket, max(soonest - now, 0))
        except SocketLost:
            self._lost()
            return None
        return None if text is None else (yield from self._push(_object(text)))

    def _push(self, frame: dict[str, Any]) -> Call[Push | None]:
        match frame.get("type"):
            case "changes":
                return Changes(frame["items"])
            case "progress":
                return ProgressMade(frame)
            case "reset":
                return MISSED
            case "bye":
                yield Close(self._socket)
                self._lost(float(frame.get("retry_after", 0)))
        return None

    def _connect(self) -> Call[bool]:
        """Opens a socket and subscribes; then closes the one before. Returns False if that fails:
        it is tried again later."""
        before = self._socket
        try:
            ticket = yield from ask("POST", TICKETS)
            yield from self._open(ticket)
        except NotFound:
            self._supported = False
        except SocketRefused as refused:
            self._fail(BUSY_PAUSE if refused.status == TOO_MANY else 0)
        except DuetimeError as error:
            if (status := getattr(error, "status", 0)) and status not in (TOO_MANY, 502, 503, 504):
                raise
            self._fail(BUSY_PAUSE if status == TOO_MANY else 0)
        else:
            self._failures = 0
            if before is not None:
                yield Close(before)
            return True
        # The socket before, if it is still there, is used until the server closes it.
        self._renew_at = self._retry_at
        return False

    def _open(self, ticket: Mapping[str, Any]) -> Call[None]:
        opened = yield Open(ticket["url"])
        try:
            yield SendText(opened, json.dumps({"op": "hello", "version": VERSION}))
            hello = yield from self._answer(opened, "hello")
            yield SendText(opened, json.dumps(self._subscribe))
            yield from self._answer(opened, "subscribed")
        except DuetimeError:
            yield Close(opened)
            raise
        now = self._clock()
        self._socket = opened
        self._ping_every = float(hello["ping_every"])
        self._ping_at = now + self._ping_every
        self._renew_at = now + _lifetime(hello, ticket) - RENEW_BEFORE

    def _answer(self, socket: Any, kind: str) -> Call[dict[str, Any]]:
        """Waits for a frame; others that come before it are passed over: a read follows."""
        give_up = self._clock() + ANSWER_TIME
        while (left := give_up - self._clock()) > 0:
            text = yield Receive(socket, left)
            if text is None:
                break
            frame = _object(text)
            if frame.get("type") == kind:
                return frame
            if frame.get("type") == "error":
                problem = frame["problem"]
                raise to_error(problem, problem["status"], self._subscribe)
        raise SocketLost("the server did not answer in time")

    def _lost(self, pause: float = 0) -> None:
        self._socket = None
        self._fail(pause)

    def _fail(self, pause: float = 0) -> None:
        jitter = self._chance() * min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE)
        self._failures = min(self._failures + 1, 10)
        self._retry_at = self._clock() + max(pause, jitter, SHORTEST_PAUSE)


def _lifetime(hello: Mapping[str, Any], ticket: Mapping[str, Any]) -> float:
    """Returns the seconds until the server closes the socket. Both times are of its clock, which
    may differ from ours."""
    made = _moment(ticket["expires_at"]) - TICKET_LIFE
    return max(_moment(hello["closes_at"]) - made, 2 * RENEW_BEFORE)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""The HTTP protocol of the local runner, with limits so that one client cannot block the others.

httptools parses faster than h11, but neither it nor uvicorn limits the bytes of a request's head,
the time that a request takes to arrive, or the number of connections. The protocol's own answers
are problem documents, like all others.
"""

from asyncio import TimerHandle, Transport
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from duetime.api.http import Problem

HEAD_LIMIT = 64 * 1024  # bytes of the request line and the headers, or of trailers
REQUEST_TIME = 30.0  # seconds from the first byte to the last
ANSWER_TIME = 30.0  # seconds that a client may leave a response unread
KEEP_ALIVE = 10  # seconds that a connection may be idle
MAX_PIPELINED = 32  # requests sent before the first is answered
MAX_REFUSALS = 64  # connections above the limit that get a response; more are just closed
REFUSAL_TIMEOUT = 1.0  # seconds until such a connection is closed

Head = list[tuple[bytes, bytes]]


TOO_MANY = Problem(
    503,
    "too-many-connections",
    "Too many connections",
    "The server has reached its limit of connections; close some, or try again.",
    headers={"retry-after": "1"},
)
TOO_LONG = Problem(
    431,
    "head-too-large",
    "The headers are too large",
    f"The request line and the headers may have {HEAD_LIMIT // 1024} KiB together.",
)
TOO_SLOW = Problem(
    408,
    "timeout",
    "The request took too long",
    f"A request must arrive within {REQUEST_TIME:g} s.",
)
MALFORMED = Problem(400, "malformed", "The request is not HTTP", "It cannot be parsed.")


class LimitedProtocol(HttpToolsProtocol):
    """One connection. `max_connections` limits the connections of the whole server."""

    def __init__(self, *arguments: Any, max_connections: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._max_connections = max_connections
        self._deadline: TimerHandle | None = None  # of the request that is arriving
        self._unread: TimerHandle | None = None  # of a response that the client does not read
        self._unparsed = 0  # consecutive bytes that neither ended a head nor belonged to a body
        self._progress = False
        self._received = False
        self._over_limit = False
        self._refused = False
        self._unanswered = 0  # requests whose head has arrived

    # The connection.

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        above = len(self.connections) - self._max_connections
        self._over_limit = above > 0
        if above > MAX_REFUSALS:
            self._refused = True
            transport.abort()
        else:
            self._expect(REFUSAL_TIMEOUT if self._over_limit else KEEP_ALIVE)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._over_limit:
            self._refuse(TOO_MANY)
            return
        if not self._received or (self._deadline is None and not self._unanswered):
            self._received = True
            self._expect(REQUEST_TIME)
        self._progress = False
        super().data_received(data)
        self._unparsed = 0 if self._progress else self._unparsed + len(data)
        if self._unparsed > HEAD_LIMIT:
            self._refuse(TOO_LONG)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(ANSWER_TIME, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def handle_websocket_upgrade(self) -> None:
        self._cancel_timers()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - our response says more
        self._refuse(MALFORMED)

    # The parser.

    def on_message_begin(self) -> None:
        if self._deadline is None:
            self._expect(REQUEST_TIME)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._progress = True
        if self._refused:
            return
        if len(self.url) + _size(self.headers) > HEAD_LIMIT:
            self._refuse(TOO_LONG)
        elif len(self.pipeline) >= MAX_PIPELINED:
            self._refuse(TOO_MANY)
        else:
            self._unanswered += 1
            super().on_headers_complete()

    def on_response_complete(self) -> None:
        self._unanswered -= 1
        super().on_response_complete()

    def on_body(self, body: bytes) -> None:
        self._progress = True
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._progress = True
        if not self._refused:
            self._expect(None)
            super().on_message_complete()

    # Limits.

    def _expect(self, seconds: float | None) -> None:
        """Set the deadline for the rest of the request; None for no deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._deadline = None
        if self.flow.read_paused:  # the delay is ours: uvicorn has paused reading
            self._expect(REQUEST_TIME)
        elif self._received:
            self._refuse(TOO_SLOW)
        else:
            self._refused = True
            self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Respond and close. While another response is being sent, or is due first, only close."""
        if self._refused:
            return
        self._refused = True
        self._expect(None)
        arriving = self._unanswered == 1 and self.cycle.more_body
        if not self._unanswered or (arriving and not self.cycle.response_started):
            self.transport.write(_encoded(problem, self.server_state.default_headers))
        self.transport.close()

    def _cancel_timers(self) -> None:
        self._expect(None)
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def _size(head: Head) -> int:
    return sum(len(name) + len(value) + 4 for name, value in head)


def _encoded(problem: Problem, default_headers: Head) -> bytes:
    response = problem.response()
    body = response.encoded()
    head = [(name.encode(), value.encode()) for name, value in response.headers.items()]
    head += [(b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    lines = [b"%s: %s\r\n" % pair for pair in (*default_headers, *head)]
    return b"".join([STATUS_LINE[response.status], *lines, b"\r\n", body])

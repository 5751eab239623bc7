"""Connections: they open with a ticket, say hello, and subscribe."""

import logging

from duetime.core.live import frames
from duetime.core.live.connections import (
    MAX_MESSAGE,
    TOPICS,
    Connection,
    ConnectionPosts,
    LiveConnections,
    Posted,
    Subscription,
)
from duetime.core.live.limits import ALL_SUBSCRIPTIONS, CONNECTIONS, LIFETIME, SUBSCRIPTIONS
from duetime.core.live.messages import (
    BadMessage,
    FieldProblem,
    Hello,
    Message,
    Ping,
    Subscribe,
    Unsubscribe,
    read_message,
)
from duetime.core.live.tickets import LiveTickets, Ticket, hash_of
from duetime.core.ports import Clock

log = logging.getLogger(__name__)


class Connections:
    """`origins` are the sites whose pages may connect; `*` allows all."""

    def __init__(
        self,
        tickets: LiveTickets,
        rows: LiveConnections,
        posts: ConnectionPosts,
        clock: Clock,
        origins: frozenset[str] = frozenset(),
    ) -> None:
        self._tickets = tickets
        self._rows = rows
        self._posts = posts
        self._clock = clock
        self._origins = origins

    def authorize(self, ticket: str, origin: str | None) -> Ticket | None:
        """Takes the ticket, so that it opens one connection. A browser names the site of the page
        that connects, and no other client does; a foreign site does not use up the ticket."""
        if origin is not None and not {origin, "*"} & self._origins:
            log.warning("connection refused: origin", extra={"step": "connect", "origin": origin})
            return None
        taken = self._tickets.take(hash_of(ticket), self._clock.now())
        if taken is None:
            log.warning("connection refused: ticket", extra={"step": "connect"})
        return taken

    def connect(self, id: str, actor: str | None, namespaces: frozenset[str] | None) -> bool:
        """Returns False if too many connections are open. Those that open at the same time may
        exceed the limit a little. Nothing can be sent yet: API Gateway answers 410 by now."""
        now = self._clock.now()
        if self._rows.counts(now).connections >= CONNECTIONS:
            log.warning("connection refused: too many", extra={"step": "connect", "actor": actor})
            return False
        closes_at = now + LIFETIME
        self._rows.open(Connection(id=id, closes_at=closes_at, actor=actor, namespaces=namespaces))
        return True

    def disconnect(self, id: str) -> None:
        self._rows.forget(id)

    def receive(self, id: str, text: str) -> None:
        """Answers a frame. A connection without a row is closed: its client connects again."""
        connection = self._rows.connection(id, self._clock.now())
        if connection is None:
            self._posts.close(id)
            return
        answer = self._answer(connection, text)
        if answer is None:
            return
        posted = self._posts.post(id, answer)
        if posted is Posted.GONE:
            self._rows.forget(id)
        elif posted is Posted.FAILED:
            log.warning("answer not sent", extra={"step": "receive", "connection": id})

    def _answer(self, connection: Connection, text: str) -> str | None:
        try:
            message = read_message(text, TOPICS)
        except BadMessage as refused:
            return frames.error(refused)
        if not connection.greeted and not isinstance(message, Hello):
            return frames.hello_first()
        return self._carry_out(connection, message, text)

    def _carry_out(self, connection: Connection, message: Message, text: str) -> str | None:
        match message:
            case Hello():
                self._rows.greet(connection.id)
                return frames.hello(connection.closes_at)
            case Subscribe():
                return self._subscribe(connection, message, text)
            case Unsubscribe(id):
                known = self._rows.unsubscribe(connection.id, id)
                return None if known else frames.no_subscription(id)
            case Ping():
                return frames.PONG

    def _subscribe(self, connection: Connection, wanted: Subscribe, text: str) -> str:
        if len(text.encode()) > MAX_MESSAGE:
            problem = f"must have at most {MAX_MESSAGE:,} bytes to subscribe"
            return frames.error(BadMessage([FieldProblem("message", problem)], wanted.id))
        counts = self._rows.counts(self._clock.now())
        if counts.subscriptions.get(connection.id, 0) >= SUBSCRIPTIONS:
            return frames.too_many(wanted.id, "of this connection", SUBSCRIPTIONS)
        if sum(counts.subscriptions.values()) >= ALL_SUBSCRIPTIONS:
            return frames.too_many(wanted.id, "of all connections", ALL_SUBSCRIPTIONS)
        stored = self._rows.subscribe(
            Subscription(
                connection=connection.id,
                id=wanted.id,
                message=text,
                closes_at=connection.closes_at,
                namespaces=connection.namespaces,
            )
        )
        return frames.subscribed(wanted.id) if stored else frames.id_in_use(wanted.id)

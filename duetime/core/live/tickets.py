"""Tickets: how a caller of the API becomes the owner of a WebSocket.

A browser cannot set headers on a WebSocket, so its URL has a ticket: random, valid for 30 s and for
one use. Only its hash is stored.
"""

from hashlib import sha256
from typing import Protocol

from duetime.core.live.limits import TICKET_LIFE
from duetime.core.times import Millis
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class Ticket:
    """`hash` is that of the text in the URL. `namespaces` are those that the caller may read; None:
    all."""

    hash: str
    expires_at: Millis
    actor: str | None = None
    namespaces: frozenset[str] | None = None

    def valid(self, now: Millis) -> bool:
        return now < self.expires_at


class LiveTickets(Protocol):
    """Where tickets are kept until they are used."""

    def add(self, ticket: Ticket, now: Millis) -> None: ...

    def take(self, hash: str, now: Millis) -> Ticket | None:
        """Removes a ticket and returns it: of two callers, one gets None. None, too, if it is
        unknown or has expired."""
        ...


def new_ticket(
    text: str,
    now: Millis,
    actor: str | None = None,
    namespaces: frozenset[str] | None = None,
) -> Ticket:
    """Returns what is stored of a ticket. `text` is what the URL has: 128 bits that cannot be
    predicted, as letters and digits."""
    expires_at = now + TICKET_LIFE
    return Ticket(hash=hash_of(text), expires_at=expires_at, actor=actor, namespaces=namespaces)


def hash_of(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()

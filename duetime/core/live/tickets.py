"""Tickets: how a caller of the API becomes the owner of a WebSocket.

A browser cannot set headers on a WebSocket, so its URL has a ticket: random, valid for 30 s and for
one use. Only its hash is stored.
"""

from hashlib import sha256
from typing import Protocol

from duetime.core.live.limits import TICKET_LIFE
from duetime.core.times import Millis
from duetime.core.value import value

BITS = 128
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


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
    now: Millis,
    randomness: int,
    actor: str | None = None,
    namespaces: frozenset[str] | None = None,
) -> tuple[str, Ticket]:
    """Returns the text for the URL, and what is stored. `randomness` holds 128 bits drawn by the
    caller from a source that cannot be predicted."""
    text = _text(randomness)
    expires_at = now + TICKET_LIFE
    return text, Ticket(
        hash=hash_of(text), expires_at=expires_at, actor=actor, namespaces=namespaces
    )


def hash_of(text: str) -> str:
    return sha256(text.encode(errors="replace")).hexdigest()


def _text(randomness: int) -> str:
    """Writes 128 bits as 22 letters and digits, which a URL takes as they are."""
    digits = []
    left = randomness % 2**BITS
    for _ in range(22):
        left, digit = divmod(left, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)

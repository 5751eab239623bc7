"""The tickets of live updates, in the memory of the runner."""

from threading import Lock

from duetime.core.live.tickets import Ticket
from duetime.core.times import Millis

MAX_TICKETS = 10_000  # that are not used; beyond that the oldest is dropped


class MemoryTickets:
    """The API adds tickets from its threads, the event loop takes them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tickets: dict[str, Ticket] = {}  # the oldest first

    def add(self, ticket: Ticket, now: Millis) -> None:
        with self._lock:
            self._drop_oldest(now)
            self._tickets[ticket.hash] = ticket

    def take(self, hash: str, now: Millis) -> Ticket | None:
        with self._lock:
            ticket = self._tickets.pop(hash, None)
        return ticket if ticket is not None and ticket.valid(now) else None

    def _drop_oldest(self, now: Millis) -> None:
        while self._tickets:
            oldest = next(iter(self._tickets.values()))
            if oldest.valid(now) and len(self._tickets) < MAX_TICKETS:
                return
            del self._tickets[oldest.hash]

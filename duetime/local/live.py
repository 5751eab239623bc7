"""Live updates of the local runner: the parts, wired."""

from collections.abc import Callable, Mapping, Sequence
from random import random
from typing import Any

from duetime.api.live import LiveAccess
from duetime.core.ports import Clock
from duetime.local.live_hub import LiveHub
from duetime.local.live_socket import LiveSocket, socket_address
from duetime.local.live_tickets import MemoryTickets

LANE_FIELDS = ("lane", "depth", "running", "oldest_seconds")

LaneStates = Callable[[], Sequence[Mapping[str, Any]]]


class LiveUpdates:
    """`lanes` returns the lanes as GET /v1/lanes does. `ticket_required`: a client without a ticket
    is refused, since every request needs a token.

    Attributes:
        hub: Takes status changes and progress.
        socket: Serves the clients.
        access: Where the API makes tickets."""

    def __init__(self, clock: Clock, lanes: LaneStates, *, ticket_required: bool = False) -> None:
        def shown() -> list[Mapping[str, Any]]:
            return [{name: lane[name] for name in LANE_FIELDS} for lane in lanes()]

        tickets = MemoryTickets()
        self.hub = LiveHub(clock, shown, random)
        self.socket = LiveSocket(self.hub, tickets, clock.now, ticket_required=ticket_required)
        self.access = LiveAccess(tickets=tickets, address=socket_address)

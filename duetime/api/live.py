"""/v1/live/tickets: what opens a WebSocket for live updates (see duetime.core.live)."""

from collections.abc import Callable, Mapping

from duetime.api.http import Problem, Request, Response, Router
from duetime.api.task_models import check_no_fields
from duetime.core.live.tickets import LiveTickets, new_ticket
from duetime.core.ports import Ports
from duetime.core.times import rfc3339
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class LiveAccess:
    """Where live updates are: `address` returns the URL of the WebSocket for a request, without
    the ticket."""

    tickets: LiveTickets
    address: Callable[[Request], str]


@value(frozen=True, slots=True)
class LiveRoute:
    ports: Ports
    access: LiveAccess | None  # None: this Duetime has no live updates

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/live/tickets", self.create)

    def create(self, request: Request, _: Mapping[str, str]) -> Response:
        check_no_fields(request)
        if self.access is None:
            detail = "This Duetime has no live updates: read again from time to time."
            raise Problem(404, "not-found", "Not found", detail)
        now, chance = self.ports.clock.now(), self.ports.chance
        text = chance.nonce() + chance.nonce()  # 64 bits each
        ticket = new_ticket(text, now, request.caller.actor)
        self.access.tickets.add(ticket, now)
        url = f"{self.access.address(request)}?ticket={text}"
        return Response(status=201, body={"url": url, "expires_at": rfc3339(ticket.expires_at)})

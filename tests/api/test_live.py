"""POST /v1/live/tickets."""

from urllib.parse import parse_qs, urlsplit

import pytest

from duetime.api.app import Api
from duetime.api.callers import Caller
from duetime.api.http import Request
from duetime.api.live import LiveAccess
from duetime.core.live.tickets import hash_of, new_ticket
from duetime.core.times import SECOND, rfc3339
from duetime.local.live_tickets import MAX_TICKETS, MemoryTickets
from tests.api.service import Service

TICKETS = "/v1/live/tickets"
HEADERS = {"host": "localhost:8080", "content-type": "application/json"}


@pytest.fixture
def tickets(service: Service) -> MemoryTickets:
    kept = MemoryTickets()
    access = LiveAccess(
        tickets=kept, address=lambda request: f"ws://{request.headers['host']}/v1/live"
    )
    service.api = Api(service.ports, handlers=set, version="9.9.9", live=access)
    return kept


def ask(service: Service, body: bytes = b""):
    return service.api.call(Request(method="POST", path=TICKETS, headers=HEADERS, body=body))


def ticket_in(url: str) -> str:
    [text] = parse_qs(urlsplit(url).query)["ticket"]
    return text


def test_ticket_is_in_the_url_of_the_socket(service: Service, tickets: MemoryTickets):
    answer = ask(service)
    now = service.clock.now()

    assert answer.status == 201
    assert answer.body["expires_at"] == rfc3339(now + 30 * SECOND)
    assert answer.body["url"].startswith("ws://localhost:8080/v1/live?ticket=")
    assert tickets.take(hash_of(ticket_in(answer.body["url"])), now) is not None


def test_ticket_names_its_caller(service: Service, tickets: MemoryTickets):
    ada = Caller(actor="ada")
    answer = service.api.call(Request(method="POST", path=TICKETS, caller=ada, headers=HEADERS))
    taken = tickets.take(hash_of(ticket_in(answer.body["url"])), service.clock.now())

    assert taken is not None
    assert taken.actor == "ada"


def test_ticket_is_taken_once_and_within_its_time(service: Service, tickets: MemoryTickets):
    first, second = (hash_of(ticket_in(ask(service).body["url"])) for _ in range(2))
    now = service.clock.now()

    assert tickets.take(first, now) is not None
    assert tickets.take(first, now) is None
    assert tickets.take(second, now + 30 * SECOND) is None
    assert tickets.take(hash_of("unknown"), now) is None


def test_tickets_that_are_not_used_do_not_fill_the_memory():
    kept = MemoryTickets()
    made = [new_ticket(str(number), 0) for number in range(MAX_TICKETS + 1)]
    for ticket in made:
        kept.add(ticket, 0)

    assert kept.take(made[0].hash, 0) is None
    assert kept.take(made[-1].hash, 0) == made[-1]

    late = new_ticket("late", 31 * SECOND)
    kept.add(late, 31 * SECOND)
    assert [*kept._tickets] == [late.hash]


def test_request_for_a_ticket_takes_no_fields(service: Service, tickets: MemoryTickets):
    assert ask(service, b"{}").status == 201

    refused = ask(service, b'{"namespace": "shop"}')
    assert refused.status == 422
    assert refused.body["errors"] == [{"field": "namespace", "message": "unknown field"}]


def test_duetime_without_live_updates_has_no_tickets(service: Service):
    answer = ask(service)

    assert (answer.status, answer.body["type"]) == (404, "urn:duetime:problem:not-found")

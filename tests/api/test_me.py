"""GET /v1/me and GET /v1/handlers."""

from duetime.api.app import Api
from duetime.api.callers import READ_ONLY, Caller
from duetime.api.http import Request
from duetime.api.live import LiveAccess
from duetime.core.times import rfc3339
from duetime.local.live_tickets import MemoryTickets
from tests.api.service import HANDLER, Service, refusal
from tests.factories import NOW


def test_caller_sees_who_it_is_and_what_it_may_do(service: Service):
    live = LiveAccess(tickets=MemoryTickets(), address=lambda _: "ws://127.0.0.1/v1/live")
    api = Api(service.ports, handlers=lambda: (), version="9.9.9", stage="prod", live=live)

    caller = Caller(actor="ada", authorization="token")
    answer = api.call(Request(method="GET", path="/v1/me", caller=caller))

    assert answer.body == {
        "actor": "ada",
        "rights": ["read", "operate", "work"],
        "authorization": "token",
        "features": ["live"],
        "stage": "prod",
        "version": "9.9.9",
        "time": rfc3339(NOW),
        "namespace_default": "default",
    }
    assert answer.headers["cache-control"] == "private, max-age=2"


def test_reader_has_the_right_to_read_alone(service: Service):
    request = Request(method="GET", path="/v1/me", caller=Caller(rights=READ_ONLY))

    assert service.api.call(request).body["rights"] == ["read"]


def test_deployment_without_live_updates_has_no_such_feature(service: Service):
    assert service.get("/v1/me").body["features"] == []


def test_parameter_of_me_is_refused(service: Service):
    assert refusal(service.get("/v1/me", a="b")) == {"a": "unknown parameter"}


def test_handlers_of_which_only_names_are_known(service: Service):
    answer = service.get("/v1/handlers")

    [item] = answer.body["items"]
    assert (item["name"], item["module"], item["defaults"]) == (HANDLER, None, {})
    assert answer.body["next_cursor"] is None

"""Tasks with an `http` target meet the declared routes, and nothing else."""

import socket
from datetime import timedelta
from typing import Any

import pytest

from duetime.testing import Reply, UndeclaredRequest, UndeclaredTarget, World, world
from duetime.webhooks import verify

CHARGE = "https://api.shop/charge"


def a_target(**fields: Any) -> Any:
    return {"type": "http", "url": CHARGE, **fields}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("a test reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def test_route_answers_one_request_after_the_other(w: World):
    route = w.http.post(CHARGE).replies(503, 503, 200)
    task = w.client.submit(target=a_target(headers={"x-shop": "1"}), payload={"cents": 500})
    w.drain()

    assert w.client.get(task["id"])["result"] == {"status": 200, "body": ""}
    assert [a.error and a.error.type for a in w.attempts(task["id"])] == [
        *("Http503", "Http503"),
        None,
    ]
    assert [call.json() for call in route.calls] == [{"cents": 500}] * 3
    headers = [call.headers for call in route.calls]
    assert {h["idempotency-key"] for h in headers} == {task["id"]}
    assert [h["duetime-attempt"] for h in headers] == ["1", "2", "3"]
    assert headers[0]["x-shop"] == "1"


def test_route_answers_with_json_text_and_headers(w: World):
    w.http.post(CHARGE).replies(
        Reply(429, headers={"Retry-After": "3600"}), Reply(200, json={"ok": True})
    )
    task = w.client.submit(target=a_target())
    w.drain()
    first, second = w.attempts(task["id"])
    assert second.started_at - first.started_at == timedelta(hours=1)
    assert w.client.get(task["id"])["result"] == {"status": 200, "body": {"ok": True}}


def test_status_has_the_body_that_is_given_beside_it(w: World):
    w.http.post(CHARGE).replies(200, text="thanks")
    task = w.client.submit(target=a_target())
    w.drain()
    assert w.client.get(task["id"])["result"] == {"status": 200, "body": "thanks"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "ReadTimeoutError"),
        (ConnectionRefusedError(), "ConnectionFailed"),
        (ConnectionResetError("reset"), "ProtocolError"),
        (RuntimeError("odd"), "RuntimeError"),
    ],
)
def test_exception_fails_the_attempt_as_a_real_connection_does(
    w: World, error: Exception, kind: str
):
    w.http.post(CHARGE).replies(error, 200)
    task = w.client.submit(target=a_target())
    w.drain()
    assert [a.error and a.error.type for a in w.attempts(task["id"])] == [kind, None]


def test_undeclared_url_fails_the_test_with_the_declared_routes(w: World):
    w.http.get(CHARGE)
    task = w.client.submit(target=a_target())
    with pytest.raises(UndeclaredRequest) as raised:
        w.drain()
    assert str(raised.value) == (
        "a task sent POST https://api.shop/charge, and no route answers it. Declared: GET"
        f' {CHARGE}. Declare it: w.http.post("{CHARGE}").replies(200)'
    )
    assert w.client.get(task["id"])["status"] == "DEAD"
    assert len(w.attempts(task["id"])) == 1
    w.drain()  # it is raised once


def test_undeclared_url_fails_the_test_at_the_end_of_the_world():
    def run() -> None:
        with world(mode="inline") as w:
            w.client.submit(target=a_target(), delay=1)
            w._roles.run_until(w._clock.now() + 1_000)

    with pytest.raises(UndeclaredRequest):
        run()


def test_error_of_the_test_itself_comes_first():
    def run() -> None:
        with world() as w:
            w.client.submit(target=a_target())
            w._roles.run_due()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()


def test_route_without_a_query_answers_every_query_and_the_latest_route_wins(w: World):
    w.http.any("https://api.shop/*").replies(500)
    exact = w.http.post(CHARGE).replies(200)
    for url in (f"{CHARGE}?a=1", CHARGE):
        w.client.submit(target=a_target(url=url))
    w.drain()
    assert [call.url for call in exact.calls] == [f"{CHARGE}?a=1", CHARGE]
    other = w.http.route("DELETE", "https://api.shop/orders/*")
    w.client.submit(target=a_target(url="https://api.shop/orders/17", method="DELETE"))
    w.drain()
    assert [call.method for call in other.calls] == ["DELETE"]


def test_route_of_no_url_or_method_is_refused(w: World):
    with pytest.raises(ValueError, match="is not a URL"):
        w.http.get("/charge")
    with pytest.raises(ValueError, match="is not one of GET"):
        w.http.route("get", CHARGE)


def test_secret_of_the_world_signs_a_request():
    secret = {"value": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "hosts": ["api.shop"]}
    with world(secrets={"shop": secret}, start="now") as w:
        route = w.http.post(CHARGE)
        task = w.client.submit(target=a_target(sign={"$secret": "shop"}), payload={"cents": 5})
        w.drain()
        [call] = route.calls
        assert verify(call.headers, call.body, secret["value"], clock=w.now.timestamp) == task["id"]


def test_other_target_runs_the_function_that_the_test_declares(w: World):
    sent: list[Any] = []

    def send(target: Any, payload: Any) -> str:
        sent.append((target["queue"], payload))
        return "sent"

    queue = "arn:aws:sqs:eu-central-1:123456789012:orders"
    w.targets["sqs"] = send
    task = w.client.submit(target={"type": "sqs", "queue": queue}, payload={"order": 17})
    w.drain()
    assert (w.client.get(task["id"])["result"], sent) == ("sent", [(queue, {"order": 17})])


def test_undeclared_target_fails_the_test(w: World):
    queue = "arn:aws:sqs:eu-central-1:123456789012:orders"
    w.client.submit(target={"type": "sqs", "queue": queue}, payload={})
    with pytest.raises(
        UndeclaredTarget, match=r'type \'sqs\'; declare what it does: w.targets\["s'
    ):
        w.drain()

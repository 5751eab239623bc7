"""The client with scripted answers: the requests that it sends, and its errors."""

import json
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import httpx
import pytest

from duetime.client import (
    ApiError,
    BadAddress,
    BadArgument,
    Client,
    FieldError,
    StillGoing,
    Submitted,
    Unreachable,
)
from duetime.client.transport import Server
from duetime.core.errors import DuetimeError
from duetime.core.ids import is_id
from tests.client.scripted_server import Script, ok

PROBLEM = {"content-type": "application/problem+json"}
HELLO = {"type": "python", "handler": "demo.hello"}


class Clock:
    """Time that passes only during a sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_submit_sends_the_fields_and_returns_the_task() -> None:
    script = Script(ok({"id": "t1"}, 201))
    assert script.client().submit(target=HELLO, delay=10) == {"id": "t1"}
    [request] = script.asked
    assert (request.method, request.url.path) == ("POST", "/v1/tasks")
    sent = json.loads(request.content)
    assert is_id(sent.pop("id"))
    assert sent == {"target": HELLO, "delay": 10}


@dataclass
class Order:
    id: UUID
    placed_at: datetime


class Region(StrEnum):
    EU = "eu"


AT = datetime(2030, 1, 1, 9, tzinfo=timezone(timedelta(hours=1)))


def test_fields_and_payload_may_hold_pythons_own_types() -> None:
    script = Script(ok({"id": "t1"}, 201))
    script.client().submit(
        target=HELLO,
        run_at=AT,
        timeout=timedelta(minutes=2),
        retry={"base_delay": timedelta(seconds=1.5)},
        idempotency_key=UUID(int=7),
        payload={"order": Order(UUID(int=8), AT), "total": Decimal("9.90"), "in": Region.EU},
    )
    [request] = script.asked
    sent = json.loads(request.content)
    assert is_id(sent.pop("id"))
    assert sent == {
        "target": HELLO,
        "run_at": "2030-01-01T09:00:00+01:00",
        "timeout": 120.0,
        "retry": {"base_delay": 1.5},
        "idempotency_key": str(UUID(int=7)),
        "payload": {
            "order": {"id": str(UUID(int=8)), "placed_at": "2030-01-01T09:00:00+01:00"},
            "total": "9.90",
            "in": "eu",
        },
    }


def test_a_delay_may_be_a_timedelta() -> None:
    script = Script(ok({"results": []}))
    script.client().submit_batch([{"target": HELLO, "delay": timedelta(minutes=5)}])
    assert json.loads(script.asked[0].content)["tasks"][0]["delay"] == 300


def test_a_filter_may_be_a_datetime() -> None:
    script = Script(ok({"items": [], "next_cursor": None}))
    script.client().dead_letters.page(died_after=AT)
    assert script.asked[0].url.params["died_after"] == "2030-01-01T09:00:00+01:00"


@pytest.mark.parametrize(
    ("fields", "name", "why"),
    [
        ({"run_at": datetime(2030, 1, 1)}, "run_at", "a datetime needs a time zone"),
        ({"payload": [{"raw": b"x"}]}, "payload.0.raw", "bytes are not JSON"),
        ({"payload": {"f": open}}, "payload.f", "is not JSON; use its id, or str() of it"),
        ({"delay": float("inf")}, "delay", "inf is not JSON"),
    ],
)
def test_value_that_json_lacks_is_refused_before_it_is_sent(
    fields: Any, name: str, why: str
) -> None:
    script = Script(ok({"id": "t1"}, 201))
    with pytest.raises(BadArgument, match=f"^{name}: .*") as caught:
        script.client().submit(target=HELLO, **fields)
    assert caught.value.name == name
    assert why in str(caught.value)
    assert script.asked == []


def test_change_sends_the_given_fields_only_and_null_as_null() -> None:
    script = Script(ok({"id": "t1"}))
    task = script.client().change(
        "t1", run_at=AT, expires_at=None, retry={"base_delay": timedelta(seconds=2)}
    )
    [request] = script.asked
    assert (task, request.method, request.url.path) == ({"id": "t1"}, "PATCH", "/v1/tasks/t1")
    assert json.loads(request.content) == {
        "run_at": "2030-01-01T09:00:00+01:00",
        "expires_at": None,
        "retry": {"base_delay": 2},
    }


def test_run_makes_a_task_due_now() -> None:
    script = Script(ok({"id": "t1"}))
    assert script.client().run("t1") == {"id": "t1"}
    [request] = script.asked
    assert (request.method, request.url.path) == ("POST", "/v1/tasks/t1/run")
    assert request.content == b""


def test_a_batch_answers_for_each_task() -> None:
    script = Script(ok({"results": [{"status": 201}, {"status": 422}]}))
    results = script.client().submit_batch([{"target": HELLO}, {"target": {}}])
    assert [result["status"] for result in results] == [201, 422]
    assert script.asked[0].url.path == "/v1/tasks/batch"


def test_an_address_with_a_path_keeps_it() -> None:
    script = Script(ok({}))
    client = script.client("https://api.test/prod/")
    client.get("t1")
    assert client.url == "https://api.test/prod"
    assert str(script.asked[0].url) == "https://api.test/prod/v1/tasks/t1"


def test_an_id_cannot_reach_another_path() -> None:
    script = Script(ok({}))
    script.client().cancel("../schedules/s1?x=1")
    assert script.asked[0].url.raw_path == b"/v1/tasks/..%2Fschedules%2Fs1%3Fx%3D1"


def test_the_environment_names_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUETIME_URL", "http://elsewhere.test:9")
    assert Client().url == "http://elsewhere.test:9"
    assert Client("http://given.test").url == "http://given.test"
    monkeypatch.setenv("DUETIME_URL", "")
    assert Client().url == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    "text", ["nowhere", "ftp://x", "http://", "http://x:many", "127.0.0.1:8080"]
)
def test_bad_address_is_refused(text: str) -> None:
    with pytest.raises(BadAddress, match="is not an address"):
        Client(text)


def test_query_has_only_the_given_parameters() -> None:
    script = Script(ok({"items": [], "next_cursor": None}))
    script.client().page(status="DEAD", limit=5)
    assert dict(script.asked[0].url.params) == {"status": "DEAD", "limit": "5"}


def test_query_has_every_filter_of_a_list() -> None:
    script = Script(ok({"items": [], "next_cursor": None}))
    since = datetime(2026, 11, 16, 9, tzinfo=UTC)
    script.client().page(
        namespace="*",
        status=["DEAD", "RETRYING"],
        tag={"team": "growth", "tier": "1"},
        name="re stock",
        handler="shop.restock",
        created_since=since,
        upcoming=False,
        order="soonest",
        fields="summary",
    )

    assert script.asked[0].url.params.multi_items() == [
        ("namespace", "*"),
        ("status", "DEAD,RETRYING"),
        ("tag", "team:growth"),
        ("tag", "tier:1"),
        ("name", "re stock"),
        ("handler", "shop.restock"),
        ("created_since", "2026-11-16T09:00:00+00:00"),
        ("upcoming", "false"),
        ("order", "soonest"),
        ("fields", "summary"),
    ]


def test_payload_and_result_are_read_by_themselves() -> None:
    script = Script(ok({"a": 1}), ok([2]))

    assert (script.client().payload("t1"), script.client().result("t/2")) == ({"a": 1}, [2])
    paths = [request.url.raw_path for request in script.asked]
    assert paths == [b"/v1/tasks/t1/payload", b"/v1/tasks/t%2F2/result"]


def test_client_asks_for_gzip() -> None:
    script = Script(ok({"items": [], "next_cursor": None}))
    script.client().page()

    assert "gzip" in script.asked[0].headers["accept-encoding"]


def test_a_list_goes_on_past_an_empty_page() -> None:
    script = Script(
        ok({"items": [{"id": "c"}], "next_cursor": "1"}),
        ok({"items": [], "next_cursor": "2"}),
        ok({"items": [{"id": "a"}], "next_cursor": None}),
    )
    assert [task["id"] for task in script.client().list(namespace="n")] == ["c", "a"]
    assert [r.url.params.get("cursor") for r in script.asked] == [None, "1", "2"]
    assert {r.url.params["namespace"] for r in script.asked} == {"n"}


def test_attempts_are_read_to_the_end() -> None:
    script = Script(
        ok({"items": [{"number": 1}], "next_cursor": "1"}),
        ok({"items": [{"number": 2}], "next_cursor": None}),
    )
    assert [a["number"] for a in script.client().attempts("t1")] == [1, 2]
    assert script.asked[1].url.params["cursor"] == "1"


def test_a_problem_becomes_an_error_with_its_fields() -> None:
    body = {
        "type": "about:blank",
        "title": "Invalid",
        "status": 422,
        "detail": "two fields are wrong",
        "errors": [{"field": "delay", "message": "is negative"}],
    }
    script = Script(httpx.Response(422, json=body, headers=PROBLEM))
    with pytest.raises(ApiError) as caught:
        script.client().submit(target=HELLO, delay=-1)
    error = caught.value
    assert (error.status, error.title, error.detail) == (422, "Invalid", "two fields are wrong")
    assert error.errors == (FieldError("delay", "is negative"),)
    assert str(error) == "Invalid: two fields are wrong"
    assert isinstance(error, DuetimeError)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (httpx.Response(502, text="<html>"), "Bad Gateway"),
        (httpx.Response(500, json=["odd"]), "Internal Server Error"),
        (httpx.Response(400, json={"message": "Odd"}), "Bad Request: Odd"),
        (httpx.Response(404, json={"title": None}), "HTTP 404"),
    ],
)
def test_error_of_a_gateway_keeps_its_message(answer: httpx.Response, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        Script(answer).client().get("t1")
    assert str(caught.value) == words
    assert caught.value.status == answer.status_code


@pytest.mark.parametrize("reason", [httpx.ConnectError("no"), httpx.ConnectTimeout("no")])
@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("http://127.0.0.1:1", "start it with `duetime local` or set DUETIME_URL"),
        ("http://duetime.test", "check DUETIME_URL and the network"),
    ],
)
def test_no_answer_says_what_to_do(reason: Exception, url: str, remedy: str) -> None:
    with pytest.raises(Unreachable) as caught:
        Script(reason).client(url).health()
    assert str(caught.value) == f"Duetime does not answer at {url}; {remedy}"
    assert isinstance(caught.value, DuetimeError)


def test_slow_answer_is_distinguished_from_none() -> None:
    with pytest.raises(Unreachable, match="No answer within 10 s at http"):
        Script(httpx.ReadTimeout("slow")).client().health()


def test_server_that_is_not_duetime_is_recognised() -> None:
    with pytest.raises(Unreachable, match="not Duetime"):
        Script(httpx.Response(200, text="<html>hello</html>")).client().health()


@pytest.mark.parametrize(
    ("url", "loads"),
    [
        ("http://127.0.0.1:8080", False),
        ("https://127.0.0.1:8080", True),
        ("http://duetime.test", True),  # its proxy may speak TLS
        ("https://duetime.test", True),
    ],
)
def test_authorities_are_loaded_only_where_tls_may_be_spoken(url: str, loads: bool) -> None:
    verify = Server(url, 5, None, None).http_options()["verify"]
    if loads:
        assert verify is True
    else:
        assert verify.cert_store_stats()["x509_ca"] == 0
        assert verify.verify_mode is ssl.CERT_REQUIRED


def test_no_proxy_is_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "bogus://proxy.test:1")
    Client("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="bogus"):
        Client("http://duetime.test")


def statuses(*names: str) -> Script:
    return Script(*(ok({"id": "t1", "status": name}) for name in names))


def wait(script: Script, clock: Clock, **options: Any) -> str:
    return script.client(sleep=clock.sleep, clock=clock).wait("t1", **options)["status"]


@pytest.mark.parametrize("end", ["SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED"])
def test_wait_returns_the_task_that_has_ended(end: str) -> None:
    clock = Clock()
    assert wait(statuses("PENDING", "RUNNING", end), clock, poll=2.0) == end
    assert clock.slept == [2.0, 2.0]


def test_wait_gives_up_at_its_time_and_not_a_poll_later() -> None:
    clock = Clock()
    with pytest.raises(StillGoing, match="t1 is still RUNNING after 5 s") as caught:
        wait(statuses("RUNNING"), clock, poll=2.0, timeout=5)
    assert clock.slept == [2.0, 2.0, 1.0]
    assert caught.value.task["status"] == "RUNNING"


def test_wait_reads_once_more_at_its_timeout() -> None:
    assert wait(statuses("RUNNING", "SUCCEEDED"), Clock(), poll=9.0, timeout=1) == "SUCCEEDED"


def test_wait_goes_on_at_an_unknown_status() -> None:
    assert wait(statuses("PAUSED", "SUCCEEDED"), Clock()) == "SUCCEEDED"


def test_follow_yields_every_reading() -> None:
    clock = Clock()
    script = statuses("PENDING", "RUNNING", "DEAD")
    client = script.client(sleep=clock.sleep, clock=clock)
    assert [task["status"] for task in client.follow("t1")] == ["PENDING", "RUNNING", "DEAD"]


UNREACHABLE = httpx.ConnectError("no")


def patient(clock: Clock, *answers: httpx.Response | Exception) -> tuple[Client, list[str]]:
    reported: list[str] = []
    client = Script(*answers).client(
        sleep=clock.sleep,
        clock=clock,
        patience=3,
        on_silence=lambda error: reported.append(str(error)),
    )
    return client, reported


def test_follow_outlives_a_restart_and_reports_it_once() -> None:
    clock = Clock()
    running, ended = (ok({"id": "t1", "status": name}) for name in ("RUNNING", "DEAD"))
    client, reported = patient(
        clock, running, UNREACHABLE, UNREACHABLE, running, UNREACHABLE, ended
    )
    assert client.wait("t1", poll=1)["status"] == "DEAD"
    assert [words[:24] for words in reported] == ["Duetime does not answer "] * 2
    assert clock.now == 5


def test_follow_gives_up_after_its_patience() -> None:
    clock = Clock()
    client, reported = patient(clock, ok({"id": "t1", "status": "RUNNING"}), UNREACHABLE)
    with pytest.raises(Unreachable):
        client.wait("t1", poll=2)
    assert clock.slept == [2, 2, 1]
    assert len(reported) == 1


def test_follow_gives_up_at_its_timeout_before_its_patience() -> None:
    clock = Clock()
    client, _ = patient(clock, ok({"id": "t1", "status": "RUNNING"}), UNREACHABLE)
    with pytest.raises(Unreachable):
        client.wait("t1", poll=1, timeout=2)
    assert clock.now == 2


def test_follow_fails_at_once_if_the_first_read_fails() -> None:
    clock = Clock()
    client, reported = patient(clock, UNREACHABLE)
    with pytest.raises(Unreachable):
        client.wait("t1")
    assert (clock.slept, reported) == ([], [])


@pytest.mark.parametrize(("status", "replayed"), [(201, False), (200, True)])
def test_submit_once_reports_a_replayed_key(status: int, replayed: bool) -> None:
    submitted = Script(ok({"id": "t1"}, status)).client().submit_once(target=HELLO)
    assert submitted == Submitted({"id": "t1"}, replayed=replayed)  # type: ignore[typeddict-item]


def test_reason_is_sent_with_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(ok({"id": "t", "status": "CANCELLED"}))

    script.client(reason="moved by Zoë, 100 %").cancel("t")
    monkeypatch.setenv("DUETIME_REASON", "acme is back")
    script.client().cancel("t")
    monkeypatch.delenv("DUETIME_REASON")
    script.client().cancel("t")

    sent = [request.headers.get("duetime-reason") for request in script.asked]
    assert sent == ["moved by Zo%C3%AB, 100 %25", "acme is back", None]


def test_calls_about_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(ok({"items": [{"name": "a"}], "next_cursor": None}))
    client = script.client()

    assert client.handlers() == [{"name": "a"}]
    client.stuck(namespace="shop", limit=5)
    client.me()
    client.dead_letters.groups(handler="a", cursor="c")

    assert [str(request.url).partition(".test")[2] for request in script.asked] == [
        "/v1/handlers",
        "/v1/stuck?namespace=shop&limit=5",
        "/v1/me",
        "/v1/dead-letters/groups?handler=a&cursor=c",
    ]

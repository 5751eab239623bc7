"""The `http` target with secrets, against real servers: where they go, and where they never are."""

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.secrets import Secret, read_secret
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND
from duetime.executor.executor import Executor
from duetime.executor.targets.address_policy import AddressPolicy
from duetime.executor.targets.http import BODY_LIMIT, HttpTarget
from duetime.executor.targets.ip_ranges import Kind
from duetime.webhooks import verify
from tests.factories import result_of
from tests.raw_http_server import RawHttpServer
from tests.sink import Answer, Sink, a_sink
from tests.world import World

VALUE = "Bearer sk_live/hunter2+é"
KEY = {"$secret": "key"}
HOSTS = ["127.0.0.1"]


class Secrets:
    """A store of secrets that a test changes."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.fails: Exception | None = None

    def set(self, name: str, value: str = VALUE, **fields: Any) -> None:
        self.given[name] = {"value": value, "hosts": HOSTS} | fields

    def get(self, name: str) -> Secret | None:
        if self.fails:
            raise self.fails
        return read_secret(name, self.given[name]) if name in self.given else None


@pytest.fixture(scope="module")
def shared_sink() -> Iterator[Sink]:
    with a_sink() as sink:
        yield sink


@pytest.fixture
def sink(shared_sink: Sink) -> Sink:
    shared_sink.asked.clear()
    shared_sink.answer = Answer()
    return shared_sink


@pytest.fixture(autouse=True)
def secrets(world: World) -> Secrets:
    world.chance.luck = 0
    secrets = Secrets()
    secrets.set("key")
    policy = AddressPolicy(kinds=frozenset({Kind.LOOPBACK}))
    world.executor = Executor(world.ports, {"http": HttpTarget(world.clock, policy, secrets)})
    return secrets


@pytest.fixture
def leaks(world: World, caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Returns where a telling part of a value is: in the bytes of the database, or in the log."""
    caplog.set_level(logging.DEBUG)

    def search() -> list[str]:
        with world.store.port._database.read() as connection:
            stored = connection.serialize()
        formatter = logging.Formatter()
        records = [formatter.format(record) + str(record.__dict__) for record in caplog.records]
        places = {"store": stored, "log": "\n".join(records).encode()}
        assert b"$secret" in stored
        return [name for name, data in places.items() if b"hunter" in data]

    return search


def call(world: World, url: str, **fields: Any) -> Task:
    """Returns the task after one attempt."""
    target = {"headers": {"Authorization": KEY}} | fields.pop("target", {})
    payload, timeout = fields.pop("payload", None), fields.pop("timeout", 5)
    task_id = world.submit(
        target={"type": "http", "url": url, **target}, payload=payload, timeout=timeout, **fields
    )
    world.deliver()
    return world.task(task_id)


def error_of(task: Task) -> tuple[str, str]:
    assert task.current is not None
    assert task.current.error is not None
    return task.current.error.type, task.current.error.message


def test_secret_header_reaches_its_host_and_the_store_keeps_its_name(
    world: World, sink: Sink, leaks: Any
):
    task = call(world, sink.url)

    [asked] = sink.asked
    assert asked.headers["Authorization"] == VALUE
    assert task.status is Status.SUCCEEDED
    assert task.spec.target["headers"] == {"Authorization": KEY}
    assert leaks() == []


def test_same_name_is_looked_up_again_on_every_try(world: World, sink: Sink, secrets: Secrets):
    sink.answer = Answer(status=503)
    task = call(world, sink.url)
    secrets.set("key", "Bearer rotated")
    world.advance_to(task.due_at)
    world.deliver()

    assert [asked.headers["Authorization"] for asked in sink.asked] == [VALUE, "Bearer rotated"]


@pytest.mark.parametrize(
    ("hosts", "namespaces", "reason"),
    [
        (["api.stripe.com"], ["*"], "secret 'key' is not for host '127.0.0.1'"),
        (["127.0.0.2"], ["*"], "secret 'key' is not for host '127.0.0.1'"),
        (HOSTS, ["shop"], "secret 'key' is not for namespace 'default'"),
    ],
)
def test_other_host_or_namespace_is_refused_for_good(
    world: World, sink: Sink, secrets: Secrets, leaks: Any, hosts: Any, namespaces: Any, reason: str
):
    secrets.set("key", hosts=hosts, namespaces=namespaces)
    task = call(world, sink.url)

    assert task.status is Status.DEAD
    assert error_of(task) == ("SecretRefused", f"target.headers.Authorization: {reason}")
    assert sink.asked == []
    assert leaks() == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1\\@localhost:{port}/",
        "http://127.0.0.1@localhost:{port}/",
        "http://127.0.0.1#@localhost:{port}/",
        "http://localhost:{port}/?@127.0.0.1",
        "http://localhost:{port}/\\127.0.0.1",
    ],
)
def test_url_that_parsers_read_differently_sends_no_secret_elsewhere(
    world: World, sink: Sink, secrets: Secrets, url: str
):
    """No such URL is accepted; a template may become one."""
    call(world, url.format(port=sink.port), timeout=1)

    assert [a for a in sink.asked if a.headers["Host"].startswith("localhost")] == []


def test_redirect_carries_a_secret_nowhere(world: World, sink: Sink, secrets: Secrets):
    with a_sink() as elsewhere:
        sink.answer = Answer(status=307, headers={"Location": elsewhere.url})
        task = call(world, sink.url)

    assert (task.status, len(sink.asked), elsewhere.asked) == (Status.DEAD, 1, [])


def test_plain_http_is_refused_beyond_loopback(world: World, secrets: Secrets):
    secrets.set("key", hosts=["example.com"])
    task = call(world, "http://example.com/")

    kind, message = error_of(task)
    assert (task.status, kind) == (Status.DEAD, "SecretRefused")
    assert message.endswith('without TLS; list "http://example.com" in its hosts for that')


def test_secret_that_does_not_exist_fails_for_good(world: World, sink: Sink, secrets: Secrets):
    task = call(world, sink.url, target={"headers": {"X-Key": {"$secret": "gone"}}})

    assert task.status is Status.DEAD
    assert error_of(task) == ("SecretNotFound", "target.headers.X-Key: no secret 'gone'")
    assert sink.asked == []


def test_executor_without_secrets_finds_none(world: World, sink: Sink):
    policy = AddressPolicy(kinds=frozenset({Kind.LOOPBACK}))
    world.executor = Executor(world.ports, {"http": HttpTarget(world.clock, policy)})

    assert error_of(call(world, sink.url))[0] == "SecretNotFound"


def test_store_that_does_not_answer_costs_no_attempt(world: World, sink: Sink, secrets: Secrets):
    secrets.fails = Unavailable("Read timeout")
    task = call(world, sink.url)

    assert task.status is Status.RETRYING
    assert task.current is not None
    assert task.current.outcome is Outcome.SNOOZED
    assert error_of(task)[1] == (
        "target.headers.Authorization: secret 'key' could not be read: Read timeout"
    )
    assert 0 < task.due_at - world.clock.now() <= MINUTE
    secrets.fails = None
    world.advance_to(task.due_at)
    world.deliver()
    assert world.status(task.id) is Status.SUCCEEDED


def test_store_that_refuses_is_tried_again(world: World, sink: Sink, secrets: Secrets):
    secrets.fails = PermissionError("not authorized")
    task = call(world, sink.url)

    assert task.status is Status.RETRYING
    assert error_of(task)[0] == "SecretUnavailable"


@pytest.mark.parametrize("value", ["hunter2\n", "a\r\nX-Evil: hunter2", "hunter2\0", "hunter2€"])
def test_value_that_no_header_can_have_fails_for_good_and_is_not_shown(
    world: World, sink: Sink, secrets: Secrets, leaks: Any, value: str
):
    secrets.set("key", value)
    task = call(world, sink.url)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "BadSecret")
    assert sink.asked == []
    assert leaks() == []


def test_bad_secret_fails_for_good_and_is_not_shown(
    world: World, sink: Sink, secrets: Secrets, leaks: Any
):
    secrets.given["key"] = {"value": "hunter2", "host": "hunter1"}
    task = call(world, sink.url)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "BadSecret")
    assert leaks() == []


# What is kept


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize(
    "body",
    [
        VALUE.encode(),
        VALUE.encode("latin-1"),
        json.dumps({"you": {"sent": [VALUE]}, VALUE: 1}).encode(),
        json.dumps([VALUE.removeprefix("Bearer ")]).replace("/", "\\/").encode(),
        b"x" * (BODY_LIMIT - len(VALUE) + 3) + VALUE.encode() * 9,
        b"x" * 960 + VALUE.encode() * 9,
    ],
    ids=["text", "latin-1", "json", "escaped", "cut", "cut-error"],
)
def test_answer_that_repeats_a_secret_is_kept_without_it(
    world: World, sink: Sink, secrets: Secrets, leaks: Any, body: bytes, status: int
):
    sink.answer = Answer(status=status, body=body)
    task = call(world, sink.url)

    assert len(sink.asked) == 1
    kept = json.dumps(result_of(task)) if status == 200 else error_of(task)[1]
    assert "***" in kept or kept.endswith("x"), "an error keeps the beginning"
    assert "sk_live" not in kept
    assert leaks() == []


def test_retry_after_and_status_survive_the_mask(world: World, sink: Sink, secrets: Secrets):
    headers = {"Retry-After": "120"}
    sink.answer = Answer(status=503, body=VALUE.encode(), headers=headers)
    task = call(world, sink.url)

    assert error_of(task) == ("Http503", "503 Service Unavailable: ***")
    assert task.due_at - world.clock.now() == 120 * SECOND


def echo(*parts: bytes) -> Callable[[socket.socket], bool]:
    def answer(connection: socket.socket) -> bool:
        connection.sendall(b"".join(parts))
        return False

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        [VALUE.encode("latin-1"), b"\r\n\r\n"],
        [b"HTTP/1.1 ", VALUE.encode("latin-1"), b"\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n", VALUE.encode("latin-1"), b"\r\nContent-Length: 0\r\n\r\n"],
        [b"HTTP/1.1 500 ", VALUE.encode("latin-1"), b"\r\nContent-Length: 0\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"hunter2\r\n"],
        [b"HTTP/1.1 200 OK\r\nContent-Length: hunter2, hunter1\r\n\r\n"],
    ],
    ids=["status-line", "status", "headers", "reason", "chunk", "length"],
)
def test_answer_that_is_no_http_and_repeats_a_secret_leaks_nothing(
    world: World, secrets: Secrets, leaks: Any, answer: list[bytes]
):
    secrets.set("key", VALUE, previous="hunter1")
    secrets.set("part", "hunter2")
    server = RawHttpServer()
    server.first = echo(*answer)
    headers = {"Authorization": KEY, "X-Part": {"$secret": "part"}}
    call(world, server.url, target={"headers": headers})
    server.close()

    assert len(server.requests) == 1
    assert leaks() == []


def test_call_that_times_out_leaks_nothing(world: World, sink: Sink, secrets: Secrets, leaks: Any):
    over = threading.Event()
    sink.answer = Answer(before=lambda: over.wait(60))
    task = call(world, sink.url, timeout=1)
    over.set()

    assert error_of(task)[0] == "ReadTimeoutError"
    assert leaks() == []


def test_server_that_is_not_there_leaks_nothing(world: World, secrets: Secrets, leaks: Any):
    task = call(world, "http://127.0.0.1:9/")

    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "ConnectionFailed")
    assert leaks() == []


def test_handler_that_fails_otherwise_leaks_nothing(
    world: World, secrets: Secrets, leaks: Any, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: Any, **options: Any) -> Any:
        raise ValueError(f"Invalid header value {dict(options['headers'])!r}")

    monkeypatch.setattr("urllib3.PoolManager.request", broken)
    task = call(world, "http://127.0.0.1:9/")

    kind, message = error_of(task)
    assert (task.status, kind) == (Status.RETRYING, "ValueError")
    assert "***" in message
    assert leaks() == []


# Signatures

SIGNED = {"headers": {}, "sign": {"$secret": "hook"}}


@pytest.mark.parametrize("payload", [{"order": 7, "name": "Zoë"}, None, "", [1.5, None]])
def test_request_is_signed_over_the_bytes_that_are_sent(
    world: World, sink: Sink, secrets: Secrets, payload: Any
):
    secrets.set("hook", "whsec_aHVudGVyMg==")
    task = call(world, sink.url, target=SIGNED, payload=payload)

    [asked] = sink.asked
    now = world.clock.now() / SECOND
    assert verify(dict(asked.headers), asked.body, b"hunter2", clock=lambda: now) == task.id
    assert asked.headers["webhook-timestamp"] == str(int(now))
    assert task.spec.target["sign"] == {"$secret": "hook"}


def test_every_try_has_the_same_id_and_a_time_of_its_own(
    world: World, sink: Sink, secrets: Secrets
):
    secrets.set("hook", "hunter2")
    sink.answer = Answer(status=503, headers={"Retry-After": "60"})
    task = call(world, sink.url, target=SIGNED)
    world.advance_to(task.due_at)
    world.deliver()

    one, two = (asked.headers for asked in sink.asked)
    assert one["webhook-id"] == two["webhook-id"] == task.id
    assert int(two["webhook-timestamp"]) - int(one["webhook-timestamp"]) == 60
    assert one["webhook-signature"] != two["webhook-signature"]


def test_request_has_two_signatures_while_the_secret_is_rotated(
    world: World, sink: Sink, secrets: Secrets, leaks: Any
):
    secrets.set("hook", "hunter2", previous="hunter1")
    sink.answer = Answer(body=b"hunter1 and hunter2")
    task = call(world, sink.url, target=SIGNED)

    [asked] = sink.asked
    assert len(asked.headers["webhook-signature"].split()) == 2
    for secret in ("hunter2", "hunter1"):
        headers = dict(asked.headers)
        assert verify(headers, asked.body, secret, clock=lambda: world.clock.now() / SECOND)
    assert result_of(task)["body"] == "*** and ***"
    assert leaks() == []


def test_signing_secret_is_bound_to_its_hosts_but_not_to_tls(world: World, secrets: Secrets):
    secrets.set("hook", hosts=["api.stripe.com", "hooks.invalid"])
    refused = call(world, "http://127.0.0.1:9/", target=SIGNED)
    signed = call(world, "http://hooks.invalid/", target=SIGNED)

    assert error_of(refused)[0] == "SecretRefused"
    assert error_of(refused)[1].startswith("target.sign: ")
    assert error_of(signed)[0] not in ("SecretRefused", "BadSecret"), "it got as far as DNS"


def test_signing_secret_that_is_not_base64_fails_for_good(
    world: World, sink: Sink, secrets: Secrets, leaks: Any
):
    secrets.set("hook", "whsec_hunter2!")
    task = call(world, sink.url, target=SIGNED)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "BadSecret")
    assert leaks() == []

"""The http target, against a real server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.retry import RetryPolicy
from lambdas.core.task import Task
from lambdas.core.times import DAY, HOUR, MINUTE, SECOND
from lambdas.executor.executor import Executor
from lambdas.executor.targets.address_rules import AddressRules
from lambdas.executor.targets.addresses import Kind
from lambdas.executor.targets.http import BODY_LIMIT, HttpTarget
from tests.factories import result_of
from tests.sink import Answer, Sink, a_sink
from tests.world import World


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
def http(world: World) -> None:
    world.chance.luck = 0
    target = HttpTarget(world.clock, AddressRules(kinds=frozenset({Kind.LOOPBACK})))
    world.executor = Executor(world.ports, {"http": target})


def call(world: World, url: str, *, payload: Any = None, timeout: float = 5, **target: Any) -> Any:
    """The task after one request."""
    fields = {"target": {"type": "http", "url": url, **target}, "payload": payload}
    task_id = world.submit(timeout=timeout, **fields)
    world.deliver()
    return world.task(task_id)


def test_the_payload_is_the_body_and_the_headers_name_the_attempt(world: World, sink: Sink):
    sink.answer = Answer(body=b'{"charged": true}')
    task = call(world, f"{sink.url}/charge?x=1", payload={"amount": 5, "to": "Zoë"})

    [asked] = sink.asked
    assert (asked.method, asked.path) == ("POST", "/charge?x=1")
    assert asked.json == {"amount": 5, "to": "Zoë"}
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Idempotency-Key"] == task.id
    assert asked.headers["Duetime-Attempt"] == "1"
    assert task.status is Status.SUCCEEDED
    assert result_of(task) == {"status": 200, "body": {"charged": True}}


def test_the_key_stays_and_the_attempt_counts(world: World, sink: Sink):
    sink.answer = Answer(status=503)
    task = call(world, sink.url)
    world.advance_to(task.due_at)
    world.deliver()

    keys = {asked.headers["Idempotency-Key"] for asked in sink.asked}
    assert keys == {task.id}
    assert [asked.headers["Duetime-Attempt"] for asked in sink.asked] == ["1", "2"]


def test_without_a_payload_there_is_no_body(world: World, sink: Sink):
    call(world, sink.url, method="GET")

    assert (sink.asked[0].method, sink.asked[0].body) == ("GET", b"")


def test_the_tasks_own_headers_come_before_ours_however_they_are_written(world: World, sink: Sink):
    headers = {"content-type": "text/plain", "user-agent": "mine", "X-Trace": "7"}
    call(world, sink.url, payload="hello", headers=headers)

    [asked] = sink.asked
    assert asked.headers.get_all("Content-Type") == ["text/plain"]
    assert asked.headers.get_all("User-Agent") == ["mine"]
    assert asked.headers["X-Trace"] == "7"


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_succeeds(world: World, sink: Sink, status: int):
    sink.answer = Answer(status=status, body=b"")

    assert result_of(call(world, sink.url)) == {"status": status, "body": ""}


@pytest.mark.parametrize("status", [301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 422, 499])
def test_3xx_and_4xx_are_permanent(world: World, sink: Sink, status: int):
    sink.answer = Answer(status=status, body=b"" if status == 304 else b"no")
    task = call(world, sink.url)

    assert task.status is Status.DEAD
    assert task.current.error.type == f"Http{status}"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_what_may_pass_is_tried_again(world: World, sink: Sink, status: int):
    sink.answer = Answer(status=status, body=b"busy")
    task = call(world, sink.url)

    assert task.status is Status.RETRYING
    assert task.current.error.type == f"Http{status}"
    assert task.current.error.message.endswith(": busy")


def test_a_redirect_is_not_followed(world: World, sink: Sink):
    sink.answer = Answer(status=302, headers={"Location": f"{sink.url}/elsewhere"})
    task = call(world, sink.url)

    assert [asked.path for asked in sink.asked] == ["/"]
    assert task.status is Status.DEAD


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", 120 * SECOND),
        (" 120 ", 120 * SECOND),
        ("0", 1 * SECOND),
        ("Mon, 16 Nov 2026 09:30:00 GMT", 30 * MINUTE),
        ("Mon, 16 Nov 2026 10:30:00 +0100", 30 * MINUTE),
        ("Mon, 16 Nov 2026 09:30:00 -0000", 30 * MINUTE),
        ("Mon, 16 Nov 2026 08:00:00 GMT", 1 * SECOND),
        ("-5", 1 * SECOND),
        ("1.5", 1 * SECOND),
        ("soon", 1 * SECOND),
        ("", 1 * SECOND),
        ("²", 1 * SECOND),
        ("Mon, 99 Nov 2026 09:30:00 GMT", 1 * SECOND),
        ("Mon, 16 Nov 2026 09:30:00 +99999999999999", 1 * SECOND),
        ("999999999", DAY),
        ("9" * 30, DAY),
        ("9" * 5_000, 1 * SECOND),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY),
    ],
)
def test_retry_after(world: World, sink: Sink, value: str, wait: int):
    """The policy waits a second: a server may ask for more, within a day."""
    sink.answer = Answer(status=503, headers={"Retry-After": value})
    task = call(world, sink.url)

    assert (task.status, task.current.error.type) == (Status.RETRYING, "Http503")
    assert task.due_at - world.clock.now() == wait


def test_the_policy_may_wait_longer_than_the_server_asks(world: World, sink: Sink):
    sink.answer = Answer(status=429, headers={"Retry-After": "10"})
    task_id = world.submit(
        target={"type": "http", "url": sink.url}, retry=RetryPolicy(base_delay=3600)
    )
    world.deliver()

    assert world.task(task_id).due_at - world.clock.now() == HOUR


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b"3", 3),
        (b"<html>", "<html>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'{"a": NaN}', '{"a": NaN}'),
        (b'{"a": 1e999}', '{"a": 1e999}'),
        (rb'"lone \ud800"', r'"lone \ud800"'),
        (b"[" * 9_000, "[" * 9_000),
        (b"9" * 5_000, "9" * 5_000),
    ],
    ids=["json", "number", "html", "bytes", "nan", "inf", "surrogate", "deep", "digits"],
)
def test_an_answer_succeeds_whatever_its_form(world: World, sink: Sink, body: bytes, kept: Any):
    sink.answer = Answer(body=body)
    task = call(world, sink.url)

    assert task.status is Status.SUCCEEDED
    assert result_of(task) == {"status": 200, "body": kept}


def test_an_answer_nested_over_99_deep_is_kept_as_text(world: World, sink: Sink):
    """With the object around it a result of 100 levels."""
    for depth, kept in ((99, list), (100, str), (979, str), (5_000, str)):
        sink.answer = Answer(body=b"[" * depth + b"]" * depth)
        task = call(world, sink.url)

        assert task.status is Status.SUCCEEDED
        assert type(result_of(task)["body"]) is kept, depth


def test_of_a_big_answer_the_beginning_is_kept(world: World, sink: Sink):
    sink.answer = Answer(body=b"\x01" * 1_000_000)
    task = call(world, sink.url)

    assert result_of(task)["body"] == "\x01" * BODY_LIMIT
    sink.answer = Answer(status=500, body=b"x" * 1_000_000)
    assert len(call(world, sink.url).current.error.message) == 1_000


def test_connections_are_kept_and_a_broken_off_one_is_not(world: World, sink: Sink):
    for _ in range(3):
        call(world, sink.url)
    sink.answer = Answer(body=b"x" * 1_000_000)
    call(world, sink.url)
    sink.answer = Answer()
    call(world, sink.url)

    first, second, third, fourth, fifth = (asked.peer for asked in sink.asked)
    assert first == second == third == fourth
    assert fifth != fourth


def test_a_server_that_does_not_answer_in_time(world: World, sink: Sink):
    over = threading.Event()
    sink.answer = Answer(before=lambda: over.wait(60))
    task = call(world, sink.url, timeout=1)
    over.set()

    assert task.status is Status.RETRYING
    assert (task.current.outcome, task.current.error.type) == (Outcome.FAILED, "ReadTimeoutError")
    assert "read timeout=" in task.current.error.message


@pytest.mark.parametrize("answer", ["none", "half"])
def test_a_call_is_broken_off_when_it_is_made_to_stop(world: World, answer: str):
    """Its lease is lost, or its task was cancelled: nobody waits for the answer any more."""
    asked, pulled = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_half, args=(listener, answer, asked, pulled)).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        world.submit(timeout=60, target={"type": "http", "url": url})
        [run] = world.lease()
        threading.Thread(target=lambda: (asked.wait(60), run.context.interrupt())).start()
        ended = world.executor.execute(run)
        pulled.set()

    assert ended.failure is not None
    assert ended.failure.error.type == "Stopped"


def serve_half(
    listener: socket.socket, answer: str, asked: threading.Event, pulled: threading.Event
) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        if answer == "half":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        asked.set()
        pulled.wait(60)


def test_a_call_that_is_stopped_before_it_begins_is_not_made(world: World, sink: Sink):
    world.submit(target={"type": "http", "url": sink.url})
    [run] = world.lease()
    run.context.interrupt()
    ended = world.executor.execute(run)

    assert ended.failure is not None
    assert (ended.failure.error.type, sink.asked) == ("Stopped", [])


def test_the_next_call_of_a_thread_is_another(world: World, sink: Sink):
    world.submit(target={"type": "http", "url": sink.url})
    [first] = world.lease()
    world.executor.execute(first)
    world.submit(target={"type": "http", "url": sink.url})
    [second] = world.lease()
    first.context.interrupt()
    ended = world.executor.execute(second)

    assert ended.failure is None
    assert len(sink.asked) == 2


def test_nobody_listens(world: World):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    task = call(world, f"http://127.0.0.1:{port}")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "ConnectionFailed"


def test_a_name_that_does_not_exist(world: World):
    task = call(world, "http://nowhere.invalid/")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "ConnectionFailed"


# whom it may call


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_a_deployed_executor_calls_no_loopback(world: World, host: str):
    """Not even a connection is made: it would tell which ports are open."""
    with _listener(host) as listener:
        task = call_deployed(world, host, listener)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert task.status is Status.DEAD
    assert task.current.error.type == "AddressRefused"


def test_a_name_that_changes_its_mind_gets_a_connection_and_no_byte(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "lambdas.executor.targets.connections.check_name", lambda *_: None
    )  # when it was asked, all was well
    with _listener("127.0.0.1") as listener:
        task = call_deployed(world, "127.0.0.1", listener)
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(1) == b""

    assert task.current.error.type == "AddressRefused"


def call_deployed(world: World, host: str, listener: socket.socket) -> Task:
    world.executor = Executor(world.ports, {"http": HttpTarget(world.clock)})
    return call(world, f"http://{host}:{listener.getsockname()[1]}/", payload="secret")


def test_an_answer_that_drips_ends_with_its_time(world: World):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=drip, args=[listener], daemon=True).start()
        task = call(world, f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout=1)

    assert task.status is Status.RETRYING
    assert task.current.error.type == "TimedOut"


def drip(listener: socket.socket) -> None:
    """A byte every 50 ms: no single read is ever late."""
    connection, _ = listener.accept()
    with connection, suppress(OSError):
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n")
        for _ in range(9_000):
            connection.sendall(b".")
            threading.Event().wait(0.05)


def _listener(host: str) -> socket.socket:
    if host == "[::1]":
        try:
            return socket.create_server(("::1", 0), family=socket.AF_INET6)
        except OSError:
            pytest.skip("no IPv6 here")
    return socket.create_server(("127.0.0.1", 0))

"""The `http` target against a real server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from duetime.core.lifecycle import Outcome, Status
from duetime.core.retry import RetryPolicy
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.executor.executor import Executor
from duetime.executor.targets.address_policy import AddressPolicy
from duetime.executor.targets.http import BODY_LIMIT, HttpTarget
from duetime.executor.targets.ip_ranges import Kind
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
    target = HttpTarget(world.clock, AddressPolicy(kinds=frozenset({Kind.LOOPBACK})))
    world.executor = Executor(world.ports, {"http": target})


def call(world: World, url: str, *, payload: Any = None, timeout: float = 5, **target: Any) -> Any:
    """Returns the task after one request."""
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


def test_retry_sends_the_same_idempotency_key_and_the_next_attempt_number(world: World, sink: Sink):
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


def test_headers_of_the_task_replace_ours_in_any_spelling(world: World, sink: Sink):
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
def test_status_that_may_pass_is_retried(world: World, sink: Sink, status: int):
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
def test_retry_after_header_delays_the_retry_within_a_day(
    world: World, sink: Sink, value: str, wait: int
):
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
def test_answer_of_any_form_succeeds(world: World, sink: Sink, body: bytes, kept: Any):
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


def test_beginning_of_a_big_answer_is_kept(world: World, sink: Sink):
    sink.answer = Answer(body=b"\x01" * 1_000_000)
    task = call(world, sink.url)

    assert result_of(task)["body"] == "\x01" * BODY_LIMIT
    sink.answer = Answer(status=500, body=b"x" * 1_000_000)
    assert len(call(world, sink.url).current.error.message) == 1_000


def test_connection_is_reused_unless_its_answer_was_cut(world: World, sink: Sink):
    for _ in range(3):
        call(world, sink.url)
    sink.answer = Answer(body=b"x" * 1_000_000)
    call(world, sink.url)
    sink.answer = Answer()
    call(world, sink.url)

    first, second, third, fourth, fifth = (asked.peer for asked in sink.asked)
    assert first == second == third == fourth
    assert fifth != fourth


def test_server_that_does_not_answer_in_time_fails_the_attempt(world: World, sink: Sink):
    over = threading.Event()
    sink.answer = Answer(before=lambda: over.wait(60))
    task = call(world, sink.url, timeout=1)
    over.set()

    assert task.status is Status.RETRYING
    assert (task.current.outcome, task.current.error.type) == (Outcome.FAILED, "ReadTimeoutError")
    assert "read timeout=" in task.current.error.message


@pytest.mark.parametrize("answer", ["none", "half"])
def test_call_is_broken_off_when_its_run_is_interrupted(world: World, answer: str):
    """Its lease is lost or its task is cancelled, so the answer is not needed."""
    asked, triggered = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve_half, args=(listener, answer, asked, triggered)).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        world.submit(timeout=60, target={"type": "http", "url": url})
        [run] = world.lease()
        threading.Thread(target=lambda: (asked.wait(60), run.control.force_stop())).start()
        ended = world.executor.run_target(run)
        triggered.set()

    assert ended.failure is not None
    assert ended.failure.error.type == "Stopped"


def serve_half(
    listener: socket.socket, answer: str, asked: threading.Event, triggered: threading.Event
) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        if answer == "half":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        asked.set()
        triggered.wait(60)


def test_call_that_is_interrupted_before_it_begins_is_not_made(world: World, sink: Sink):
    world.submit(target={"type": "http", "url": sink.url})
    [run] = world.lease()
    run.control.force_stop()
    ended = world.executor.run_target(run)

    assert ended.failure is not None
    assert (ended.failure.error.type, sink.asked) == ("Stopped", [])


def test_interrupt_of_one_call_does_not_break_off_the_next_call_of_the_thread(
    world: World, sink: Sink
):
    world.submit(target={"type": "http", "url": sink.url})
    [first] = world.lease()
    world.executor.run_target(first)
    world.submit(target={"type": "http", "url": sink.url})
    [second] = world.lease()
    first.control.force_stop()
    ended = world.executor.run_target(second)

    assert ended.failure is None
    assert len(sink.asked) == 2


def test_refused_connection_fails_the_attempt(world: World):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    task = call(world, f"http://127.0.0.1:{port}")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "ConnectionFailed"


def test_unknown_host_name_fails_the_attempt(world: World):
    task = call(world, "http://nowhere.invalid/")

    assert task.status is Status.RETRYING
    assert task.current.error.type == "ConnectionFailed"


# allowed addresses


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_a_deployed_executor_calls_no_loopback(world: World, host: str):
    """Not even a connection is made, because it would reveal which ports are open."""
    with _listener(host) as listener:
        task = call_deployed(world, host, listener)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert task.status is Status.DEAD
    assert task.current.error.type == "AddressRefused"


def test_name_that_resolves_differently_on_connect_gets_a_connection_and_no_byte(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "duetime.executor.targets.connections.check_name", lambda *_: None
    )  # the address of the check
    with _listener("127.0.0.1") as listener:
        task = call_deployed(world, "127.0.0.1", listener)
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(1) == b""

    assert task.current.error.type == "AddressRefused"


def call_deployed(world: World, host: str, listener: socket.socket) -> Task:
    world.executor = Executor(world.ports, {"http": HttpTarget(world.clock)})
    return call(world, f"http://{host}:{listener.getsockname()[1]}/", payload="secret")


def test_answer_that_arrives_byte_by_byte_ends_with_the_timeout(world: World):
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

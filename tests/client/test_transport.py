"""Several calls one after the other, as `Client.submit_many` sends its batches."""

from collections.abc import Iterator
from threading import Event, Thread, current_thread

import httpx
import pytest

from duetime.client.calls import Call
from duetime.client.errors import BadArgument
from duetime.client.transport import Server, Transport


@pytest.fixture
def transport() -> Iterator[Transport]:
    made = Transport(Server("http://127.0.0.1:1", 1.0, None, None), None, lambda _: None)
    yield made
    made.close()


def returning(value: int, ran: list[int]) -> Call[int]:
    ran.append(value)
    if value < 0:
        raise BadArgument("tasks", "refused")
    return value
    yield


def test_results_come_in_the_order_of_the_calls(transport: Transport):
    assert [*transport.run_each(returning(n, []) for n in range(50))] == [*range(50)]
    assert [*transport.run_each(())] == []


def test_next_call_is_made_while_one_is_under_way(transport: Transport):
    second_made = Event()

    def waiting() -> Call[bool]:
        return second_made.wait(10)
        yield

    def calls() -> Iterator[Call[bool]]:
        yield waiting()
        second_made.set()
        yield waiting()

    assert [*transport.run_each(calls())] == [True, True]


def test_call_that_fails_is_the_last_one_that_runs(transport: Transport):
    ran: list[int] = []

    with pytest.raises(BadArgument):
        [*transport.run_each(returning(n, ran) for n in (1, -1, 2, 3))]
    assert ran == [1, -1]


def test_calls_before_one_that_cannot_be_made_have_run(transport: Transport):
    ran: list[int] = []

    def calls() -> Iterator[Call[int]]:
        yield returning(1, ran)
        yield returning(2, ran)
        raise BadArgument("tasks.2", "not JSON")

    with pytest.raises(BadArgument):
        [*transport.run_each(calls())]
    assert ran == [1, 2]


def thread() -> Call[Thread]:
    return current_thread()
    yield


def test_transport_of_the_caller_is_used_in_one_thread(transport: Transport):
    given = httpx.MockTransport(lambda _: httpx.Response(200))
    callers = Transport(transport.server, given, lambda _: None)

    assert {*callers.run_each(thread() for _ in range(3))} == {current_thread()}
    assert current_thread() not in {*transport.run_each(thread() for _ in range(3))}

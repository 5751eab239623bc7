"""`wait`: the server answers when the task changes, or the client polls less and less often."""

from typing import Any

import httpx
import pytest

from duetime.client import Unreachable, WaitTimeout
from tests.client.scripted_server import Script
from tests.client.test_client import Clock


def task(status: str, *, waited: bool = False) -> httpx.Response:
    headers = {"preference-applied": "wait=20"} if waited else {}
    return httpx.Response(200, json={"id": "t1", "status": status}, headers=headers)


class Waiting(Script):
    """A server that waits: each answer takes its seconds."""

    def __init__(self, clock: Clock, *answers: tuple[float, Any]) -> None:
        super().__init__(*(answer for _, answer in answers))
        self._clock, self._seconds = clock, [seconds for seconds, _ in answers]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self._clock.now += self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        return super().__call__(request)


def wait(script: Script, clock: Clock, **options: Any) -> str:
    return script.client(sleep=clock.sleep, clock=clock).wait("t1", **options)["status"]


def preferred(script: Script) -> list[str | None]:
    return [request.headers.get("prefer") for request in script.asked]


def test_wait_asks_the_server_to_wait_and_does_not_pause() -> None:
    clock = Clock()
    script = Waiting(
        clock,
        (3, task("RUNNING", waited=True)),
        (20, task("RUNNING", waited=True)),
        (1, task("SUCCEEDED", waited=True)),
    )

    assert wait(script, clock) == "SUCCEEDED"
    assert preferred(script) == ["wait=20"] * 3
    assert clock.slept == []


def test_wait_gives_a_waiting_request_more_time_to_answer() -> None:
    script = Script(task("SUCCEEDED", waited=True))
    script.client(timeout=7).wait("t1")

    timeout = script.asked[0].extensions["timeout"]
    assert (timeout["connect"], timeout["read"]) == (7, 27)


def test_wait_polls_a_server_that_does_not_wait_less_and_less_often() -> None:
    clock = Clock()
    script = Script(*[task("RUNNING")] * 11, task("DEAD"))

    assert wait(script, clock) == "DEAD"
    pauses = [0.2 * 1.5**n for n in range(8)] + [5.0] * 3
    assert clock.slept == pytest.approx(pauses)


def test_wait_asks_for_no_more_than_the_time_that_is_left() -> None:
    clock = Clock()
    names = ("PENDING", "RUNNING", "RETRYING", "RUNNING")
    script = Waiting(clock, *((3, task(name, waited=True)) for name in names))

    with pytest.raises(WaitTimeout, match="still RUNNING after 10 s") as caught:
        wait(script, clock, timeout=10)
    assert preferred(script) == ["wait=10", "wait=7", "wait=4", "wait=1"]
    assert isinstance(caught.value, TimeoutError)


def test_wait_pauses_if_a_server_that_says_it_waits_answers_early() -> None:
    clock = Clock()
    early = task("RUNNING", waited=True)

    assert wait(Waiting(clock, (0, early), (0, early), (0, task("DEAD"))), clock) == "DEAD"
    assert clock.slept == [0.2]


def test_wait_outlives_a_restart_of_the_runner() -> None:
    clock = Clock()
    lost = httpx.RemoteProtocolError("closed")
    script = Waiting(
        clock,
        (1, task("RUNNING", waited=True)),
        (1, lost),
        (0, httpx.ConnectError("refused")),
        (0, task("SUCCEEDED", waited=True)),
    )

    assert wait(script, clock) == "SUCCEEDED"
    assert clock.slept == [0.5, 0.5]


def test_wait_gives_up_after_its_patience() -> None:
    clock = Clock()
    script = Waiting(clock, (1, task("RUNNING", waited=True)), (0, httpx.ConnectError("refused")))

    with pytest.raises(Unreachable):
        script.client(sleep=clock.sleep, clock=clock, patience=2).wait("t1")
    assert clock.now == 3


def test_wait_with_a_poll_prefers_nothing() -> None:
    script = Script(task("RUNNING"), task("SUCCEEDED"))

    assert wait(script, Clock(), poll=2) == "SUCCEEDED"
    assert preferred(script) == [None, None]

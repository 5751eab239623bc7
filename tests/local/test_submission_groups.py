"""Submissions that arrive together are answered together."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from duetime.api.http import Request
from duetime.local.submission_groups import (
    BODY_LIMIT,
    GROUP_LIMIT,
    SubmissionGroups,
    can_wait_for_others,
)

T = TypeVar("T")

PATIENCE = 60.0  # seconds; a wait that long is a failure


def a_submission(body: bytes = b"{}") -> Request:
    return Request(method="POST", path="/v1/tasks", body=body)


class SlowStore:
    """Notes every group; the first one takes until the test lets it go."""

    def __init__(self) -> None:
        self.groups: list[list[bytes]] = []
        self.started, self.go = threading.Event(), threading.Event()
        self.fails: Exception | None = None

    def answer(self, requests: Sequence[Request]) -> list[bytes]:
        self.groups.append([request.body for request in requests])
        self.started.set()
        assert self.go.wait(PATIENCE)
        if self.fails:
            raise self.fails
        return [request.body.upper() for request in requests]


async def submit(groups: SubmissionGroups[bytes], bodies: Sequence[bytes]) -> list[asyncio.Task]:
    """Starts a call for each body; each has joined its group when this returns."""
    calls = [asyncio.create_task(groups.call(a_submission(body))) for body in bodies]
    await asyncio.sleep(0)
    return calls


def run(scenario: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(scenario(), PATIENCE)

    return asyncio.run(bounded())


async def first_group_under_way(store: SlowStore) -> None:
    assert await asyncio.to_thread(store.started.wait, PATIENCE)


def test_submissions_that_arrive_during_a_write_share_the_next_one():
    store = SlowStore()

    async def scenario() -> list[bytes]:
        groups = SubmissionGroups(store.answer)
        calls = await submit(groups, [b"a"])
        await first_group_under_way(store)
        calls += await submit(groups, [b"b", b"c", b"d"])
        store.go.set()
        answers = await asyncio.gather(*calls)
        return [*answers, await groups.call(a_submission(b"e"))]

    assert run(scenario) == [b"A", b"B", b"C", b"D", b"E"]
    assert store.groups == [[b"a"], [b"b", b"c", b"d"], [b"e"]]


def test_a_group_has_a_limit():
    store = SlowStore()
    store.go.set()
    bodies = [str(number).encode() for number in range(GROUP_LIMIT + 1)]

    async def scenario() -> list[bytes]:
        groups = SubmissionGroups(store.answer)
        return await asyncio.gather(*await submit(groups, bodies))

    assert run(scenario) == bodies
    assert [len(group) for group in store.groups] == [GROUP_LIMIT, 1]


def test_a_client_that_hangs_up_does_not_affect_its_group():
    store = SlowStore()

    async def scenario() -> list[bytes]:
        groups = SubmissionGroups(store.answer)
        gone, *others = await submit(groups, [b"a", b"b", b"c"])
        await first_group_under_way(store)
        gone.cancel()
        store.go.set()
        return await asyncio.gather(*others)

    assert run(scenario) == [b"B", b"C"]


def test_a_write_that_fails_fails_its_group_and_no_other():
    store = SlowStore()
    store.fails = MemoryError("no memory")
    store.go.set()

    async def scenario() -> list[bytes | BaseException]:
        groups = SubmissionGroups(store.answer)
        failed = await asyncio.gather(*await submit(groups, [b"a", b"b"]), return_exceptions=True)
        store.fails = None
        return [*failed, await groups.call(a_submission(b"c"))]

    *failed, answer = run(scenario)
    assert [type(error) for error in failed] == [MemoryError] * 2
    assert answer == b"C"


@pytest.mark.parametrize(
    ("request_", "waits"),
    [
        (a_submission(), True),
        (a_submission(b" " * BODY_LIMIT), True),
        (a_submission(b" " * (BODY_LIMIT + 1)), False),
        (Request(method="POST", path="/v1/tasks/batch"), False),
        (Request(method="GET", path="/v1/tasks"), False),
    ],
)
def test_only_small_submissions_of_one_task_wait_for_others(request_: Request, waits: bool):
    assert can_wait_for_others(request_) is waits

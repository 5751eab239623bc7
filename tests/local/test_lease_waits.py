"""Calls for leases that wait, on a loop whose time is stepped."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from duetime.api.http import Request, Response
from duetime.local.lease_waits import LeaseWaits
from tests.api.test_workers import LEASE, Runner
from tests.local import stepped_loop
from tests.world import sqlite_world

LIMITED = {"limits": [{"name": "gpu-memory"}]}
WAIT = 20


@pytest.fixture
def runner() -> Iterator[Runner]:
    with sqlite_world() as world:
        runner = Runner(world)
        limit = Request(
            method="PUT",
            path="/v1/limits/gpu-memory",
            headers={"content-type": "application/json"},
            body=b'{"concurrency": 1}',
        )
        assert runner.api.call(limit).status == 200
        yield runner


def waiting_call(runner: Runner) -> Request:
    body = LEASE | {"request": runner.world.chance.new_id(runner.world.clock.now()), "max": 1}
    return Request(
        method="POST",
        path="/v1/workers/lease",
        headers={"content-type": "application/json"},
        body=json.dumps(body | {"wait": WAIT}).encode(),
    )


async def respond(runner: Runner) -> Response:
    waits = LeaseWaits(runner.world.clock)
    waits.serve(runner.api, runner.workers)
    return await waits.respond(waiting_call(runner), asyncio.Event().wait)


def test_call_does_not_wait_behind_messages_that_start_nothing(runner: Runner):
    runner.lease(**LIMITED)
    for _ in range(3):
        runner.submit(**LIMITED)
    free = runner.submit()

    async def scenario() -> None:
        response = await respond(runner)
        assert [lease["task"]["id"] for lease in response.body["leases"]] == [free]
        assert asyncio.get_running_loop().time() == 0

    stepped_loop.run(scenario())


def test_call_waits_for_its_whole_time_if_everything_is_held_back(runner: Runner):
    runner.lease(**LIMITED)
    for _ in range(3):
        runner.submit(**LIMITED)

    async def scenario() -> None:
        response = await respond(runner)
        assert response.body["leases"] == []
        assert asyncio.get_running_loop().time() == pytest.approx(WAIT)

    stepped_loop.run(scenario())

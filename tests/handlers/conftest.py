"""A whole Duetime behind a client: waiting for a task runs what is due."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

import duetime
from duetime.api.app import Api
from duetime.aws import clients
from duetime.client import Client
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.local.moto_backend import fair_moto
from duetime.testing.in_process import in_process
from tests.factories import SteppedClock
from tests.world import World, moto_world, sqlite_world


@dataclass
class Shop:
    world: World
    client: Client
    requests: list[tuple[str, Any]]

    def bodies(self) -> list[Any]:
        """Returns the bodies that were sent, without the ids that the client has made."""
        return [
            {name: value for name, value in body.items() if name != "id"}
            for path, body in self.requests
            if path == "/v1/tasks"
        ]


def a_shop(world: World) -> Shop:
    requests: list[tuple[str, Any]] = []
    api = Api(world.ports, handlers=registry.defaults, version="9.9.9")
    passed_on = in_process(api)
    world.executor = Executor(world.ports, {"python": run_handler})

    def answer(request: httpx.Request) -> httpx.Response:
        if request.content:
            requests.append((request.url.path, json.loads(request.content)))
        return passed_on.handle_request(request)

    def run_due(_: float) -> None:
        world.advance(SECOND)
        world.deliver()

    client = Client(
        "http://duetime",
        transport=httpx.MockTransport(answer),
        sleep=run_due,
        clock=lambda: world.clock.now() / SECOND,
    )
    return Shop(world, client, requests)


def shop_in(world: World) -> Iterator[Shop]:
    shop = a_shop(world)
    with duetime.use(shop.client):
        yield shop


def a_clock() -> SteppedClock:
    """Starts now: the API refuses a client's id whose time is not within minutes of its own."""
    return SteppedClock(time.time_ns() // 1_000_000)


@pytest.fixture
def shop() -> Iterator[Shop]:
    with sqlite_world(clock=a_clock()) as world:
        yield from shop_in(world)


@pytest.fixture(scope="module")
def moto() -> Iterator[tuple[Any, Any]]:
    with fair_moto():
        yield clients.dynamodb(), clients.sqs()


@pytest.fixture(params=["sqlite", "moto"])
def any_shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    if request.param == "sqlite":
        opened = sqlite_world(clock=a_clock())
    else:
        opened = moto_world(*request.getfixturevalue("moto"))
    with opened as world:
        yield from shop_in(world)

"""The role over the table (moto), posts that tests break, and a clock that they step."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.live_store import DynamoLiveStore
from duetime.aws.parallel import ParallelCalls
from duetime.core.live.tickets import new_ticket
from duetime.core.times import SECOND
from duetime.local.moto_backend import fair_moto
from duetime.websocket.connections import Connections
from duetime.websocket.pushing import Pushing
from tests.backends import a_table
from tests.factories import SteppedClock
from tests.live_posts import FakePosts

SITE = "https://ops.example.com"


class World:
    """`clock` advances while a push waits."""

    def __init__(self, store: DynamoLiveStore) -> None:
        self.store = store
        self.posts = FakePosts()
        self.clock = SteppedClock()
        self.waited: list[float] = []
        self.connections = Connections(
            store, store, self.posts, self.clock, origins=frozenset({SITE})
        )
        parallel = ParallelCalls(4)
        self.pushing = Pushing(store, self.posts, self.clock, parallel.each, self._wait)
        self._tickets = 0

    def a_ticket(self, **caller: Any) -> str:
        self._tickets += 1
        text, now = f"ticket{self._tickets}", self.clock.now()
        self.store.add(new_ticket(text, now, **caller), now)
        return text

    def open(self, id: str = "c1", namespaces: frozenset[str] | None = None) -> None:
        """Opens a connection that has not said hello."""
        assert self.connections.connect(id, "ada", namespaces)
        self.posts.connect(id)

    def greet(self, id: str = "c1", namespaces: frozenset[str] | None = None) -> None:
        self.open(id, namespaces)
        self.send({"op": "hello", "version": 1}, id)
        self.posts.sent[id].clear()

    def send(self, message: Any, id: str = "c1") -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.connections.receive(id, text)

    def subscribe(self, subscription: str = "s1", id: str = "c1", **fields: Any) -> None:
        self.send({"op": "subscribe", "id": subscription, "topic": "tasks", **fields}, id)
        assert self.got(id)[-1] == {"type": "subscribed", "id": subscription}
        self.posts.sent[id].clear()

    def got(self, id: str = "c1") -> list[Any]:
        return [json.loads(frame) for frame in self.posts.frames(id)]

    def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.clock.advance(round(seconds * SECOND))


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture
def world(dynamodb: Any) -> Iterator[World]:
    with a_table(dynamodb) as table:
        yield World(DynamoLiveStore(dynamodb, table))

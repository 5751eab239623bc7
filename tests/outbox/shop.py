"""A shop with a database of its own, and a Duetime with a stepped clock."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from duetime.api.app import Api
from duetime.api.http import Request, query_values
from duetime.client import Client
from duetime.outbox.sql import Drained, Outbox
from tests.world import World

HANDLERS = {"shop.restock", "shop.ship"}


class Shop:
    """`connect` opens a connection to its database. `before_answer` is called after each request
    has been carried out."""

    def __init__(self, world: World, connect: Callable[[], Any]) -> None:
        self.world, self.connect = world, connect
        self.outbox = Outbox(clock=world.clock.now)
        self.requests: list[httpx.Request] = []
        self.before_answer: Callable[[], None] = lambda: None
        self._api = Api(world.ports, handlers=lambda: HANDLERS, version="9.9.9")
        self.transport = httpx.MockTransport(self._answer)
        self.client = Client("http://duetime", retries=0, transport=self.transport)
        with self.connect() as connection:
            connection.cursor().execute("DROP TABLE IF EXISTS duetime_outbox")
            self.outbox.create_table(connection)
            connection.commit()
        connection.close()

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        headers = {name.lower(): text for name, text in request.headers.items()}
        asked = Request(
            method=request.method,
            path=request.url.path,
            query=query_values(request.url.params.multi_items()),
            headers=headers,
            body=request.content,
        )
        answer = self._api.call(asked)
        self.before_answer()
        return httpx.Response(answer.status, headers=answer.headers, content=answer.encoded())

    def add(self, *args: Any, **options: Any) -> None:
        self.write(lambda connection: self.outbox.add(connection, *args, **options))

    def write(self, act: Callable[[Any], Any]) -> Any:
        connection = self.connect()
        try:
            found = act(connection)
            connection.commit()
            return found
        finally:
            connection.close()

    def execute(self, statement: str) -> Any:
        def act(connection: Any) -> Any:
            cursor = connection.cursor()
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else None

        return self.write(act)

    def drain(self) -> Drained:
        return self.outbox.drain(self.connect, self.client)

    def rows(self) -> list[tuple[Any, ...]]:
        """Returns payload, id and error of each row."""
        columns = "SELECT body, task_id, error FROM duetime_outbox ORDER BY position"
        return [(json.loads(body).get("payload"), *rest) for body, *rest in self.execute(columns)]

    def tasks(self) -> list[Any]:
        """Returns the payloads of the stored tasks, sorted."""
        return sorted(task["payload"] for task in self.client.list())

"""Clients of the live updates that speak ASGI, and a hub whose clock is the event loop's."""

import asyncio
import json
from typing import Any

from duetime.core.events import StatusChange
from duetime.core.times import SECOND, Millis
from duetime.local.live import LiveUpdates
from tests.core.live.changes import a_change

LANE = {"lane": "high", "depth": 2, "running": 3, "oldest_seconds": 1.5, "weight": 60}
HELLO = {"op": "hello", "version": 1}
TASKS = {"op": "subscribe", "id": "s1", "topic": "tasks"}


class LoopClock:
    """Shows the time of the event loop that runs."""

    def now(self) -> Millis:
        return round(asyncio.get_running_loop().time() * SECOND)

    monotonic = now


def live_updates(**options: Any) -> LiveUpdates:
    return LiveUpdates(LoopClock(), lambda: [LANE], **options)


class Client:
    """One connection. `reads` is cleared while the client does not read: a send then waits."""

    def __init__(self, live: LiveUpdates, query: str = "", **headers: str) -> None:
        self.reads = asyncio.Event()
        self.reads.set()
        self.frames: list[dict[str, Any]] = []  # all that have arrived
        self.code: int | None = None
        self.refused: int | None = None
        self._sent: asyncio.Queue[Any] = asyncio.Queue()
        self._sent.put_nowait({"type": "websocket.connect"})
        self._arrived = asyncio.Event()
        self._place = 0  # of the next frame to look at
        scope = {
            "type": "websocket",
            "path": "/v1/live",
            "query_string": query.encode(),
            "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
            "extensions": {"websocket.http.response": {}},
        }
        self.task = asyncio.ensure_future(live.socket.serve(scope, self._sent.get, self._receive))

    async def _receive(self, event: Any) -> None:
        await self.reads.wait()
        match event["type"]:
            case "websocket.send":
                self.frames.append(json.loads(event["text"]))
            case "websocket.close":
                self.code = event["code"]
            case "websocket.http.response.start":
                self.refused = event["status"]
        self._arrived.set()

    def send(self, *messages: Any) -> None:
        for message in messages:
            text = message if isinstance(message, str) else json.dumps(message)
            self._sent.put_nowait({"type": "websocket.receive", "text": text, "bytes": None})

    def send_bytes(self, content: bytes) -> None:
        self._sent.put_nowait({"type": "websocket.receive", "bytes": content})

    async def next(self) -> dict[str, Any]:
        """Returns the next frame."""
        while self._place >= len(self.frames):
            self._arrived.clear()
            await self._arrived.wait()
        self._place += 1
        return self.frames[self._place - 1]

    async def subscribe(self, *messages: Any) -> None:
        self.send(HELLO, *(messages or [TASKS]))
        assert (await self.next())["type"] == "hello"
        for _ in messages or [TASKS]:
            assert (await self.next())["type"] == "subscribed"

    async def hang_up(self) -> None:
        self._sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await self.task


def numbered(number: int, **fields: Any) -> StatusChange:
    """A change of a task of its own."""
    return a_change(task_id=f"01M{number:023d}", **fields)


def task_ids(frame: dict[str, Any]) -> list[str]:
    return [item["task_id"] for item in frame["items"]]

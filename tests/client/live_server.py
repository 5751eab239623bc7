"""A Duetime in virtual time, for calls that listen: its tasks change, its pushes get lost, and its
runner restarts. It carries out the steps of a call itself."""

import heapq
import json
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from duetime.client.calls import Call, Item, Pause, Progress
from duetime.client.errors import NotFound, Unreachable
from duetime.client.live_steps import (
    Close,
    Open,
    Receive,
    SendText,
    SocketLost,
    SocketRefused,
)
from duetime.client.requests import Request
from duetime.client.responses import Answer
from duetime.client.waits import Patience
from duetime.core.errors import DuetimeError

START = datetime(2026, 11, 18, 9, tzinfo=UTC).timestamp()
CLOCK_SKEW = 400.0  # the server's clock is ahead of the client's


class Socket:
    def __init__(self) -> None:
        self.frames: deque[str] = deque()
        self.subscribed: dict[str, Any] | None = None
        self.open = True

    def push(self, **frame: Any) -> None:
        self.frames.append(json.dumps(frame))


class LiveServer:
    """
    Attributes:
        now: The client's clock, in seconds.
        requests: What was asked for, as `GET /v1/tasks`.
        sockets: Every socket that was opened.
        refusal: The status with which it refuses sockets, if it does."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tasks: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.sockets: list[Socket] = []
        self.received: list[dict[str, Any]] = []
        self.up = True
        self.has_live = True
        self.refusal: int | None = None
        self.lifetime = 7_200.0
        self.silences: list[DuetimeError] = []
        self.patience = Patience(
            seconds=30, on_silence=self.silences.append, clock=lambda: self.now
        )
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    # what a test does

    def at(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (seconds, len(self._events), act))

    def change(self, number: int, status: str, *, attempt: int = 1, pushes: int = 1) -> None:
        """Changes a task, and pushes that so many times to whom it concerns."""
        task_id = f"01M{number:023d}"
        before = self.tasks.get(task_id)
        task = self.tasks[task_id] = {
            "id": task_id,
            "namespace": "default",
            "name": None,
            "target": {"type": "python", "handler": "shop.restock"},
            "lane": "medium",
            "status": status,
            "attempt": attempt,
            "updated_at": self._time(),
            "due_at": self._time(),
            "drift_ms": None,
            "error": None,
            "schedule_id": None,
            "run_id": None,
            "progress": None,
        }
        item = {**task, "task_id": task_id, "target": "shop.restock", "error_type": None}
        for left_out in ("id", "error", "progress"):
            del item[left_out]
        item |= {"before": before and before["status"], "outcome": None}
        for _ in range(pushes):
            self.push_to_all(type="changes", items=[item])

    def push_to_all(self, **frame: Any) -> None:
        for socket in self.sockets:
            if socket.open and socket.subscribed:
                socket.push(id=socket.subscribed["id"], **frame)

    def reorder(self) -> None:
        """What was pushed and not received yet arrives in another order."""
        for socket in self.sockets:
            socket.frames.reverse()

    def stop(self) -> None:
        self.up = False
        for socket in self.sockets:
            socket.open = False

    def start(self) -> None:
        self.up = True

    def run(self, call: Call[None], until: float) -> Iterator[Any]:
        """Yields the items of a call until that time."""
        progress = Progress(call)
        self.at(until, lambda: None)
        while (step := progress.step) is not None and self.now < until:
            if isinstance(step, Item):
                yield step.value
            try:
                answer = self._answer(step)
            except DuetimeError as error:
                progress.fail(error)
            else:
                progress.go_on(answer)

    # what a client sees

    def _answer(self, step: Any) -> Any:
        match step:
            case Request():
                return Answer(status=200, value=self._respond(step))
            case Pause(seconds):
                self._advance(self.now + seconds)
            case Open():
                return self._open()
            case SendText(socket, text):
                self._check(socket)
                self._take(socket, json.loads(text))
            case Receive(socket, seconds):
                return self._receive(socket, self.now + seconds)
            case Close(socket):
                socket.open = False
        return None

    def _respond(self, request: Request) -> Any:
        self.requests.append(f"{request.method} {request.path}")
        if not self.up:
            raise Unreachable("http://duetime.test")
        if request.path == "/v1/live/tickets":
            if not self.has_live:
                raise NotFound(404, "Not found")
            return {"url": "ws://duetime.test/v1/live?ticket=t", "expires_at": self._time(30)}
        if request.path == "/v1/tasks":
            status = (request.query or {}).get("status")
            newest = sorted(self.tasks.values(), key=lambda task: task["id"], reverse=True)
            wanted = [t for t in newest if not status or t["status"] in status.split(",")]
            return {"items": wanted[: (request.query or {})["limit"]], "next_cursor": None}
        task_id = request.path.rpartition("/")[2]
        if task_id not in self.tasks:
            raise NotFound(404, "Not found")
        return self.tasks[task_id]

    def _open(self) -> Socket:
        if not self.up:
            raise SocketLost("refused")
        if self.refusal:
            raise SocketRefused(self.refusal)
        self.sockets.append(Socket())
        return self.sockets[-1]

    def _take(self, socket: Socket, message: dict[str, Any]) -> None:
        self.received.append({**message, "at": self.now})
        match message["op"]:
            case "hello":
                closes_at = self._time(self.lifetime)
                socket.push(type="hello", version=1, ping_every=240, closes_at=closes_at)
            case "subscribe":
                socket.subscribed = message
                socket.push(type="subscribed", id=message["id"])
            case "ping":
                socket.push(type="pong")

    def _receive(self, socket: Socket, deadline: float) -> str | None:
        while not socket.frames:
            self._check(socket)
            if not self._events or self._events[0][0] > deadline:
                self._advance(deadline)
                return None
            self._advance(self._events[0][0])
        return socket.frames.popleft()

    def _check(self, socket: Socket) -> None:
        if not socket.open:
            raise SocketLost("closed")

    def _advance(self, moment: float) -> None:
        while self._events and self._events[0][0] <= moment:
            at, _, act = heapq.heappop(self._events)
            self.now = max(self.now, at)
            act()
        self.now = max(self.now, moment)

    def _time(self, ahead: float = 0) -> str:
        moment = datetime.fromtimestamp(START + CLOCK_SKEW + self.now + ahead, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

"""A Duetime with live updates behind a real HTTP server, whose tasks run when a test says so."""

import socket
import threading
from collections.abc import Sequence
from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.events import StatusChange
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Ports
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.executor import Executor
from duetime.executor.runs import Admitted
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.local.asgi import asgi_app
from duetime.local.live import LiveUpdates
from duetime.local.server import Server
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore


class LiveService:
    """
    Attributes:
        silent: Whether changes are not pushed, as if every push were lost."""

    def __init__(self, **options: Any) -> None:
        clock = SystemClock()
        self.silent = False
        self.store = SqliteTaskStore(None, self._publish)
        self._lanes = MemoryLaneQueue(clock)
        self._options = options
        self._clock = clock
        self.ports = Ports(
            store=self.store,
            schedules=self.store.schedules(clock),
            limits=self.store.limits(),
            slots=self.store.slots(),
            runs=self.store.runs(),
            lanes=self._lanes,
            wake_policy=WakePolicy(shards=1),
            clock=clock,
            chance=SystemRandom(),
        )
        self._address = ("127.0.0.1", 0)
        self.start()

    def start(self) -> None:
        self.live = LiveUpdates(self._clock, lambda: [], **self._options)
        self.api = Api(
            self.ports, handlers=registry.defaults, version="9.9.9", live=self.live.access
        )
        self._executor = Executor(
            self.ports, {"python": run_handler}, on_progress=self.live.hub.progressed
        )
        listener = socket.create_server(self._address)
        self._address = listener.getsockname()
        self.url = "http://{}:{}".format(*self._address)
        app = asgi_app(self._call, live=self.live.socket)
        self._server = Server(app, listener, on_shutdown=self.live.hub.end)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)

    def close(self) -> None:
        self.stop()
        self.store.close()

    def run_due(self) -> None:
        messages = self._lanes.receive(Queue(Lane.MEDIUM), 10, wait=0)
        due = [Admitted(message=message) for message in messages]
        runs = self._executor.record_and_lease(due=due).started
        self._executor.record_and_lease(ended=[self._executor.run_target(run) for run in runs])

    def _call(self, request: Request) -> Response:
        return self.api.call(request)

    def _publish(self, changes: Sequence[StatusChange]) -> None:
        for change in changes if not self.silent else ():
            self.live.hub.notify(change)

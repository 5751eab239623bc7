import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from typing import Any

import pytest
import uvicorn
from typer import testing
from typer.testing import CliRunner, Result

from duetime import Context, PermanentError, task
from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.api.lanes import unknown
from duetime.cli import app
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Ports
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.executor import Executor
from duetime.executor.runs import Admitted
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.local.asgi import asgi_app
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.object_store import MemoryObjectStore
from duetime.sqlite.task_store import SqliteTaskStore

SECRETS = ("stripe", "shop-hook", "slack-hook")
TASK: dict[str, Any] = {
    "id": "01KA5V8Y3M0000000000000001",
    "status": "ENQUEUED",
    "name": None,
    "namespace": "default",
    "target": {"type": "python", "handler": "reports.daily"},
    "payload": None,
    "run_at": "2026-11-16T08:00:10.000Z",
    "due_at": "2026-11-16T08:00:10.000Z",
    "priority": "medium",
    "timeout": 60.0,
    "retry": {
        "max_attempts": 5,
        "base_delay": 1.0,
        "multiplier": 2.0,
        "max_delay": 3600.0,
        "jitter": 0.5,
    },
    "jitter": 0.0,
    "expires_at": None,
    "ordering_key": None,
    "on_dead": None,
    "limits": [],
    "fairness_key": None,
    "waiting_for": None,
    "idempotency_key": None,
    "unique": None,
    "tags": {},
    "attempt": 0,
    "created_at": "2026-11-16T08:00:00.000Z",
    "updated_at": "2026-11-16T08:00:00.000Z",
    "started_at": None,
    "finished_at": None,
    "drift_ms": None,
    "progress": None,
    "result": None,
    "error": None,
    "cancel_requested": False,
    "reason": None,
    "schedule_id": None,
    "scheduled_for": None,
    "run_id": None,
    "step": None,
    "index": None,
    "not_shown": None,
}

# typer builds the whole tree of commands anew for every call, which takes longer than most tests.
testing._get_command = cache(testing._get_command)


@pytest.fixture
def a_task() -> Any:
    """Makes a task as the API returns it."""
    return lambda **changes: {**TASK, **changes}


class Shell:
    """Runs `duetime …` and returns its result."""

    def __init__(self, env: dict[str, str]) -> None:
        self._runner = CliRunner(env=env)

    def __call__(self, *words: str, stdin: str | None = None) -> Result:
        result = self._runner.invoke(app, words, input=stdin, prog_name="duetime")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result


@pytest.fixture
def make_shell() -> Any:
    return lambda url: Shell({"DUETIME_URL": url, "TERM": "dumb", "COLUMNS": "200"})


@pytest.fixture
def duetime(make_shell: Any) -> Shell:
    """A command line without a server: nothing listens on port 1."""
    return make_shell("http://127.0.0.1:1")


class Front:
    """A real HTTP server before whichever API a test has set up."""

    api: Api

    def __init__(self) -> None:
        # It listens before the server runs, so no test has to wait for it.
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:{1}".format(*self._socket.getsockname())
        self._server = uvicorn.Server(uvicorn.Config(asgi_app(self._call), log_level="error"))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def _call(self, request: Request) -> Response:
        return self.api.call(request)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture(scope="session")
def front() -> Iterator[Front]:
    with closing(Front()) as front:
        yield front


class System:
    """The real API and executor over a store in memory. Tasks run when a test says so."""

    def __init__(self) -> None:
        clock = SystemClock()
        self.now = clock.now
        self.store = SqliteTaskStore(None)
        self.schedules = self.store.schedules(clock)
        self._lanes = MemoryLaneQueue(clock)
        self.ports = Ports(
            store=self.store,
            schedules=self.schedules,
            runs=self.store.runs(),
            limits=self.store.limits(),
            slots=self.store.slots(),
            lanes=self._lanes,
            wake_policy=WakePolicy(shards=1),
            clock=clock,
            chance=SystemRandom(),
            objects=MemoryObjectStore(),
        )
        self.lanes = unknown
        self.api = Api(
            self.ports,
            handlers=registry.defaults,
            version="9.9.9",
            secrets=lambda: SECRETS,
            lanes=self._lane_activities,
        )
        self.executor = Executor(self.ports, {"python": run_handler})

    def _lane_activities(self) -> Any:
        return self.lanes()

    def lease(self) -> list[Any]:
        messages = self._lanes.receive(Queue(Lane.MEDIUM), 10, wait=0)
        return self.executor.record_and_lease(due=[Admitted(message=m) for m in messages]).started

    def run_due(self) -> None:
        """Runs what is due, and the steps of workflows that become due by that."""
        while runs := self.lease():
            self.executor.record_and_lease(ended=[self.executor.run_target(run) for run in runs])


@task("echo")
def echo(payload: Any, ctx: Context) -> Any:
    return payload


@task("report")
def report(payload: Any, ctx: Context) -> Any:
    ctx.progress(0.5, "half")
    return payload


@task("fail")
def fail(payload: Any, ctx: Context) -> Any:
    raise PermanentError("it must fail")


@pytest.fixture
def system(front: Front) -> Iterator[System]:
    system = System()
    front.api = system.api
    with closing(system.store):
        yield system


@pytest.fixture
def live(system: System, front: Front, make_shell: Any) -> Shell:
    """A command line that reaches the system."""
    return make_shell(front.url)

"""Reads a batch as the API does, without a store."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from duetime.api.capabilities import Capabilities
from duetime.api.crowded_minutes import CrowdedMinutes
from duetime.api.http import Request
from duetime.api.tasks import Tasks
from duetime.core.change import Answer, Applied
from duetime.core.delivery import Delivery
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wakes import WakeKind
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.engine.submission import Submission
from duetime.handlers.defaults import Defaults
from duetime.local.batches.protocol import NOT_READ, Setup, pack
from duetime.sqlite.new_rows import rows_of_new


class NeedsStore(BaseException):
    """A batch cannot be read without the store. It is no Exception: the code of the API that
    catches those goes on without an answer of the store."""


class BatchReading:
    def __init__(self, setup: Setup) -> None:
        self.handlers: Mapping[str, Defaults] = {}
        self._kept = _KeptTasks()
        nothing: Any = _Nothing()
        ports = Ports(
            store=self._kept,
            schedules=nothing,
            limits=nothing,
            lanes=_SentLater(),
            wake_policy=setup.wake_policy,
            clock=SystemClock(),
            chance=SystemRandom(),
            objects=nothing,
            slots=nothing,
            rates=nothing,
            runs=nothing,
            pools=setup.time_limits.pools,
        )
        capabilities = Capabilities(
            lambda: self.handlers,
            setup.time_limits,
            _no_secrets,
            ports.limits,
            setup.targets,
            ports.runs,
        )
        crowded = CrowdedMinutes(ports, 0)
        self._tasks = Tasks(ports, Submission(ports), capabilities, crowded)

    def read(self, body: bytes) -> bytes:
        """Returns the frame with the batch, or NOT_READ: if it needs the store, if a task is
        refused, or if this fails. Then the runner reads it and finds out by itself."""
        request = Request(
            method="POST",
            path="/v1/tasks/batch",
            headers={"content-type": "application/json"},
            body=body,
        )
        self._kept.tasks = []
        try:
            response = self._tasks.submit_batch(request, {})
            tasks = self._kept.tasks
            if len(tasks) < len(response.body["results"]):
                return NOT_READ
            return pack(tasks, rows_of_new(tasks), response.encoded())
        except (NeedsStore, Exception):  # noqa: BLE001 - see above
            return NOT_READ


class _Nothing:
    """Takes the place of a port."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NeedsStore(name)


class _KeptTasks(_Nothing):
    """A task store that keeps new tasks which are due soon and have ids of our own: those of
    clients may be taken."""

    tasks: Sequence[Task] = ()

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        for task in tasks:
            soon = task.wake is not None and task.wake.kind is WakeKind.WATCH
            if not soon or task.body_hash is not None:
                raise NeedsStore(task.id)
        self.tasks = tasks
        return [Applied(task) for task in tasks]


class _SentLater(_Nothing):
    """Lanes that take every message: the runner sends it once the task is stored."""

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:  # noqa: ARG002
        return [True] * len(deliveries)


def _no_secrets() -> NoReturn:
    raise NeedsStore("secrets")

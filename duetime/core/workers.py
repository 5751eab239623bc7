"""Workers: the processes outside the runner and outside Lambda that run attempts.

A worker says every PRESENCE_EVERY that it is there. That is for people, and for the reason why a
task waits; no attempt depends on it.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from duetime.core.lanes import Lane
from duetime.core.lifecycle import TO_START
from duetime.core.task import Task
from duetime.core.task_filter import handler_of
from duetime.core.times import SECOND, Millis
from duetime.core.value import value

PRESENCE_EVERY: Millis = 20 * SECOND
LIVE_FOR: Millis = 60 * SECOND  # since it was seen last


class Running(NamedTuple):
    """An attempt that a worker runs."""

    task_id: str
    since: Millis


@value(frozen=True, kw_only=True, slots=True)
class WorkerRecord:
    """What is known of a worker.

    Attributes:
        name: Unique per process.
        since: When it was seen first.
        seen: When it was seen last.
        backend: How it gets work: `http` from a runner, `aws` from the queues of a pool.
        pool: The pool that it takes tasks from; None: tasks without a pool.
        handlers: The names of the handlers that it runs.
        concurrency: How many tasks it runs at a time; None if it does not say so.
        draining: Whether it takes no more tasks."""

    name: str
    since: Millis
    seen: Millis
    backend: str
    pool: str | None
    lanes: tuple[Lane, ...]
    handlers: tuple[str, ...]
    concurrency: int | None = None
    running: tuple[Running, ...] = ()
    draining: bool = False
    host: str | None = None
    version: str | None = None

    def knows(self, handler: str, pool: str | None) -> bool:
        return self.pool == pool and handler in self.handlers


def lacks_worker(task: Task, workers: Sequence[WorkerRecord], now: Millis) -> bool:
    """Whether a task of a pool is due and none of its workers has the handler."""
    spec = task.spec
    if spec.pool is None or task.status not in TO_START or task.due_at > now:
        return False
    handler = handler_of(spec)
    return handler is None or not any(one.knows(handler, spec.pool) for one in workers)


def wait_for_worker(task: Task) -> dict[str, str | None]:
    """Returns what such a task waits for, as JSON."""
    return {"worker": handler_of(task.spec), "pool": task.spec.pool}


class WorkerStore(Protocol):
    """The records of the workers. One that has not been put for LIVE_FOR is gone."""

    def put(self, record: WorkerRecord) -> None: ...

    def list(self, now: Millis) -> Sequence[WorkerRecord]:
        """Returns the workers that are alive, by name."""
        ...

    def remove(self, name: str) -> None:
        """The worker has ended."""
        ...

"""Submits batches that another process has read."""

from collections.abc import Callable, Sequence
from functools import partial

from duetime.api.http import Response, unavailable
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.steps.lease import can_start
from duetime.core.task import Task
from duetime.engine.submission import enqueue_due
from duetime.executor.new_tasks import NewTasks
from duetime.executor.worker_pool import WorkerPool
from duetime.local.batches.protocol import ReadBatch
from duetime.sqlite.new_rows import NewRows, with_leases

Read = Callable[[bytes], ReadBatch | None]
QueueNew = Callable[[Sequence[Task], NewRows], Callable[[], bool]]  # see SqliteTaskStore.queue_new


class BatchSubmission:
    """
    Args:
        queue_new: Queues the write of tasks and their rows.
        read: Reads a batch.
        pool: Stores tasks with their leases; without it, none starts with its submission.
        on_start: Called with the tasks that have."""

    def __init__(
        self,
        ports: Ports,
        queue_new: QueueNew,
        read: Read,
        pool: WorkerPool | None = None,
        on_start: Callable[[Sequence[Task]], object] = lambda _: None,
    ) -> None:
        self._ports = ports
        self._queue_new = queue_new
        self._read = read
        self._pool = pool
        self._on_start = on_start

    def submit(self, body: bytes) -> Response | None:
        """Returns the answer to a batch whose tasks are stored; None for one that the API has to
        read itself, of which nothing is stored."""
        batch = self._read(body)
        if batch is None:
            return None
        try:
            started = self._stored(batch)
        except Unavailable as error:
            problem = unavailable(str(error))
            result = {"status": problem.status, "error": problem.body}
            return Response(status=200, body={"results": [result] * len(batch.tasks)})
        if started is None:
            return None
        enqueue_due(self._ports, batch.tasks[started:])
        return Response.of_text(batch.answer, "application/json")

    def _stored(self, batch: ReadBatch) -> int | None:
        """Stores the tasks. Returns how many have started with that; None if an id is taken."""
        if self._pool is not None and self._can_start(batch.tasks):
            new = NewTasks(batch.tasks, partial(self._queue, batch))
            self._pool.store(new)
            if new.error is not None:
                raise new.error
            if new.stored is not None:
                self._on_start(batch.tasks[: new.started])
                return new.started if new.stored else None
        return 0 if self._queue_new(batch.tasks, batch.rows)() else None

    def _can_start(self, tasks: Sequence[Task]) -> bool:
        now = self._ports.clock.now()
        return all(can_start(task, now) for task in tasks)

    def _queue(self, batch: ReadBatch, leased: Sequence[Task]) -> Callable[[], bool]:
        tasks = [*leased, *batch.tasks[len(leased) :]]
        return self._queue_new(tasks, with_leases(batch.rows, leased))

"""Submits batches that another process has read."""

from collections.abc import Callable, Sequence

from duetime.api.http import Response, unavailable
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.engine.submission import enqueue_due
from duetime.local.batches.protocol import ReadBatch
from duetime.sqlite.new_rows import NewRows

Read = Callable[[bytes], ReadBatch | None]
PutNew = Callable[[Sequence[Task], NewRows], bool]  # see SqliteTaskStore.put_new


class BatchSubmission:
    def __init__(self, ports: Ports, put_new: PutNew, read: Read) -> None:
        self._ports = ports
        self._put_new = put_new
        self._read = read

    def submit(self, body: bytes) -> Response | None:
        """Returns the answer to a batch whose tasks are stored; None for one that the API has to
        read itself, of which nothing is stored."""
        batch = self._read(body)
        if batch is None:
            return None
        try:
            if not self._put_new(batch.tasks, batch.rows):
                return None
        except Unavailable as error:
            problem = unavailable(str(error))
            result = {"status": problem.status, "error": problem.body}
            return Response(status=200, body={"results": [result] * len(batch.tasks)})
        enqueue_due(self._ports, batch.tasks)
        return Response.of_text(batch.answer, "application/json")

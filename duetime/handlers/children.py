"""Submissions inside a running handler: they go through the executor, without HTTP."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, cast

from duetime.client.errors import BadArgument, FieldError, NotFound, error_class
from duetime.client.requests import MAX_DEPTH, PAGE
from duetime.client.types import BatchResult, Task
from duetime.core.errors import Unavailable, WaitInsideHandler
from duetime.core.json_values import NotJson, to_json_value
from duetime.handlers.context import Context

NO_WAIT = (
    "a handler must not wait for another task: the attempt would hold its place until then, and"
    " two that wait for each other never end. Return, and let the other task submit what follows"
)


class ChildClient:
    """What duetime.client.current.TaskClient has, for the attempt that runs."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def submit(self, **fields: Any) -> Task:
        [result] = self.submit_batch([fields])
        if "task" in result:
            return result["task"]
        problem: Mapping[str, Any] = result["error"]
        errors = [FieldError(e["field"], e["message"]) for e in problem["errors"]]
        status = result["status"]
        error = error_class(status)(status, problem["title"], problem["detail"], errors, problem)
        error.retry_after = problem["retry_after"]
        raise error

    def submit_batch(self, tasks: Sequence[Any]) -> list[BatchResult]:
        """Raises Unavailable without the frames below this one: the traceback that an attempt keeps
        is short, and must reach back to the line of the handler."""
        plain = [_plain(task) for task in tasks]
        try:
            return cast("list[BatchResult]", self._ctx._submissions.submit(plain))
        except Unavailable as error:
            raise error.with_traceback(None) from None

    def submit_many(self, tasks: Iterable[Any]) -> list[BatchResult]:
        given = [*tasks]
        batches = (given[start : start + PAGE] for start in range(0, len(given), PAGE))
        return [result for batch in batches for result in self.submit_batch(batch)]

    def get(self, task_id: str) -> Task:
        task = self._ctx._submissions.read(task_id)
        if task is None:
            raise NotFound(404, "Not found", f"There is no task {task_id}.")
        return cast("Task", task)

    def wait(self, task_id: str, *, timeout: float | None = None) -> NoReturn:  # noqa: ARG002
        raise WaitInsideHandler(NO_WAIT)

    def result(self, task_id: str) -> NoReturn:  # noqa: ARG002
        raise WaitInsideHandler(NO_WAIT)


def _plain(task: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the JSON of a task, as the client sends it. Raises BadArgument."""
    try:
        plain: dict[str, Any] = to_json_value(task, levels=MAX_DEPTH, naive_times=False)
    except NotJson as error:
        raise BadArgument(error.path, str(error)) from None
    return plain

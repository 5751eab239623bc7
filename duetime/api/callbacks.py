"""/v1/callbacks and /v1/tasks/{id}/complete: what ends the wait of a task.

Every holder of the token of a callback may send it, so the answers say nothing about the task.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from duetime.api.http import (
    FieldError,
    Problem,
    Request,
    Response,
    Router,
    invalid,
    not_found,
    too_large,
    unavailable,
)
from duetime.api.query import Query
from duetime.api.task_models import read_body
from duetime.api.validation import ErrorType
from duetime.core.change import Applied, Unknown
from duetime.core.errors import BadResult
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.task import Task, TaskError
from duetime.core.value import value
from duetime.engine.workflows.callbacks import TokenState, complete, task_of_token, token_state

MAX_BODY = 64 * 1024  # bytes
MAX_MESSAGE = 1_000
RETRY_AFTER = 2  # seconds
ONE_END = FieldError("result", "give result or error, and not both")


class FailureIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: ErrorType
    message: Annotated[str, StringConstraints(max_length=MAX_MESSAGE)] = ""


class CompletionIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    result: Any = None
    error: FailureIn | None = None

    def failure(self) -> TaskError | None:
        if self.error is None:
            return None
        return TaskError(type=self.error.type, message=self.error.message)


@value(frozen=True, slots=True)
class Callbacks:
    """`enabled`: without it every token is unknown."""

    ports: Ports
    enabled: bool

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/callbacks/{token}", self.call)

    def call(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        token = parameters["token"]
        task = self._find(token)
        if task is None:
            raise not_found("such callback: it is unknown, or of an earlier attempt")
        given = read_completion(request)
        match token_state(token, task):
            case TokenState.TOO_EARLY:
                raise _too_early()
            case TokenState.USED:
                raise _used()
        if end_wait(self.ports, task, given) is None:
            raise _used()
        return Response(status=200, body={"accepted": True})

    def _find(self, token: str) -> Task | None:
        task_id = task_of_token(token) if self.enabled else None
        task = self.ports.store.get([task_id]).get(task_id) if task_id else None
        known = task is not None and token_state(token, task) is not TokenState.UNKNOWN
        return task if known else None


def complete_task(ports: Ports, request: Request, task: Task) -> Task:
    """Ends the wait of a task for an operator, whatever it waits for."""
    given = read_completion(request)
    after = end_wait(ports, task, given) if task.status is Status.WAITING else None
    if after is None:
        raise _not_waiting(task)
    return after


def read_completion(request: Request) -> CompletionIn:
    if len(request.body) > MAX_BODY:
        raise too_large("The limit is 64 KiB.")
    body = request.json()
    given = read_body(CompletionIn, body)
    if ("result" in body) is (given.error is not None):
        raise invalid([ONE_END])
    return given


def end_wait(ports: Ports, task: Task, given: CompletionIn) -> Task | None:
    """Returns the task afterwards; None if something else has ended the wait."""
    try:
        answer = complete(ports, task, result=given.result, error=given.failure())
    except BadResult as error:
        raise invalid([FieldError("result", str(error))]) from None
    if isinstance(answer, Unknown):
        raise unavailable(answer.reason)
    return answer.stored if isinstance(answer, Applied) else None


def _too_early() -> Problem:
    detail = "The step that sent this callback has not finished sending. Send it again."
    headers = {"retry-after": str(RETRY_AFTER)}
    return Problem(503, "too-early", "Nothing waits for it yet", detail, headers=headers)


def _used() -> Problem:
    detail = "The wait is over: the callback was received before, timed out or was cancelled."
    return Problem(409, "state-conflict", "Nothing waits for it any more", detail)


def _not_waiting(task: Task) -> Problem:
    detail = f"Task {task.id} is {task.status}; only a WAITING task can be completed."
    return Problem(409, "state-conflict", "The task does not wait", detail)

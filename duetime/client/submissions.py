"""Submissions that are safe to repeat: every task is sent with an id that the client has made.

If no answer arrives, the client sends the same task again, and Duetime stores it once.
"""

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from duetime.client.errors import ApiError, Unreachable
from duetime.client.transport import Transport
from duetime.client.types import BatchResult, Submitted, Task
from duetime.core.errors import DuetimeError
from duetime.core.ids import RANDOM_BITS, new_id

FIRST_PAUSE = 0.2  # seconds, at most; doubles with each repetition
LONGEST_RETRY_AFTER = 60.0  # seconds; a longer one is the caller's to wait for
REPEATED = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


class Submitter:
    """`retries` is how often a submission is repeated. `sleep` and `chance`, which returns a number
    from 0 to 1, are replaced in tests."""

    def __init__(
        self,
        transport: Transport,
        *,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._retries = retries
        self._sleep = sleep
        self._chance = chance

    def submit(self, fields: Mapping[str, Any]) -> Submitted:
        task = _with_id(fields)
        try:
            status, stored = self._send("/v1/tasks", task)
        except ApiError as error:
            if "id" in fields or not _refuses_id(error.problem):
                raise
            # The clock of this machine is wrong: without an id, the task is sent only once.
            status, stored = self._transport.request("POST", "/v1/tasks", body=fields)
        return Submitted(stored, replayed=_status(status, stored, fields, task) == HTTPStatus.OK)

    def submit_batch(self, tasks: Sequence[Any]) -> list[BatchResult]:
        sent = [_with_id(task) for task in tasks]
        results = self._send_batch(sent)
        refused = [
            place
            for place, result in enumerate(results)
            if _refuses_id(result.get("error", {})) and sent[place] is not tasks[place]
        ]
        if refused:
            again = self._post_batch([tasks[place] for place in refused])
            for place, result in zip(refused, again, strict=True):
                results[place] = result
        for result, given, task in zip(results, tasks, sent, strict=False):
            if "task" in result:
                result["status"] = _status(result["status"], result["task"], given, task)
        return results

    def _send_batch(self, tasks: Sequence[Any]) -> list[BatchResult]:
        """Sends the tasks again that the store did not answer for, or that were over a quota."""
        results = self._post_batch(tasks)
        for number in range(self._retries):
            unanswered = [n for n, result in enumerate(results) if _may_repeat_result(result)]
            if not unanswered:
                break
            self._pause(number, max(_retry_after(results[place]) for place in unanswered))
            again = self._post_batch([tasks[place] for place in unanswered])
            for place, result in zip(unanswered, again, strict=True):
                results[place] = result
        return results

    def _post_batch(self, tasks: Sequence[Any]) -> list[BatchResult]:
        _, answer = self._send("/v1/tasks/batch", {"tasks": tasks})
        return cast("list[BatchResult]", answer["results"])

    def _send(self, path: str, body: Any) -> tuple[int, Any]:
        for number in range(self._retries):
            try:
                return self._transport.request("POST", path, body=body)
            except (Unreachable, ApiError) as error:
                if not self._may_repeat(error):
                    raise
                self._pause(number, error.retry_after)
        return self._transport.request("POST", path, body=body)

    def _may_repeat(self, error: DuetimeError) -> bool:
        if isinstance(error, Unreachable):
            return error.temporary
        if not isinstance(error, ApiError) or error.status not in REPEATED:
            return False
        return (error.retry_after or 0) <= LONGEST_RETRY_AFTER

    def _pause(self, number: int, retry_after: float | None) -> None:
        """Waits for a random part of a span that doubles each time, but as long as was asked."""
        self._sleep(max(FIRST_PAUSE * 2**number * self._chance(), retry_after or 0.0))


def _may_repeat_result(result: BatchResult) -> bool:
    return result["status"] in REPEATED and _retry_after(result) <= LONGEST_RETRY_AFTER


def _retry_after(result: BatchResult) -> float:
    """Returns the seconds to wait before a task of a batch is sent again, if its error says so."""
    given = result.get("error", {}).get("retry_after", 0)
    return float(given) if isinstance(given, int | float) else 0.0


def make_id() -> str:
    """Returns a new id for a task: a ULID."""
    return new_id(time.time_ns() // 1_000_000, int.from_bytes(os.urandom(RANDOM_BITS // 8)))


def _with_id(task: Any) -> Any:
    """The API refuses what is not an object."""
    if not isinstance(task, Mapping) or "id" in task:
        return task
    return {**task, "id": make_id()}


def _refuses_id(problem: Mapping[str, Any]) -> bool:
    """Whether the API refuses a request for its id alone."""
    errors = problem.get("errors", ())
    unprocessable = problem.get("status") == HTTPStatus.UNPROCESSABLE_ENTITY
    return unprocessable and [error.get("field") for error in errors] == ["id"]


def _status(status: int, stored: Task, given: Any, sent: Any) -> int:
    """Returns 201 for a task with an id that the client has just made: if Duetime answers 200, an
    earlier try of the same submission has stored it."""
    made_here = given is not sent and stored.get("id") == sent["id"]
    return HTTPStatus.CREATED if made_here else status

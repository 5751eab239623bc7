"""Submissions that are safe to repeat: every task is sent with an id that the client has made.

If no answer arrives, the client sends the same task again, and Duetime stores it once.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from duetime import tracing
from duetime.client.calls import Call, Pause, send
from duetime.client.errors import ApiError, BadArgument, Unreachable
from duetime.client.requests import PAGE, encode
from duetime.client.responses import Answer
from duetime.client.types import BatchResult, Submitted, Task
from duetime.core.ids import RANDOM_BITS, new_id

BATCH_BYTES = 4 * 1024 * 1024  # of the tasks of one request; the API takes 5 MiB
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Retries:
    """How often a submission is repeated. `chance` returns a number from 0 to 1."""

    times: int
    chance: Callable[[], float]

    def pause(self, number: int, retry_after: float | None) -> Pause:
        """A random part of a span that doubles each time, but as long as the answer asks for."""
        return Pause(max(FIRST_PAUSE * 2**number * self.chance(), retry_after or 0.0))


def submit(fields: Mapping[str, Any], retries: Retries) -> Call[Submitted]:
    task = _with_id(fields)
    spans = tracing.client_spans()
    if spans is None or "trace" in task:
        return (yield from _submit(fields, task, retries))
    with spans.submit(task.get("target", {}), task["id"]) as trace:
        return (yield from _submit(fields, {**task, "trace": trace}, retries))


def _submit(
    fields: Mapping[str, Any], task: Mapping[str, Any], retries: Retries
) -> Call[Submitted]:
    try:
        answer = yield from post("/v1/tasks", encode(task), retries)
    except ApiError as error:
        if "id" in fields or not _refuses_id(error.problem):
            raise
        # The clock of this machine is wrong: without an id, the task is sent only once.
        answer = yield from send("POST", "/v1/tasks", body=fields)
    status = _status(answer.status, answer.value, fields, task)
    return Submitted(answer.value, replayed=status == HTTPStatus.OK)


def submit_batch(tasks: Sequence[Any], retries: Retries) -> Call[list[BatchResult]]:
    return (yield from Batch.of(tasks).submit(retries))


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """Tasks of one request: as the caller gave them, as they are sent, and their JSON."""

    given: Sequence[Any]
    sent: Sequence[Any]
    texts: Sequence[bytes]

    @classmethod
    def of(cls, tasks: Sequence[Any]) -> "Batch":
        sent = [_with_trace(_with_id(task)) for task in tasks]
        return cls(given=tasks, sent=sent, texts=_texts(sent))

    def submit(self, retries: Retries) -> Call[list[BatchResult]]:
        results = yield from self._send(retries)
        refused = [
            place
            for place, result in enumerate(results)
            if "error" in result
            and _refuses_id(result["error"])
            and self.sent[place] is not self.given[place]
        ]
        if refused:
            texts = _texts([self.given[place] for place in refused])
            _put(results, refused, (yield from _post(texts, retries)))
        for result, task, sent in zip(results, self.given, self.sent, strict=False):
            if "task" in result:
                result["status"] = _status(result["status"], result["task"], task, sent)
        return results

    def _send(self, retries: Retries) -> Call[list[BatchResult]]:
        """Sends the tasks again that the store did not answer for, or that were over a quota."""
        results = yield from _post(self.texts, retries)
        for number in range(retries.times):
            unanswered = [n for n, result in enumerate(results) if _may_repeat_result(result)]
            if not unanswered:
                break
            longest = max(_retry_after(results[place]) for place in unanswered)
            yield retries.pause(number, longest)
            texts = [self.texts[place] for place in unanswered]
            _put(results, unanswered, (yield from _post(texts, retries)))
        return results


def batches(tasks: Iterable[Any]) -> Iterator[Batch]:
    """Yields batches of at most as many tasks, and about as many bytes, as a request may have."""
    given: list[Any] = []
    sent: list[Any] = []
    texts: list[bytes] = []
    size = 0
    for number, task in enumerate(tasks):
        one = _with_trace(_with_id(task))
        text = _text(one, number)
        if given and (len(given) == PAGE or size + len(text) > BATCH_BYTES):
            yield Batch(given=given, sent=sent, texts=texts)
            given, sent, texts, size = [], [], [], 0
        given.append(task)
        sent.append(one)
        texts.append(text)
        size += len(text) + 1
    if given:
        yield Batch(given=given, sent=sent, texts=texts)


def _texts(tasks: Sequence[Any]) -> list[bytes]:
    return [_text(task, number) for number, task in enumerate(tasks)]


def _text(task: Any, number: int) -> bytes:
    """Returns the JSON of a task. An error names the field as `tasks.3.payload.at`."""
    try:
        return encode(task)
    except BadArgument as error:
        place = f"tasks.{number}"
        raise BadArgument(f"{place}.{error.name}", f"{place}.{error}") from None


def _post(texts: Sequence[bytes], retries: Retries) -> Call[list[BatchResult]]:
    body = b'{"tasks": [%s]}' % b", ".join(texts)
    answer = yield from post("/v1/tasks/batch", body, retries)
    return cast("list[BatchResult]", answer.value["results"])


def _put(results: list[BatchResult], places: list[int], found: list[BatchResult]) -> None:
    for place, result in zip(places, found, strict=True):
        results[place] = result


def post(path: str, body: bytes, retries: Retries, traceparent: str | None = None) -> Call[Answer]:
    """Sends a request that is safe to repeat, again if no answer arrives."""
    for number in range(retries.times):
        try:
            return (yield from send("POST", path, body=body, traceparent=traceparent))
        except (Unreachable, ApiError) as error:
            if not _may_repeat(error):
                raise
            pause = retries.pause(number, error.retry_after)
        yield pause
    return (yield from send("POST", path, body=body, traceparent=traceparent))


def _may_repeat(error: Unreachable | ApiError) -> bool:
    if isinstance(error, Unreachable):
        return error.temporary
    return error.status in REPEATED and (error.retry_after or 0) <= LONGEST_RETRY_AFTER


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


def _with_trace(task: Any) -> Any:
    """Adds the context of a span for the submission of one task of a batch, if traces are on."""
    spans = tracing.client_spans()
    if spans is None or not isinstance(task, Mapping) or "trace" in task:
        return task
    with spans.submit(task.get("target", {}), task.get("id")) as trace:
        return {**task, "trace": trace}


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

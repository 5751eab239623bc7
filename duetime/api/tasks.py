"""/v1/tasks: submit, read, list, change, run, cancel, retry and complete."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from duetime.api.alike_tasks import AlikeTasks, NewTasks
from duetime.api.batch_answers import fitting, without
from duetime.api.capabilities import Capabilities
from duetime.api.crowded_minutes import CrowdedMinutes
from duetime.api.etags import with_etag
from duetime.api.http import (
    CONTENTION,
    FieldError,
    Problem,
    Request,
    Response,
    Router,
    invalid,
    not_found,
    problem_of,
    unavailable,
)
from duetime.api.idempotency import HEADER, with_key
from duetime.api.paging import list_response
from duetime.api.query import Query
from duetime.api.redrive import not_revivable, revive_all
from duetime.api.task_models import (
    check_no_fields,
    is_large,
    read_batch,
)
from duetime.api.task_views import task_view
from duetime.api.trace_headers import TRACEPARENT, with_trace
from duetime.core.archive import all_attempts
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ids import is_id
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.steps.cancel import cancel, request_cancel
from duetime.core.steps.revive import revivable
from duetime.core.task import Attempt, Task
from duetime.core.task_json import attempt_json, task_json
from duetime.core.value import value
from duetime.engine.idempotency import body_hash
from duetime.engine.refusal import Refusal
from duetime.engine.submission import NotSubmitted, Submission, Submitted, TaskRequest

CANCEL_ATTEMPTS = 5  # each loses to a step of the task itself

if TYPE_CHECKING:
    from duetime.core.workers import WorkerStore

Hints = Sequence[Mapping[str, str]]


class Batches(Protocol):
    """Submits batches in another way, as far as it can."""

    def submit(self, body: bytes) -> Response | None:
        """Returns None for a batch that it cannot submit, of which nothing is stored."""
        ...


@value(frozen=True, slots=True)
class Tasks:
    ports: Ports
    submission: Submission
    capabilities: Capabilities
    crowded: CrowdedMinutes
    workers: "WorkerStore | None" = None
    batches: "Batches | None" = None

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/tasks", self.submit)
        router.add("GET", "/v1/tasks", self.page)
        router.add("POST", "/v1/tasks/batch", self.submit_batch)
        router.add("POST", "/v1/tasks/cancel", self.cancel_matching)
        router.add("POST", "/v1/tasks/retry", self.retry_matching)
        router.add("POST", "/v1/tasks/shift", self.shift_matching)
        router.add("GET", "/v1/tasks/{id}", self.get)
        router.add("PATCH", "/v1/tasks/{id}", self.change)
        router.add("DELETE", "/v1/tasks/{id}", self.cancel)
        router.add("GET", "/v1/tasks/{id}/attempts", self.attempts)
        router.add("POST", "/v1/tasks/{id}/run", self.run_now)
        router.add("POST", "/v1/tasks/{id}/retry", self.retry)
        router.add("POST", "/v1/tasks/{id}/complete", self.complete)
        router.add("GET", "/v1/tasks/{id}/payload", self.payload)
        router.add("GET", "/v1/tasks/{id}/result", self.result)

    def submit(self, request: Request, _: Mapping[str, str]) -> Response:
        (submitted,) = self.submission.submit([self.read_submission(request)])
        return self.answer(submitted)

    def answer(self, submitted: Submitted | NotSubmitted) -> Response:
        return submitted_response(submitted, self._hints(submitted))

    def read_submission(self, request: Request) -> TaskRequest:
        Query(request).done()
        wanted = self._task_request(with_key(request, request.json()))
        return with_trace(wanted, request.headers.get(TRACEPARENT))

    def submit_batch(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        if HEADER.lower() in request.headers:
            error = FieldError(HEADER, "a batch takes keys per task, in the body")
            raise invalid([error])
        if (answer := self._submit_elsewhere(request)) is not None:
            return answer
        answers = self._submit_each(read_batch(request.json()))
        hinted = [(answer, self._hints(answer)) for answer in answers]
        return fitting(lambda fields: {"results": batch_results(hinted, fields)})

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        task = self._find(parameters["id"])
        body = task_view(self.ports, task)
        if task.spec.pool is not None and body["waiting_for"] is None:
            body |= self._wait_for_worker(task)
        return with_etag(request, Response(status=200, body=body))

    def complete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        from duetime.api.callbacks import complete_task  # few tasks wait

        Query(request).done()
        after = complete_task(self.ports, request, self._find(parameters["id"]))
        return Response(status=200, body=task_view(self.ports, after))

    def payload(self, request: Request, parameters: Mapping[str, str]) -> Response:
        from duetime.api.task_texts import payload_response

        Query(request).done()
        return payload_response(self.ports, self._find(parameters["id"]))

    def result(self, request: Request, parameters: Mapping[str, str]) -> Response:
        from duetime.api.task_texts import result_response

        Query(request).done()
        return result_response(self.ports, self._find(parameters["id"]))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.task_list import task_list  # most requests submit tasks

        return task_list(self.ports, request)

    def cancel(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        for _ in range(CANCEL_ATTEMPTS):
            task = self._find(parameters["id"])
            if task.status.finished:
                raise _finished(task)
            running = task.status is Status.RUNNING
            now = self.ports.clock.now()
            change = request_cancel(task.id, now=now) if running else cancel(task, now=now)
            (answer,) = self.ports.store.apply([change])
            match answer:
                case Applied(after):
                    return Response(
                        status=202 if running else 200, body=task_view(self.ports, after)
                    )
                case Unknown(reason):
                    raise unavailable(reason)
                case Refused():
                    continue  # a step of the task won the race (a start, an end): read it again
        raise unavailable(CONTENTION)

    def cancel_matching(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.bulk_tasks import cancel_tasks

        return cancel_tasks(self.ports, request)

    def retry_matching(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.bulk_tasks import retry_tasks

        return retry_tasks(self.ports, request)

    def shift_matching(self, request: Request, _: Mapping[str, str]) -> Response:
        from duetime.api.bulk_tasks import shift_tasks

        return shift_tasks(self.ports, request)

    def change(self, request: Request, parameters: Mapping[str, str]) -> Response:
        from duetime.api.task_changes import deferred, read_change

        Query(request).done()
        change = read_change(request.json(), self.capabilities.time_limits)
        task = self._find(parameters["id"])
        change.check_limits(self.ports.limits, task)
        return deferred(self.ports, task, change.decision(self.ports, task))

    def run_now(self, request: Request, parameters: Mapping[str, str]) -> Response:
        from duetime.api.task_changes import deferred, due_now

        Query(request).done()
        check_no_fields(request)
        return deferred(self.ports, self._find(parameters["id"]), due_now)

    def retry(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        check_no_fields(request)
        task = self._find(parameters["id"])
        if not revivable(task):
            raise not_revivable(task)
        (answer,) = revive_all(self.ports, [task])
        match answer:
            case Applied(after):
                return Response(status=200, body=task_view(self.ports, after))
            case Refused(Task() as stored):  # not repeated: another request may have retried it
                raise not_revivable(stored)
            case Unknown(reason):
                raise unavailable(reason)
            case _:
                raise not_found(f"task {task.id}")

    def attempts(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        limit, after = query.limit(), query.number("cursor", 0)
        query.done()
        attempts = self._attempts(self._find(parameters["id"]))
        left = [attempt for attempt in attempts if attempt.number > after]
        cursor = str(left[limit - 1].number) if len(left) > limit else None
        return list_response([attempt_json(attempt) for attempt in left[:limit]], cursor)

    def _submit_elsewhere(self, request: Request) -> Response | None:
        if self.batches is None or request.headers.get("content-type") != "application/json":
            return None
        return self.batches.submit(request.body)

    def _submit_each(self, bodies: list[Any]) -> list[Submitted | NotSubmitted | Problem]:
        """Returns one answer for each body, in their order: a bad one fails alone."""
        answers: dict[int, Submitted | NotSubmitted | Problem] = {}
        requests: dict[int, TaskRequest] = {}
        alike = AlikeTasks(self._task_request)
        for place, body in enumerate(bodies):
            try:
                requests[place] = with_trace(alike.request(body))
            except Problem as problem:
                answers[place] = problem
        submitted = self.submission.submit(list(requests.values()))
        for place, answer in zip(requests, submitted, strict=True):
            answers[place] = answer
        return [answers[place] for place in range(len(bodies))]

    def _hints(self, answer: Submitted | NotSubmitted | Problem) -> Hints:
        if not isinstance(answer, Submitted) or answer.replayed:
            return []
        return self.crowded.hints(answer.task)

    def _task_request(self, body: Any) -> TaskRequest:
        task = self.capabilities.read(body)
        spec = task.spec(self.ports.clock.now())
        repeatable = task.idempotency_key is not None or task.id is not None
        request = TaskRequest(
            spec=spec, id=task.id, body_hash=body_hash(body) if repeatable else ""
        )
        return self._with_large_payload(request) if is_large(spec.payload) else request

    def _with_large_payload(self, request: TaskRequest) -> TaskRequest:
        from duetime.engine.large_payloads import read_large  # most payloads are small

        spec = request.spec
        large = read_large(spec.payload, spec.target, self.ports)
        if isinstance(large, Refusal):
            raise problem_of(large)
        return replace(request, spec=replace(spec, **large.fields), large_payload=large)

    def _wait_for_worker(self, task: Task) -> dict[str, Any]:
        """Returns what a task of a pool waits for if none of its workers has the handler."""
        from duetime.core.workers import lacks_worker, wait_for_worker

        now = self.ports.clock.now()
        workers = self.workers.list(now) if self.workers else ()
        return {"waiting_for": wait_for_worker(task)} if lacks_worker(task, workers, now) else {}

    def _find(self, task_id: str) -> Task:
        task = self.ports.store.get([task_id]).get(task_id) if is_id(task_id) else None
        if task is None:
            raise not_found(f"task {task_id}")
        return task

    def _attempts(self, task: Task) -> list[Attempt]:
        return all_attempts(task, self.ports.store.attempts(task.id))


def submitted_response(submitted: Submitted | NotSubmitted, hints: Hints = ()) -> Response:
    if not isinstance(submitted, Submitted):
        return problem_of(submitted).response()
    location = {"location": f"/v1/tasks/{submitted.task.id}", "content-type": "application/json"}
    status = 200 if submitted.replayed else 201
    body = task_json(submitted.task) | ({"hints": hints} if hints else {})
    return Response(status=status, body=body, headers=location)


def batch_results(
    answers: Iterable[tuple[Submitted | NotSubmitted | Problem, Hints]], left_out: Sequence[str]
) -> list[dict[str, Any]]:
    """Returns the answer to each task of a batch."""
    new = NewTasks()
    return [_result(answer, hints, left_out, new) for answer, hints in answers]


def _result(
    answer: Submitted | NotSubmitted | Problem, hints: Hints, left_out: Sequence[str], new: NewTasks
) -> dict[str, Any]:
    if not isinstance(answer, Submitted):
        problem = answer if isinstance(answer, Problem) else problem_of(answer)
        return {"status": problem.status, "error": problem.body}
    shown = task_json(answer.task) if answer.replayed else new.json(answer.task)
    task = without(shown, left_out) if left_out else shown
    status = 200 if answer.replayed else 201
    return {"status": status, "task": {**task, "hints": hints} if hints else task}


def _finished(task: Task) -> Problem:
    detail = f"Task {task.id} is {task.status} and cannot be cancelled."
    return Problem(409, "state-conflict", "The task is finished", detail)

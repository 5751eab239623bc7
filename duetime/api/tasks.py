"""/v1/tasks: submit, read, list, cancel, retry."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

from lambdas.api.http import (
    OVERTAKEN,
    FieldError,
    Problem,
    Request,
    Response,
    Router,
    invalid,
    not_found,
    shown,
    unavailable,
)
from lambdas.api.models import NothingIn, TaskIn, read_batch, read_body, read_task
from lambdas.api.pages import list_page, task_page
from lambdas.api.query import Query
from lambdas.api.render import attempt_json, task_json
from lambdas.api.revival import not_revivable, revive_all
from lambdas.api.short_answers import fitting, without
from lambdas.api.submission import Submission, Submitted, Wanted, body_hash
from lambdas.core.change import Applied, Refused, Unknown
from lambdas.core.ids import is_id
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Listing, Ports
from lambdas.core.steps.cancel import cancel, request_cancel
from lambdas.core.task import Attempt, Task
from lambdas.core.times import SECOND, Millis
from lambdas.core.values import value

CLOCKS_DIFFER: Millis = 1 * SECOND
KNOWN_SHOWN = 70  # characters of the names of known handlers
CANCEL_TRIES = 5  # each lost to a step of the task itself

HandlerNames = Callable[[], Collection[str]]


@value(frozen=True, slots=True)
class Accepted:
    """What the executors behind this API can do: a task that they cannot run is refused."""

    handlers: HandlerNames
    longest_timeout: int  # seconds

    def read(self, body: Any) -> TaskIn:
        task = read_task(body, self.longest_timeout)
        check_handler(task, self.handlers)
        return task


@value(frozen=True, slots=True)
class Tasks:
    ports: Ports
    submission: Submission
    accepted: Accepted

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/tasks", self.submit)
        router.add("GET", "/v1/tasks", self.page)
        router.add("POST", "/v1/tasks/batch", self.submit_batch)
        router.add("GET", "/v1/tasks/{id}", self.get)
        router.add("DELETE", "/v1/tasks/{id}", self.cancel)
        router.add("GET", "/v1/tasks/{id}/attempts", self.attempts)
        router.add("POST", "/v1/tasks/{id}/retry", self.retry)

    def submit(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = request.json()
        wanted = self._wanted(_with_key(body, request.headers.get("idempotency-key")))
        (submitted,) = self.submission.submit([wanted])
        if isinstance(submitted, Problem):
            raise submitted
        return submitted_response(submitted)

    def submit_batch(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        if "idempotency-key" in request.headers:
            error = FieldError("Idempotency-Key", "a batch takes keys per task, in the body")
            raise invalid([error])
        outcomes = self._submit_each(read_batch(request.json()))
        return fitting(lambda fields: {"results": [_result(o, fields) for o in outcomes]})

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        return Response(status=200, body=task_json(self._find(parameters["id"])))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = Listing(
            namespace=query.word("namespace", "default"),
            status=query.one_of("status", Status),
            schedule_id=query.word("schedule_id"),
            before=None if query.flag("upcoming", default=True) else self._soon(),
            limit=query.limit(),
            cursor=query.text("cursor"),
        )
        query.done()
        return task_page(self.ports.store.page, listing)

    def _soon(self) -> Millis:
        """Whatever has been submitted has an id of before then, though clocks differ a little."""
        return self.ports.clock.now() + CLOCKS_DIFFER

    def cancel(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        for _ in range(CANCEL_TRIES):
            task = self._find(parameters["id"])
            if task.status.finished:
                raise _finished(task)
            running = task.status is Status.RUNNING
            now = self.ports.clock.now()
            change = request_cancel(task.id, now=now) if running else cancel(task, now=now)
            (answer,) = self.ports.store.apply([change])
            match answer:
                case Applied(after):
                    return Response(status=202 if running else 200, body=task_json(after))
                case Unknown(reason):
                    raise unavailable(reason)
                case Refused():
                    continue  # it has just started, or an attempt has just ended: look again
        raise unavailable(OVERTAKEN)

    def retry(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        if request.body.strip():
            read_body(NothingIn, request.json())
        task = self._find(parameters["id"])
        if task.status is not Status.DEAD:
            raise not_revivable(task)
        (answer,) = revive_all(self.ports, [task])
        match answer:
            case Applied(after):
                return Response(status=200, body=task_json(after))
            case Refused(Task() as standing):  # not tried again: it may have had its second life
                raise not_revivable(standing)
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
        more = str(left[limit - 1].number) if len(left) > limit else None
        return list_page([attempt_json(attempt) for attempt in left[:limit]], more)

    def _submit_each(self, bodies: list[Any]) -> list[Submitted | Problem]:
        read = [self._try_wanted(body) for body in bodies]
        submitted = iter(self.submission.submit([w for w in read if isinstance(w, Wanted)]))
        return [item if isinstance(item, Problem) else next(submitted) for item in read]

    def _try_wanted(self, body: Any) -> Wanted | Problem:
        try:
            return self._wanted(body)
        except Problem as problem:
            return problem

    def _wanted(self, body: Any) -> Wanted:
        task = self.accepted.read(body)
        spec = task.spec(self.ports.clock.now())
        keyed = task.idempotency_key is not None
        return Wanted(spec=spec, body_hash=body_hash(body) if keyed else "")

    def _find(self, task_id: str) -> Task:
        task = self.ports.store.get([task_id]).get(task_id) if is_id(task_id) else None
        if task is None:
            raise not_found(f"task {task_id}")
        return task

    def _attempts(self, task: Task) -> list[Attempt]:
        rows = {attempt.number: attempt for attempt in self.ports.store.attempts(task.id)}
        for attempt in (task.previous, task.current):
            if attempt is not None:
                rows[attempt.number] = attempt
        return [rows[number] for number in sorted(rows)]


def check_handler(task: TaskIn, handlers: HandlerNames) -> None:
    if task.target.type == "python" and task.target.handler not in (known := handlers()):
        name = shown(task.target.handler, 60)
        message = f"no handler {name!r} is registered; {_nearest(name, known)}{_listed(known)}"
        raise invalid([FieldError("target.handler", message)])


def _nearest(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # only for a name that is wrong

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _listed(known: Collection[str]) -> str:
    """As many names as fit, and how many more there are."""
    names = sorted(known)
    lengths = accumulate(len(name) + 2 for name in names)
    fitting = max(sum(1 for length in lengths if length <= KNOWN_SHOWN), 1)
    rest = f" and {len(names) - fitting:,} more" if fitting < len(names) else ""
    return f"known: {', '.join(names[:fitting]) or 'none'}{rest}"


def _with_key(body: Any, key: str | None) -> Any:
    if key is None or not isinstance(body, dict):
        return body
    if body.get("idempotency_key") is not None:
        message = "give it in the body or as a header, not both"
        raise invalid([FieldError("idempotency_key", message)])
    return {**body, "idempotency_key": key}


def submitted_response(submitted: Submitted) -> Response:
    location = {"location": f"/v1/tasks/{submitted.task.id}", "content-type": "application/json"}
    status = 200 if submitted.replayed else 201
    return Response(status=status, body=task_json(submitted.task), headers=location)


def _result(outcome: Submitted | Problem, left_out: Sequence[str]) -> dict[str, Any]:
    if isinstance(outcome, Problem):
        return {"status": outcome.status, "error": outcome.body}
    status = 200 if outcome.replayed else 201
    return {"status": status, "task": without(task_json(outcome.task), left_out)}


def _finished(task: Task) -> Problem:
    detail = f"Task {task.id} is {task.status} and cannot be cancelled."
    return Problem(409, "state-conflict", "The task is finished", detail)

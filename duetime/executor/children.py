"""The tasks that handlers submit: the children of the tasks that run.

A child's id is made from its parent and its call (duetime.core.child_ids), so an attempt that
repeats what an earlier one has submitted stores nothing again. That holds for a retry, after a
crash, and for an attempt that has lost its lease and runs beside the next one.

What a submission needs is imported by the first handler that submits: most never do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.task import LONGEST_TIMEOUT, PAYLOAD_LIMIT, Task
from duetime.core.value import value

if TYPE_CHECKING:
    from duetime.engine.quotas import QuotaGate
    from duetime.engine.refusal import Refusal
    from duetime.engine.submission import NotSubmitted, Submitted, TaskRequest

Json = dict[str, Any]


@value(frozen=True, kw_only=True, slots=True)
class ChildSubmission:
    """How children are submitted. `quotas` limits them like submissions to the API, and
    `longest_timeout` is the longest timeout, in seconds, of a task without a pool."""

    quotas: "QuotaGate | None" = None
    longest_timeout: int = LONGEST_TIMEOUT


class Children:
    """The children of one attempt. A handler may have threads: each call is counted once."""

    def __init__(self, ports: Ports, parent: Task, how: ChildSubmission) -> None:
        self._ports = ports
        self._parent = parent
        self._how = how
        self._calls: dict[str, int] = {}  # by the first id: a payload may be large
        self._lock = Lock()

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Returns an answer to each task, like those of `POST /v1/tasks/batch`.

        Raises Unavailable if the store does not answer. What it has stored by then keeps its id, so
        the next attempt finds it."""
        from duetime.engine.refusal import Refusal
        from duetime.engine.submission import Submission

        ids = [self._next_id(fields) for fields in tasks]
        requests: dict[int, TaskRequest] = {}
        answers: dict[int, Submitted | NotSubmitted] = {}
        for place, fields in enumerate(tasks):
            try:
                requests[place] = self._request(ids[place], fields)
            except Refusal as refusal:
                answers[place] = refusal
        submitted = Submission(self._ports, self._how.quotas).submit(list(requests.values()))
        answers |= zip(requests, submitted, strict=True)
        refused = [place for place, answer in answers.items() if isinstance(answer, Refusal)]
        answers |= self._earlier({place: ids[place] for place in refused})
        return [_answer_json(answers[place]) for place in range(len(tasks))]

    def read(self, task_id: str) -> Json | None:
        """Returns the JSON of any task; None if there is none."""
        from duetime.core.task_json import task_json

        task = self._ports.store.get([task_id]).get(task_id)
        return None if task is None else task_json(task)

    def _next_id(self, fields: Mapping[str, Any]) -> str:
        """Counts the call, even if it is refused then: an equal call after it is another child."""
        from duetime.core.child_ids import call_of, child_id

        call = call_of(fields.get("step"), fields["target"]["handler"], fields.get("payload"))
        first = child_id(self._parent, call, 0)
        with self._lock:
            before = self._calls.get(first, 0)
            self._calls[first] = before + 1
        return child_id(self._parent, call, before) if before else first

    def _request(self, child_id: str, fields: Mapping[str, Any]) -> "TaskRequest":
        """Raises Refusal."""
        from duetime.core.time_limits import TimeLimits
        from duetime.engine.idempotency import body_hash
        from duetime.engine.submission import TaskRequest
        from duetime.executor.child_fields import read_spec

        spec = read_spec(
            _with_defaults(fields),
            parent=self._parent,
            now=self._ports.clock.now(),
            time_limits=TimeLimits(self._how.longest_timeout, self._ports.pools),
        )
        hashed = body_hash(fields) if spec.idempotency_key else ""
        return self._with_large_payload(TaskRequest(spec=spec, id=child_id, body_hash=hashed))

    def _earlier(self, refused: Mapping[int, str]) -> "dict[int, Submitted]":
        """Returns the children that an earlier attempt has stored: what was valid then may be
        refused now, such as an `expires_at` that has passed, or a limit that was deleted."""
        from duetime.engine.submission import Submitted

        found = self._ports.store.get([*refused.values()]) if refused else {}
        return {
            place: Submitted(task=found[child_id], replayed=True)
            for place, child_id in refused.items()
            if child_id in found and found[child_id].spec.parent_id == self._parent.id
        }

    def _with_large_payload(self, request: "TaskRequest") -> "TaskRequest":
        from duetime.core.codec import to_json
        from duetime.engine.refusal import Refusal

        spec = request.spec
        if spec.payload is None or len(to_json(spec.payload).encode()) <= PAYLOAD_LIMIT:
            return request
        from duetime.engine.large_payloads import read_large

        large = read_large(spec.payload, spec.target, self._ports)
        if isinstance(large, Refusal):
            raise large
        return replace(request, spec=replace(spec, **large.fields), large_payload=large)


def _with_defaults(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the fields with the defaults of the handler. Raises Refusal if there is none."""
    from duetime.core.known_names import known_names
    from duetime.engine.refusal import FieldError, excerpt, invalid
    from duetime.handlers import registry
    from duetime.handlers.defaults import with_defaults

    name = fields["target"]["handler"]
    handler = registry.find(name)
    if handler is None:
        message = f"no handler {excerpt(name, 60)!r} is registered in the executor;"
        message += f" {known_names(name, registry.names())}"
        raise invalid([FieldError("target.handler", message)])
    return with_defaults(fields, handler.defaults)


def _answer_json(answer: "Submitted | NotSubmitted") -> Json:
    """Raises Unavailable if the store has not answered."""
    from duetime.engine.submission import Submitted

    if isinstance(answer, Submitted):
        return {"status": 200 if answer.replayed else 201, "task": {"id": answer.task.id}}
    if isinstance(answer, Unknown):
        raise Unavailable(f"the store did not answer: {answer.reason}")
    return {"status": answer.status, "error": _error_json(answer)}


def _error_json(refusal: "Refusal") -> Json:
    errors = [error.json() for error in refusal.errors]
    detail = refusal.detail or "; ".join(f"{e['field']}: {e['message']}" for e in errors)
    return {
        "title": refusal.title,
        "status": refusal.status,
        "detail": detail,
        "errors": errors,
        "retry_after": refusal.retry_after,
    }

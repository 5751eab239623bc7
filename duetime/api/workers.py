"""/v1/workers: the workers that are alive, and the calls of HTTP workers.

The routes of the calls exist on a runner only. A batch answers each item on its own, in the order
of the request. A call for leases answers at once here; the server of the runner lets it wait.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from duetime.api.batch_answers import fitting
from duetime.api.capabilities import Capabilities
from duetime.api.http import (
    FieldError,
    Problem,
    Request,
    Response,
    Router,
    invalid,
    problem_of,
    recent,
)
from duetime.api.query import Query
from duetime.api.task_models import is_large, read_body
from duetime.api.tasks import batch_result
from duetime.api.worker_models import (
    MAX_ORDINAL,
    MAX_STEP,
    ChildrenIn,
    OutcomeIn,
    RenewalIn,
    RenewIn,
    ReportIn,
    read_lease,
)
from duetime.core.change import Unknown
from duetime.core.child_ids import call_of, child_id
from duetime.core.codec import canonical
from duetime.core.ports import Ports
from duetime.core.steps.lease import HEARTBEAT, LENGTH
from duetime.core.task import Task
from duetime.core.task_json import task_json
from duetime.core.times import SECOND, Millis, rfc3339
from duetime.core.value import replace, value
from duetime.core.worker_calls import (
    Leased,
    LeaseRequest,
    Recorded,
    Renewal,
    Renewed,
    Report,
)
from duetime.core.workers import WorkerRecord, WorkerStore
from duetime.engine.idempotency import body_hash
from duetime.engine.large_payloads import read_large
from duetime.engine.refusal import Refusal
from duetime.engine.submission import NotSubmitted, Submission, Submitted, TaskRequest

NOT_FOR_CHILDREN: Mapping[str, str] = {
    "id": "a task that a handler submits gets its id from its parent: give a step",
    "unique": "a task that a handler submits takes no unique key: it is stored once by its id",
}

Json = dict[str, Any]
In = TypeVar("In", RenewalIn, OutcomeIn)
T = TypeVar("T")

log = logging.getLogger(__name__)


class WorkerCalls(Protocol):
    """What carries the calls of HTTP workers out: see duetime.executor.remote_attempts."""

    def lease(self, wanted: LeaseRequest) -> list[Leased]: ...

    def renew(
        self, worker: str, renewals: Sequence[Renewal], *, draining: bool = False
    ) -> list[Renewed | Refusal]: ...

    def record(self, worker: str, reports: Sequence[Report]) -> list[Recorded | Refusal]: ...

    def parent(self, worker: str, task_id: str, holder: str) -> Task | Refusal: ...


@value(frozen=True, kw_only=True, slots=True)
class Workers:
    """`store` has the workers that are alive; None: there can be none. `calls`: None where there
    are no HTTP workers."""

    ports: Ports
    store: WorkerStore | None
    calls: WorkerCalls | None
    submission: Submission
    capabilities: Capabilities

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/workers", self.page)
        router.add("POST", "/v1/workers/lease", self.lease)
        router.add("POST", "/v1/workers/renew", self.renew)
        router.add("POST", "/v1/workers/outcome", self.outcome)
        router.add("POST", "/v1/workers/submit", self.submit)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        found = self.store.list(self.ports.clock.now()) if self.store else ()
        return recent({"items": [worker_json(record) for record in found]})

    # leases

    def lease(self, request: Request, _: Mapping[str, str]) -> Response:
        return self.leases(self.read_lease(request), self.ports.clock.monotonic())

    def read_lease(self, request: Request) -> LeaseRequest:
        """Raises Problem."""
        self._calls()
        Query(request).done()
        wanted = read_lease(request)
        if wrong := self.capabilities.time_limits.pool_error(wanted.pool):
            raise invalid([FieldError("pool", wrong)])
        if wanted.pool is None and (unknown := self._unknown_handlers(wanted.handlers)):
            raise invalid(unknown)
        return wanted

    def leases(self, wanted: LeaseRequest, arrived: Millis) -> Response:
        """`arrived` is when the request came, by the monotonic clock. The worker adds what the
        answer says to the time when it sent the request: its lease is no older. Raises Problem."""
        try:
            leased = self._calls().lease(wanted)
        except Refusal as refusal:
            raise problem_of(refusal) from None
        at = min((each.leased_at for each in leased), default=arrived)
        body = {
            "leases": [_lease_json(each) for each in leased],
            "leased_after": (at - arrived) / SECOND,
            "lease": LENGTH // SECOND,
            "renew_every": HEARTBEAT // SECOND,
            "time": rfc3339(self.ports.clock.now()),
        }
        return Response(status=200, body=body)

    def _unknown_handlers(self, handlers: Sequence[str]) -> "list[FieldError]":
        """Tasks without a pool can only name handlers that the runner has."""
        errors = []
        for place, name in enumerate(handlers):
            target = {"type": "python", "handler": name}
            for error in self.capabilities.target_errors(target, None):
                message = f"{error.message}; give a pool if only workers have it"
                errors.append(FieldError(f"handlers.{place}", message))
        return errors

    # renewals and outcomes

    def renew(self, request: Request, _: Mapping[str, str]) -> Response:
        calls = self._calls()
        Query(request).done()
        body = read_body(RenewIn, request.json())

        def renewed(items: Sequence[RenewalIn]) -> Sequence[Renewed | Refusal]:
            renewals = [item.renewal() for item in items]
            return calls.renew(body.worker, renewals, draining=body.draining)

        return _each(RenewalIn, body.leases, lambda item: item, renewed, _renewed_json)

    def outcome(self, request: Request, _: Mapping[str, str]) -> Response:
        calls = self._calls()
        Query(request).done()
        body = read_body(ReportIn, request.json())

        def read(item: OutcomeIn) -> Report:
            report = item.report()
            if item.log:
                fields = {"step": "record", "task_id": item.id, "worker": body.worker}
                log.info("worker log: %s", item.log, extra=fields)
            return report

        def record(reports: Sequence[Report]) -> Sequence[Recorded | Refusal]:
            return calls.record(body.worker, reports)

        return _each(OutcomeIn, body.outcomes, read, record, _recorded_json)

    # children

    def submit(self, request: Request, _: Mapping[str, str]) -> Response:
        calls = self._calls()
        Query(request).done()
        body = read_body(ChildrenIn, request.json())
        parent = calls.parent(body.worker, body.id, body.holder)
        if isinstance(parent, Refusal):
            raise problem_of(parent)
        answers = self._submit_each(parent, body.tasks)
        return fitting(lambda left: {"results": [batch_result(a, (), left) for a in answers]})

    def _submit_each(
        self, parent: Task, bodies: Sequence[Any]
    ) -> "list[Submitted | NotSubmitted | Problem]":
        answers: dict[int, Submitted | NotSubmitted | Problem] = {}
        requests: dict[int, TaskRequest] = {}
        ids: dict[int, str] = {}
        counted: dict[str, int] = {}
        for place, body in enumerate(bodies):
            try:
                child = _Child.read(parent, body, counted)
                ids[place] = child.id
                requests[place] = self._request(parent, child)
            except Problem as problem:
                answers[place] = problem
        submitted = self.submission.submit(list(requests.values()))
        answers |= zip(requests, submitted, strict=True)
        refused = {p: ids[p] for p, a in answers.items() if p in ids and _is_refused(a)}
        answers |= self._earlier(parent, refused)
        return [answers[place] for place in range(len(bodies))]

    def _request(self, parent: Task, child: "_Child") -> TaskRequest:
        """Raises Problem."""
        task = self.capabilities.read(child.fields)
        spec = replace(task.spec(self.ports.clock.now()), parent_id=parent.id)
        hashed = body_hash(child.fields) if spec.idempotency_key else ""
        if not is_large(spec.payload):
            return TaskRequest(spec=spec, id=child.id, body_hash=hashed)
        large = read_large(spec.payload, spec.target, self.ports)
        if isinstance(large, Refusal):
            raise problem_of(large)
        spec = replace(spec, **large.fields)
        return TaskRequest(spec=spec, id=child.id, body_hash=hashed, large_payload=large)

    def _earlier(self, parent: Task, refused: Mapping[int, str]) -> dict[int, Submitted]:
        """Returns the children that an earlier attempt has stored: see Children._earlier."""
        found = self.ports.store.get([*refused.values()]) if refused else {}
        return {
            place: Submitted(task=found[child], replayed=True)
            for place, child in refused.items()
            if child in found and found[child].spec.parent_id == parent.id
        }

    def _calls(self) -> WorkerCalls:
        if self.calls is None:
            detail = "Only a runner has HTTP workers; those of a deployment read its queues."
            raise Problem(404, "not-found", "Not found", detail)
        return self.calls


@value(frozen=True, kw_only=True, slots=True)
class _Child:
    id: str
    fields: Json  # of a task, as POST /v1/tasks takes them

    @classmethod
    def read(cls, parent: Task, body: Any, counted: dict[str, int]) -> "_Child":
        """`counted` has how often each call was in this request so far. Raises Problem."""
        if not isinstance(body, dict):
            raise invalid([FieldError("body", "must be an object")])
        fields = {"namespace": parent.spec.namespace, **body}
        step, ordinal = fields.pop("step", None), fields.pop("ordinal", None)
        errors = [FieldError(name, why) for name, why in NOT_FOR_CHILDREN.items() if name in fields]
        if step is not None and not (isinstance(step, str) and 0 < len(step) <= MAX_STEP):
            errors.append(FieldError("step", f"must be a string of 1 to {MAX_STEP} characters"))
        if ordinal is not None and not (type(ordinal) is int and 0 <= ordinal <= MAX_ORDINAL):
            errors.append(FieldError("ordinal", f"must be a whole number up to {MAX_ORDINAL:,}"))
        if errors:
            raise invalid(errors)
        target = fields.get("target")
        python = isinstance(target, dict) and isinstance(target.get("handler"), str)
        name = target["handler"] if isinstance(target, dict) and python else canonical(target)
        call = call_of(step, name, fields.get("payload"))
        first = child_id(parent, call, 0)
        number = counted.get(first, 0) if ordinal is None else ordinal
        counted[first] = number + 1
        return cls(id=child_id(parent, call, number), fields=fields)


def _each(
    model: type[In],
    bodies: Sequence[Any],
    read: Callable[[In], Any],
    act: Callable[[Sequence[Any]], Sequence[Any]],
    encode: Callable[[Any], Json],
) -> Response:
    """Reads each item, acts on those that are valid together, and answers each."""
    answers: dict[int, Json] = {}
    valid: dict[int, Any] = {}
    for place, body in enumerate(bodies):
        try:
            valid[place] = read(read_body(model, body))
        except Problem as problem:
            answers[place] = _refused_json(_id_of(body), problem)
    for place, answer in zip(valid, act([*valid.values()]) if valid else (), strict=True):
        if isinstance(answer, Refusal):
            answers[place] = _refused_json(_id_of(bodies[place]), problem_of(answer))
        else:
            answers[place] = encode(answer)
    return Response(status=200, body={"results": [answers[p] for p in range(len(bodies))]})


def _id_of(body: Any) -> str | None:
    found = body.get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str) else None


def _refused_json(task_id: str | None, problem: Problem) -> Json:
    return {"id": task_id, "status": problem.status, "error": problem.body}


def _renewed_json(renewed: Renewed) -> Json:
    return {
        "id": renewed.task_id,
        "status": 200,
        "lease_until": rfc3339(renewed.lease_until),
        "cancel_requested": renewed.cancel_requested,
    }


def _recorded_json(recorded: Recorded) -> Json:
    return {"id": recorded.task_id, "status": 200, "task_status": recorded.status}


def _lease_json(leased: Leased) -> Json:
    occurrence = leased.task.spec.occurrence
    return {
        "task": task_json(leased.task),
        "attempt": leased.task.attempt,
        "holder": leased.holder,
        "lease_until": rfc3339(leased.lease_until),
        "schedule_name": occurrence.name if occurrence else None,
        "previous": leased.previous,
    }


def _is_refused(answer: Submitted | NotSubmitted | Problem) -> bool:
    return not isinstance(answer, Submitted | Unknown)


def worker_json(record: WorkerRecord) -> Json:
    return {
        "name": record.name,
        "backend": record.backend,
        "pool": record.pool,
        "lanes": [lane.value for lane in record.lanes],
        "handlers": list(record.handlers),
        "concurrency": record.concurrency,
        "running": [
            {"task_id": one.task_id, "since": rfc3339(one.since)} for one in record.running
        ],
        "draining": record.draining,
        "since": rfc3339(record.since),
        "seen": rfc3339(record.seen),
        "host": record.host,
        "version": record.version,
    }

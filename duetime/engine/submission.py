"""submit: store tasks, and enqueue those that are due within the horizon.

The API submits what its clients send, and the executor what handlers submit. A task is stored
before it is enqueued. If the process dies in between, the task has a watch, and the scanner
enqueues it later.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from duetime import tracing
from duetime.core.change import Answer, Applied, Refused, Unknown
from duetime.core.ports import Ports
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.times import Millis
from duetime.core.value import replace, value
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import WakeKind
from duetime.engine.enqueue import try_enqueue
from duetime.engine.idempotency import IdempotencyKey, reserve_ids
from duetime.engine.refusal import FieldError, Refusal

if TYPE_CHECKING:
    from duetime.engine.large_payloads import LargePayload
    from duetime.engine.quotas import QuotaGate

HASH_BYTES = 12


@value(frozen=True, kw_only=True, slots=True)
class TaskRequest:
    """A task to submit. `body_hash` is needed only with an idempotency key or a client-made id."""

    spec: Spec
    body_hash: str
    id: str | None = None  # made by the client, or from the id of the task that submits it
    large_payload: "LargePayload | None" = None  # its spec has a reference instead

    @property
    def key(self) -> IdempotencyKey | None:
        text, namespace = self.spec.idempotency_key, self.spec.namespace
        if text is None:
            return None
        own_id = self.id if self.spec.parent_id else None
        return IdempotencyKey(
            text=text, namespace=namespace, body_hash=self.body_hash, own_id=own_id
        )

    def task(self, wake_policy: WakePolicy, task_id: str, now: Millis, draw: Draw) -> Task:
        return submit(
            wake_policy,
            task_id,
            self.spec,
            now=now,
            draw=draw,
            body_hash=self._stored_hash(task_id),
        )

    def made(self, task: Task) -> bool:
        """Whether this request has stored the task before. The body of a request with a key is
        compared when the key is reserved. Of a child the first submission wins, whatever its
        fields: its id says which call of its parent has submitted it."""
        if task.id == self.id and self.spec.parent_id is not None:
            return task.spec.parent_id == self.spec.parent_id
        if task.spec.namespace != self.spec.namespace:
            return False
        key = self.spec.idempotency_key
        if key is not None and task.spec.idempotency_key == key:
            return True
        return task.body_hash is not None and task.body_hash == self._stored_hash(task.id)

    def _stored_hash(self, task_id: str) -> str | None:
        """A unique task may be stored under the id of another request (see duetime.engine.unique);
        the hash then includes the own id, so that a repeated request recognises its task."""
        if self.id is None or self.spec.parent_id is not None:
            return None
        text = self.body_hash if task_id == self.id else f"{self.body_hash}/{self.id}"
        return urlsafe_b64encode(sha256(text.encode()).digest()[:HASH_BYTES]).decode()


@value(frozen=True, kw_only=True, slots=True)
class Submitted:
    """`replayed`: the task was there before. This request, or one with the same idempotency key,
    has stored it; or it is another task that holds the unique key."""

    task: Task
    replayed: bool


NotSubmitted = Refusal | Unknown  # Unknown: the store did not answer


@value(frozen=True, slots=True)
class Submission:
    ports: Ports
    quotas: "QuotaGate | None" = None

    def submit(self, requests: Sequence[TaskRequest]) -> list[Submitted | NotSubmitted]:
        """Returns one answer for each request, in their order."""
        requests = _traced(requests)
        now = self.ports.clock.now()
        answers: dict[int, Submitted | NotSubmitted] = {**self._refused_limits(requests)}
        left = {place: one for place, one in enumerate(requests) if place not in answers}
        keys = [request.key for request in left.values()]
        ids = reserve_ids(self.ports, keys, now, [request.id for request in left.values()])
        wanted: dict[int, tuple[TaskRequest, str]] = {}
        for (place, request), task_id in zip(left.items(), ids, strict=True):
            if isinstance(task_id, Refusal):
                answers[place] = task_id
            else:
                wanted[place] = request, task_id
        if self.quotas:
            answers |= self.quotas.answers(wanted, self.ports.store)
        unique = {p: w for p, w in wanted.items() if w[0].spec.unique and p not in answers}
        plain = {p: w for p, w in wanted.items() if not w[0].spec.unique and p not in answers}
        if unique:
            answers |= self._submit_unique(unique, now)
        if plain:
            answers |= self._store(plain, now)
        return [answers[place] for place in range(len(requests))]

    def _refused_limits(self, requests: Sequence[TaskRequest]) -> dict[int, Refusal]:
        """Checks limits before anything is written: a key is not used up by a wrong name."""
        if not any(request.spec.limits for request in requests):
            return {}
        from duetime.engine.limit_check import refused_limits  # most tasks have no limits

        return refused_limits(self.ports.limits, [request.spec for request in requests])

    def _submit_unique(
        self, wanted: Mapping[int, tuple[TaskRequest, str]], now: Millis
    ) -> dict[int, Submitted | NotSubmitted]:
        from duetime.engine.unique import UniqueTasks  # most requests do not need it

        return UniqueTasks(self.ports, now).submit(wanted)

    def _store(
        self, wanted: Mapping[int, tuple[TaskRequest, str]], now: Millis
    ) -> dict[int, Submitted | NotSubmitted]:
        draws = self.ports.chance.draws(len(wanted))
        tasks = [
            request.task(self.ports.wake_policy, task_id, now, draw)
            for (request, task_id), draw in zip(wanted.values(), draws, strict=True)
        ]
        if len(tasks) > 1 and any(task.spec.ordering_key is not None for task in tasks):
            from duetime.engine.ordered import in_batch_order

            tasks = in_batch_order(tasks)
        answers: dict[int, Submitted | NotSubmitted] = {}
        fresh: list[Task] = []
        puts = store_tasks(self.ports, tasks, [request for request, _ in wanted.values()])
        for (place, (request, _)), task, answer in zip(wanted.items(), tasks, puts, strict=True):
            match answer:
                case Applied():
                    fresh.append(task)
                    answers[place] = Submitted(task=task, replayed=False)
                case Refused(Task() as stored) if request.made(stored):
                    answers[place] = Submitted(task=stored, replayed=True)
                case Refused(Task()):
                    answers[place] = id_conflict(request)
                case Unknown():
                    answers[place] = answer
                case _:
                    answers[place] = Unknown("the task was deleted meanwhile")
        enqueue_due(self.ports, fresh)
        return answers


def _traced(requests: Sequence[TaskRequest]) -> Sequence[TaskRequest]:
    """Gives each task the context of the span that submits it, unless its client has sent one."""
    spans = tracing.spans()
    if spans is None:
        return requests
    return [
        request
        if request.spec.trace
        else replace(
            request,
            spec=replace(request.spec, trace=spans.submitted(request.spec.target, request.id)),
        )
        for request in requests
    ]


def store_tasks(
    ports: Ports, tasks: Sequence[Task], requests: Sequence[TaskRequest]
) -> list[Answer]:
    """Stores the task of each request, after its payload if that is large, and after its place if
    it has an ordering key."""
    if any(task.spec.ordering_key is not None for task in tasks):
        from duetime.engine.ordered import put_in_order

        return put_in_order(ports, tasks, lambda: _put_tasks(ports, tasks, requests))
    return _put_tasks(ports, tasks, requests)


def _put_tasks(
    ports: Ports, tasks: Sequence[Task], requests: Sequence[TaskRequest]
) -> list[Answer]:
    payloads = [request.large_payload for request in requests]
    if not any(payloads):
        return ports.store.put(tasks)
    from duetime.engine.large_payloads import put_tasks

    return put_tasks(ports, tasks, payloads)


def enqueue_due(ports: Ports, tasks: Sequence[Task]) -> None:
    """Enqueues those of the new tasks that are due within the horizon."""
    try_enqueue(ports, [t for t in tasks if t.wake and t.wake.kind is WakeKind.WATCH])


def id_conflict(request: TaskRequest) -> Refusal:
    """Says nothing about the other task: it may be in another namespace."""
    field = "idempotency_key" if request.id is None else "id"
    error = FieldError(field, "was used for another task, or with another body")
    return Refusal(409, "id-conflict", "The id is taken", errors=[error])

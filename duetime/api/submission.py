"""submit: store tasks, and enqueue those that are due within the horizon.

A task is stored before it is enqueued. If the API dies in between, the task has a watch, and the
scanner enqueues it later.
"""

from collections.abc import Sequence

from duetime.api.http import Problem, unavailable
from duetime.api.idempotency import IdempotencyKey, reserve_ids
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ports import Ports
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.value import value
from duetime.core.wakes import WakeKind
from duetime.engine.enqueue import try_enqueue


@value(frozen=True, kw_only=True, slots=True)
class TaskRequest:
    """A task to submit. `body_hash` is needed only with an idempotency key."""

    spec: Spec
    body_hash: str

    @property
    def key(self) -> IdempotencyKey | None:
        text, namespace = self.spec.idempotency_key, self.spec.namespace
        if text is None:
            return None
        return IdempotencyKey(text=text, namespace=namespace, body_hash=self.body_hash)


@value(frozen=True, kw_only=True, slots=True)
class Submitted:
    """`replayed`: the idempotency key was used before, and `task` is the task stored then."""

    task: Task
    replayed: bool


@value(frozen=True, slots=True)
class Submission:
    ports: Ports

    def submit(self, requests: Sequence[TaskRequest]) -> list[Submitted | Problem]:
        """Returns one answer for each request, in their order."""
        now = self.ports.clock.now()
        ids = reserve_ids(self.ports, [request.key for request in requests], now)
        answers: dict[int, Submitted | Problem] = {}
        tasks: dict[int, Task] = {}
        for place, (request, task_id) in enumerate(zip(requests, ids, strict=True)):
            if isinstance(task_id, Problem):
                answers[place] = task_id
            else:
                draw = self.ports.chance.draw()
                tasks[place] = submit(
                    self.ports.wake_policy, task_id, request.spec, now=now, draw=draw
                )
        for place, answer in zip(tasks, self._store(list(tasks.values())), strict=True):
            answers[place] = answer
        return [answers[place] for place in range(len(requests))]

    def _store(self, tasks: Sequence[Task]) -> list[Submitted | Problem]:
        submitted: list[Submitted | Problem] = []
        fresh: list[Task] = []
        for task, answer in zip(tasks, self.ports.store.put(tasks), strict=True):
            match answer:
                case Applied():
                    fresh.append(task)
                    submitted.append(Submitted(task=task, replayed=False))
                case Refused(Task() as stored):
                    submitted.append(Submitted(task=stored, replayed=True))
                case Unknown(reason):
                    submitted.append(unavailable(reason))
                case _:
                    submitted.append(unavailable("the task was deleted meanwhile"))
        due_soon = [t for t in fresh if t.wake and t.wake.kind is WakeKind.WATCH]
        try_enqueue(self.ports, due_soon)
        return submitted

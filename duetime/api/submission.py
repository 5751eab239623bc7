"""submit: store tasks, and send at once what is due within the horizon.

Durable first, then sent: a crash in between leaves a watch that sends it later. An idempotency
key is reserved before its task is stored, so of two replays one stores and sends it and the
other is told of it, whichever dies in between.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from lambdas.api.http import FieldError, Problem, unavailable
from lambdas.api.sending import send
from lambdas.core.change import Applied, Refused, Unknown
from lambdas.core.codec import canonical
from lambdas.core.ports import Ports, Reservation
from lambdas.core.steps.submit import submit
from lambdas.core.task import Spec, Task
from lambdas.core.times import DAY, Millis
from lambdas.core.values import value
from lambdas.core.wakes import WakeKind

KEY_LIFE: Millis = DAY


@value(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A task to be submitted; the hash tells whether a repeated key comes with the same body."""

    spec: Spec
    body_hash: str


@value(frozen=True, kw_only=True, slots=True)
class Submitted:
    task: Task
    replayed: bool


@value(frozen=True, slots=True)
class Submission:
    ports: Ports

    def submit(self, wanted: Sequence[Wanted]) -> list[Submitted | Problem]:
        now = self.ports.clock.now()
        ids = self._ids(wanted, now)
        tasks = [
            submit(self.ports.rules, task_id, want.spec, now=now, draw=self.ports.chance.draw())
            for want, task_id in zip(wanted, ids, strict=True)
            if isinstance(task_id, str)
        ]
        stored = iter(self._store(tasks))
        return [task_id if isinstance(task_id, Problem) else next(stored) for task_id in ids]

    def _ids(self, wanted: Sequence[Wanted], now: Millis) -> list[str | Problem]:
        """A new id for each task, or the one that its idempotency key stands for."""
        ids: list[str | Problem] = [self.ports.chance.new_id(now) for _ in wanted]
        keyed = [n for n, want in enumerate(wanted) if want.spec.idempotency_key is not None]
        if not keyed:
            return ids
        reservations = [
            Reservation(
                namespace=wanted[n].spec.namespace,
                key=wanted[n].spec.idempotency_key or "",
                task_id=str(ids[n]),
                body_hash=wanted[n].body_hash,
                expires_at=now + KEY_LIFE,
            )
            for n in keyed
        ]
        standing = self.ports.store.reserve(reservations, now)
        for n, there in zip(keyed, standing, strict=True):
            same = there.body_hash == wanted[n].body_hash
            ids[n] = there.task_id if same else _key_conflict(there)
        return ids

    def _store(self, tasks: Sequence[Task]) -> list[Submitted | Problem]:
        submitted: list[Submitted | Problem] = []
        fresh: list[Task] = []
        for task, answer in zip(tasks, self.ports.store.put(tasks), strict=True):
            match answer:
                case Applied():
                    fresh.append(task)
                    submitted.append(Submitted(task=task, replayed=False))
                case Refused(Task() as standing):
                    submitted.append(Submitted(task=standing, replayed=True))
                case Unknown(reason):
                    submitted.append(unavailable(reason))
                case _:
                    submitted.append(unavailable("the task was deleted meanwhile"))
        due_soon = [t for t in fresh if t.wake and t.wake.kind is WakeKind.WATCH]
        send(self.ports, due_soon)
        return submitted


def body_hash(body: Mapping[str, Any]) -> str:
    without_key = {name: value for name, value in body.items() if name != "idempotency_key"}
    return sha256(canonical(without_key).encode()).hexdigest()


def _key_conflict(standing: Reservation) -> Problem:
    message = f"was used for task {standing.task_id} with another body"
    return Problem(
        409,
        "key-conflict",
        "The idempotency key stands for another task",
        errors=[FieldError("idempotency_key", message)],
    )

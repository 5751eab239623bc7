"""lease and renew: an executor starts an attempt, and keeps the right to run it."""

from collections.abc import Sequence
from typing import Any

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.task import Attempt, Progress, Task
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND, Millis
from duetime.core.value import replace


def drift(*, due_at: Millis, started_at: Millis) -> Millis:
    return started_at - due_at


LENGTH: Millis = 45 * SECOND
HEARTBEAT: Millis = 10 * SECOND  # a lease outlasts four heartbeats
MAX_SILENCE: Millis = 3 * HEARTBEAT  # without a renewal for so long, the holder must stop
WATCH_AFTER: Millis = MINUTE  # from the end of a lease until the scanner checks the task
WORKER_HOLDER = "w:"  # begins the holder of a lease that an HTTP worker has from a runner
RETURN_TIME: Millis = 10 * SECOND  # for such a worker to find a runner that was restarted


def run_out(lease_until: Millis | None, now: Millis) -> bool:
    """Whether the lease has run out, even by a clock that differs: the holder is presumed dead."""
    return lease_until is not None and lease_until + CLOCK_SKEW < now


def renewed(now: Millis) -> Millis:
    return now + LENGTH


def held_by_worker(task: Task) -> bool:
    """Whether the attempt runs in another process than the runner's, and survives it."""
    return task.holder is not None and task.holder.startswith(WORKER_HOLDER)


def lease(delivery: Delivery, *, now: Millis, holder: str) -> Change:
    """Starts the attempt of a delivery. A duplicate, outdated or cancelled delivery loses here: its
    token is spent or the status has changed, and its message can be deleted."""
    if now < delivery.due_at:
        raise ValueError(f"task {delivery.task_id} is not due")
    started = Attempt(
        number=delivery.attempt,
        started_at=now,
        drift_ms=drift(due_at=delivery.due_at, started_at=now),
    )
    return Change(
        step=Step.LEASE,
        task_id=delivery.task_id,
        expect=Expect(
            statuses=sources(Step.LEASE),
            token=delivery.token,
            attempt=delivery.attempt - 1,
            unexpired_at=now,
        ),
        sets={
            "status": Status.RUNNING,
            "attempt": delivery.attempt,
            "holder": holder,
            "lease_until": renewed(now),
            "current": started,
            "sends": delivery.written_at,
            "updated_at": now,
            **({"held": None, "grant": None} if delivery.limits else {}),  # each attempt asks again
        },
        keeps_attempt=delivery.attempt > 1,
    )


def can_start(task: Task, now: Millis) -> bool:
    """Whether a new task may be stored with its lease: it is due since its submission, it belongs
    to the executors of Duetime itself, and there is nothing to check before its attempt."""
    spec = task.spec
    return (
        task.status is Status.ENQUEUED
        and task.due_at == task.created_at <= now
        and spec.pool is None
        and not spec.limits
        and spec.ordering_key is None
        and spec.occurrence is None
        and spec.step is None
        and not task.expired(now)
    )


def lease_new(tasks: Sequence[Task], *, now: Millis, holders: Sequence[str]) -> list[Task]:
    """Returns new tasks as they are stored with their lease, in one write. Each is as `submit` and
    then `lease` of its delivery, written at the same time, would leave it. The tasks were submitted
    together and can start, so they share their first attempt."""
    if not tasks:
        return []
    due_at, until = tasks[0].due_at, renewed(now)
    first = Attempt(number=1, started_at=now, drift_ms=drift(due_at=due_at, started_at=now))
    return [
        replace(
            task,
            status=Status.RUNNING,
            attempt=1,
            holder=holder,
            lease_until=until,
            current=first,
            sends=now,
            updated_at=now,
        )
        for task, holder in zip(tasks, holders, strict=True)
    ]


def renew(task: Task, *, now: Millis, progress: Progress | None = None) -> Change:
    """Extends the lease. A holder that has lost its lease is refused, and stops. The answer also
    has `cancel_requested`, which is how a holder learns of a cancel request."""
    sets: dict[str, Any] = {"lease_until": renewed(now)}
    if progress is not None:
        sets |= {"progress": progress, "updated_at": now}
    return Change(step=Step.RENEW, task_id=task.id, expect=held(task, Step.RENEW), sets=sets)


def held(task: Task, step: Step) -> Expect:
    """Expects the holder of this attempt, so that a late executor cannot change a newer attempt."""
    return Expect(statuses=sources(step), attempt=task.attempt, holder=task.holder)

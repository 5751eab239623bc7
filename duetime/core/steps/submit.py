"""submit: a new task."""

from dataclasses import replace

from duetime.core.delivery import new_token
from duetime.core.lifecycle import Status
from duetime.core.task import Spec, Task
from duetime.core.times import Millis, seconds
from duetime.core.wake_policy import Draw, WakePolicy


def submit(
    wake_policy: WakePolicy,
    task_id: str,
    spec: Spec,
    *,
    now: Millis,
    draw: Draw,
    body_hash: str | None = None,
) -> Task:
    """Returns a task that is ENQUEUED if it is due within the horizon, so that it is sent at once
    (the fast path); otherwise PENDING until the scanner claims it. It is stored only if its id is
    free: of two replays of one idempotency key the second stores and sends nothing."""
    due_at = due_time(spec, now=now, draw=draw)
    if spec.ordering_key is not None:
        spec = replace(spec, order_at=due_at)
    fast = wake_policy.within_horizon(due_at, now)
    return Task(
        id=task_id,
        spec=spec,
        status=Status.ENQUEUED if fast else Status.PENDING,
        token=new_token(due_at, draw.nonce),
        due_at=due_at,
        wake=wake_policy.place(task_id, spec.priority, due_at, now=now, draw=draw),
        created_at=now,
        updated_at=now,
        budget=spec.retry.max_attempts,
        body_hash=body_hash,
    )


def due_time(spec: Spec, *, now: Millis, draw: Draw) -> Millis:
    """Returns when a task is due whose time is set now; a time in the past means now."""
    return max(spec.run_at, now) + seconds(spec.jitter * draw.luck)

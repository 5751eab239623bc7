"""submit: a task comes into being."""

from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import Status
from lambdas.core.rules import Draw, Rules
from lambdas.core.task import Spec, Task
from lambdas.core.times import Millis, seconds


def submit(rules: Rules, task_id: str, spec: Spec, *, now: Millis, draw: Draw) -> Task:
    """ENQUEUED, to be sent at once, if it is due within the horizon (the fast path);
    otherwise PENDING until the scanner claims it. Written only if the id is not taken:
    of two replays of one idempotency key the second writes and sends nothing."""
    due_at = max(spec.run_at, now) + seconds(spec.jitter * draw.luck)
    fast = rules.within_horizon(due_at, now)
    return Task(
        id=task_id,
        spec=spec,
        status=Status.ENQUEUED if fast else Status.PENDING,
        token=new_token(due_at, draw.nonce),
        due_at=due_at,
        wake=rules.place(task_id, spec.priority, due_at, now=now, draw=draw),
        created_at=now,
        updated_at=now,
        budget=spec.retry.max_attempts,
    )

"""revive: a dead task gets another life."""

from lambdas.core.change import Change, Expect
from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import TRANSITIONS, Status, Step, sources
from lambdas.core.rules import Draw, Rules
from lambdas.core.task import Task
from lambdas.core.times import Millis


def revive(rules: Rules, task: Task, *, now: Millis, draw: Draw, delay: Millis = 0) -> Change:
    """With as many attempts as at first; their numbers go on where they were, so that a fencing
    token is never given twice. Of two revivals the second finds another token, and so does every
    further copy of the dead letter. `delay`: many at once must not trample their target."""
    due_at = now + delay
    return Change(
        step=Step.REVIVE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REVIVE), token=task.token, attempt=task.attempt),
        sets={
            "status": TRANSITIONS[Step.REVIVE][Status.DEAD],
            "token": new_token(due_at, draw.nonce),
            "due_at": due_at,
            "wake": rules.place(task.id, task.lane, due_at, now=now, draw=draw),
            "budget": task.attempt + task.spec.retry.max_attempts,
            "cancel_requested": False,
            "progress": None,
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )

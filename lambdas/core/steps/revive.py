"""revive: a dead task gets another life."""

from lambdas.core.change import Change, Expect
from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import TRANSITIONS, Status, Step, sources
from lambdas.core.rules import Draw, Rules
from lambdas.core.task import Task
from lambdas.core.times import Millis


def revive(rules: Rules, task: Task, *, now: Millis, draw: Draw) -> Change:
    """Due at once, with as many attempts as at first; their numbers go on where they were, so
    that a fencing token is never given twice. Of two revivals the second finds another token,
    and so does every further copy of the dead letter."""
    return Change(
        step=Step.REVIVE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.REVIVE), token=task.token, attempt=task.attempt),
        sets={
            "status": TRANSITIONS[Step.REVIVE][Status.DEAD],
            "token": new_token(now, draw.nonce),
            "due_at": now,
            "wake": rules.place(task.id, task.lane, now, now=now, draw=draw),
            "budget": task.attempt + task.spec.retry.max_attempts,
            "cancel_requested": False,
            "progress": None,
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )

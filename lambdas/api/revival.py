"""revive: dead tasks get another life, and go out at once."""

from collections.abc import Mapping, Sequence

from lambdas.api.http import Problem
from lambdas.api.sending import send
from lambdas.core.change import Answer, Applied
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.steps.revive import revive
from lambdas.core.task import Task
from lambdas.core.times import Millis

APART: Millis = 10  # between two revivals of one request: a hundred a second

_SUBMIT_AGAIN = "It is final; submit the work again as a new task."
_WILL_RUN = "It will run when it is due."
_ADVICE: Mapping[Status, str] = {
    Status.PENDING: _WILL_RUN,
    Status.ENQUEUED: _WILL_RUN,
    Status.RETRYING: _WILL_RUN,
    Status.WAITING: "It will run when its earlier steps have ended.",
    Status.RUNNING: "Wait for its end, or cancel it.",
    Status.SUCCEEDED: _SUBMIT_AGAIN,
    Status.CANCELLED: _SUBMIT_AGAIN,
    Status.EXPIRED: _SUBMIT_AGAIN,
    Status.DEAD: "Somebody else has just retried it, and it died again: look at its error.",
}


def revive_all(ports: Ports, tasks: Sequence[Task], before: int = 0) -> list[Answer]:
    """One answer for each. Of two who revive the same task, one is Refused. They are due one by
    one, behind those that the same request revived before."""
    if not tasks:
        return []
    now = ports.clock.now()
    changes = [
        revive(ports.rules, task, now=now, draw=ports.chance.draw(), delay=number * APART)
        for number, task in enumerate(tasks, start=before)
    ]
    answers = ports.store.apply(changes)
    send(ports, [answer.task for answer in answers if isinstance(answer, Applied)])
    return answers


def not_revivable(task: Task) -> Problem:
    only = "" if task.status is Status.DEAD else " and only a DEAD task can be retried"
    detail = f"Task {task.id} is {task.status}{only}. {_ADVICE[task.status]}"
    return Problem(409, "state-conflict", "The task cannot be retried", detail)

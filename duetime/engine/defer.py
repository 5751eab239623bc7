"""defer: change tasks that are not running, and enqueue those that are then due soon.

A task is stored before it is enqueued. If the process dies in between, the task has a watch, and
the scanner enqueues it later.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from duetime.core.change import Answer, Applied, Change, Refused
from duetime.core.ports import Ports
from duetime.core.steps.defer import Deferral, defer
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wake_policy import Draw
from duetime.core.wakes import WakeKind
from duetime.engine.enqueue import try_enqueue

TRIES = 5  # each loses to another change of the task

R = TypeVar("R")
Decide = Callable[[Task, Millis, Draw], Deferral | R]


def defer_all(ports: Ports, tasks: Sequence[Task], decide: Decide[R]) -> list[Answer | R]:
    """Changes each task to what `decide` returns for it. Returns one answer for each, in order.

    Args:
        decide: A pure function of the task, the time and the random input. Whatever it returns
            instead of a Deferral, such as the reason of a refusal, is the answer for that task. If
            another writer changes the task first, it is called again with the newer task. It must
            refuse a task whose status does not allow the step.

    A task is Refused if it is gone, or if other writers won every try."""
    answers: dict[int, Answer | R] = {}
    to_enqueue: list[Task] = []
    left = dict(enumerate(tasks))
    for _ in range(TRIES):
        changes: dict[int, Change] = {}
        now = ports.clock.now()
        for place, task in left.items():
            draw = ports.chance.draw()
            decided = decide(task, now, draw)
            if isinstance(decided, Deferral):
                changes[place] = defer(ports.wake_policy, task, decided, now=now, draw=draw)
            else:
                answers[place] = decided
        if not changes:
            break
        left = {}
        written = ports.store.apply(list(changes.values()))
        for (place, change), answer in zip(changes.items(), written, strict=True):
            answers[place] = answer
            match answer:
                case Applied(task) if task.wake and task.wake.kind is WakeKind.WATCH:
                    to_enqueue.append(task)
                case Refused(Task() as stored) if stored.token == change.sets["token"]:
                    answers[place] = Applied(stored)  # our own write, and the task has moved on
                case Refused(Task() as stored):
                    left[place] = stored
    try_enqueue(ports, to_enqueue)
    return [answers[place] for place in range(len(tasks))]

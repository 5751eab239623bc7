"""supersede: a dead task gives up its unique key for good.

A submission may take over the key of a task only if that task can never hold it again. A task that
succeeded, expired or was cancelled cannot. A dead task can, since it may be revived: so the
submission supersedes it first. Of this write and a revival the first wins: if the task is revived
first, it is live and keeps its key; if it is superseded first, the revival finds another token, and
every later one is refused (see duetime.core.steps.revive).
"""

from enum import Enum, auto

from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.task import SUPERSEDED, Task
from duetime.core.unique import HeldWhile


class KeyState(Enum):
    """What a task does with a unique key that names it."""

    HELD = auto()
    DEAD = auto()  # not held, but it is held again if the task is revived
    FREE = auto()  # never held again


def key_state(task: Task, key: str) -> KeyState:
    unique = task.spec.unique
    if unique is None or unique.key != key:
        return KeyState.FREE
    if task.status.final or task.reason == SUPERSEDED:
        return KeyState.FREE
    if unique.held_while is HeldWhile.PENDING and task.attempt > 0:
        return KeyState.FREE
    return KeyState.DEAD if task.status is Status.DEAD else KeyState.HELD


def supersede(task: Task, *, nonce: str) -> Change:
    """The new token invalidates the dead letter of the task. `updated_at`, the time of its death,
    stays."""
    return Change(
        step=Step.SUPERSEDE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.SUPERSEDE), token=task.token),
        sets={"token": new_token(task.due_at, nonce), "reason": SUPERSEDED},
    )

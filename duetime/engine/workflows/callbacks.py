"""Callbacks: a system outside Duetime ends the wait of a step.

The token of a callback names the task, and has 128 random bits that the executor draws for the
lease of each attempt. The row of the task has only the hash of the token: as the holder of the
lease, and then in the suspension. A token of an earlier attempt does not match any more.
"""

from enum import StrEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

from duetime.core.change import Answer, Applied, Change
from duetime.core.ids import LENGTH, is_id
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports, RandomSource
from duetime.core.results import encode_result
from duetime.core.steps.suspend import resume_with_failure, resume_with_success
from duetime.core.suspension import WaitsFor
from duetime.core.task import Task, TaskError
from duetime.engine.enqueue import enqueue

HASH_BYTES = 12


class TokenState(StrEnum):
    UNKNOWN = "unknown"  # no token, or one of an earlier attempt
    TOO_EARLY = "too_early"  # the target still runs, and may fail
    WAITED_FOR = "waited_for"
    USED = "used"  # the wait is over


def new_token(task_id: str, chance: RandomSource) -> str:
    """Draws the token of an attempt: a nonce has 64 random bits."""
    return f"{task_id}{chance.nonce()}{chance.nonce()}"


def task_of_token(token: str) -> str | None:
    """Returns the id of the task that a token names; None if it is no token."""
    return token[:LENGTH] if is_id(token[:LENGTH]) else None


def token_hash(token: str) -> str:
    """Returns what the row of the task stores of a token."""
    return blake2b(token.encode(errors="surrogatepass"), digest_size=HASH_BYTES).hexdigest()


def token_state(token: str, task: Task) -> TokenState:
    """The suspension of a wait that has failed keeps the hash: the attempt that buries the task has
    another holder."""
    hashed, waits = token_hash(token), task.suspended
    if waits is not None and waits.kind is WaitsFor.CALLBACK and compare_digest(hashed, waits.id):
        waiting = task.status is Status.WAITING
        return TokenState.WAITED_FOR if waiting else TokenState.USED
    if task.holder is None or not compare_digest(hashed, task.holder):
        return TokenState.UNKNOWN
    if task.status is Status.RUNNING:
        return TokenState.TOO_EARLY
    return TokenState.USED if task.status.finished else TokenState.UNKNOWN


def complete(
    ports: Ports, task: Task, *, result: Any = None, error: TaskError | None = None
) -> Answer:
    """Ends the wait of a task. With an error the task is sent once more, and an executor buries it.
    Raises BadResult if the result cannot be stored. Of two callers one is refused: the task does
    not wait any more. If this is cut off after the write, the watch of the task does the rest."""
    now = ports.clock.now()
    change: Change
    if error is None:
        change = resume_with_success(task, result=encode_result(result), now=now)
    else:
        draw = ports.chance.draw()
        change = resume_with_failure(ports.wake_policy, task, error, now=now, draw=draw)
    (answer,) = ports.store.apply([change])
    if isinstance(answer, Applied):
        _after(ports, task, answer.stored)
    return answer


def _after(ports: Ports, before: Task, after: Task) -> None:
    from duetime.engine.followups import run_follow_ups
    from duetime.engine.workflows.waits import cancel_waited_run

    if after.status is Status.RETRYING:
        enqueue(ports, [after])
    else:
        run_follow_ups(ports, [after])
    if before.suspended is not None and before.suspended.kind is WaitsFor.RUN:
        cancel_waited_run(ports, before)  # its end does not matter any more

"""suspend and resume: a task waits for something else to end, without an executor.

What the task waits for is started after the suspension is written, so its end cannot come before
the task waits. What ends the wait resumes the task; if that is lost, the watch of the task asks.
"""

from dataclasses import replace
from typing import Any

from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Outcome, Status, Step, sources
from duetime.core.steps.follow_up import follow_up_wake
from duetime.core.steps.lease import held
from duetime.core.suspension import Suspension
from duetime.core.task import Task, TaskError
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD, Draw, WakePolicy
from duetime.core.wakes import WakeKind

SECOND_WATCH: Millis = 15 * MINUTE
LONGEST_WATCH: Millis = 6 * HOUR


def suspend(
    wake_policy: WakePolicy, task: Task, waits: Suspension, *, now: Millis, draw: Draw
) -> Change:
    """Ends the attempt, and leaves the task WAITING. Only the holder of the attempt may write this:
    an executor that has lost its lease is refused, and the attempt that follows suspends anew."""
    if task.current is None:
        raise ValueError(f"task {task.id} has no attempt to suspend")
    ended = replace(task.current, outcome=Outcome.SUSPENDED, finished_at=now)
    at = now + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
    return Change(
        step=Step.SUSPEND,
        task_id=task.id,
        expect=held(task, Step.SUSPEND),
        sets={
            "status": Status.WAITING,
            "suspended": waits,
            "current": ended,
            "wake": _watch(wake_policy, task, waits, at, now=now),
            "lease_until": None,
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )


def watch_again(wake_policy: WakePolicy, task: Task, *, now: Millis) -> Change:
    """Moves the watch of a task that still waits: 15 minutes, then twice as far each time. If the
    task was resumed or cancelled meanwhile, its wake has moved and this write is refused."""
    waits = _waits(task)
    at = now + min(SECOND_WATCH * 2**task.resends, LONGEST_WATCH)
    return Change(
        step=Step.WATCH,
        task_id=task.id,
        expect=_waiting(task, Step.WATCH, wake=task.wake),
        sets={
            "wake": _watch(wake_policy, task, waits, at, now=now),
            "sends": task.resends + 1,
        },
    )


def resume_with_success(task: Task, *, result: str | None, now: Millis) -> Change:
    """Ends the task with the result of what it waited for. Of two reports the second is refused:
    the task does not wait any more."""
    return _resume(task, Status.SUCCEEDED, now, wake=follow_up_wake(task, now), result=result)


def resume_with_cancellation(task: Task, *, reason: str, now: Millis) -> Change:
    """Ends the task as CANCELLED, since what it waited for was cancelled."""
    return _resume(task, Status.CANCELLED, now, wake=follow_up_wake(task, now), reason=reason)


def resume_with_failure(
    wake_policy: WakePolicy, task: Task, error: TaskError, *, now: Millis, draw: Draw
) -> Change:
    """Stores the error, and makes the task due once more. Its caller sends it, and an executor
    buries it, so that it gets a dead letter like every other task. The message uses no attempt of
    the retry policy."""
    failed = replace(_waits(task), error_type=error.type, error_message=error.message)
    return Change(
        step=Step.RESUME,
        task_id=task.id,
        expect=_waiting(task, Step.RESUME),
        sets={
            "status": Status.RETRYING,
            "suspended": failed,
            "token": new_token(now, draw.nonce),
            "due_at": now,
            "wake": wake_policy.place(task.id, task.lane, now, now=now, draw=draw),
            "budget": task.budget + 1,
            "sends": 0,
            "skips": 0,
            "updated_at": now,
        },
    )


def expire_wait(task: Task, *, now: Millis) -> Change:
    """Ends a task whose wait has taken too long. A report that comes first is kept."""
    return Change(
        step=Step.EXPIRE,
        task_id=task.id,
        expect=_waiting(task, Step.EXPIRE),
        sets={"status": Status.EXPIRED, "wake": follow_up_wake(task, now), "updated_at": now},
    )


def _resume(task: Task, status: Status, now: Millis, **sets: Any) -> Change:
    return Change(
        step=Step.RESUME,
        task_id=task.id,
        expect=_waiting(task, Step.RESUME),
        sets={"status": status, "suspended": None, "updated_at": now, **sets},
    )


def _waiting(task: Task, step: Step, **more: Any) -> Expect:
    """Expects the wait that the caller has seen: a report for an earlier wait is refused."""
    statuses = frozenset({Status.WAITING}) & sources(step)
    return Expect(statuses=statuses, attempt=task.attempt, suspended=_waits(task), **more)


def _waits(task: Task) -> Suspension:
    if task.suspended is None:
        raise ValueError(f"task {task.id} waits for nothing")
    return task.suspended


def _watch(
    wake_policy: WakePolicy, task: Task, waits: Suspension, at: Millis, *, now: Millis
) -> Any:
    at = at if waits.until is None else max(min(at, waits.until), now)
    return wake_policy.wake(WakeKind.WATCH, task.id, task.lane, at, now=now)

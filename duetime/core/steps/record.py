"""record: the outcome of an attempt, and the next status of its task."""

import dataclasses
from typing import Any

from duetime.core.change import Change
from duetime.core.delivery import new_token
from duetime.core.lifecycle import UNCOUNTED, Outcome, Status, Step
from duetime.core.steps.follow_up import follow_up_wake, is_near
from duetime.core.steps.lease import held
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import DAY, Millis
from duetime.core.value import replace, value
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import WakeKind

LONGEST_RETRY_AFTER: Millis = DAY  # of a target's Retry-After
MAX_ATTEMPTS = 10_000  # above this every attempt counts, so that every task ends


@value(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why an attempt did not succeed."""

    outcome: Outcome
    error: TaskError
    permanent: bool = False
    retry_after: Millis | None = None  # asked for by the target: the least delay
    delay: Millis | None = None  # asked for by the handler: replaces the policy's delay
    limited: str | None = None  # the rate limit that the handler says it has reached


LEASE_EXPIRED = Failure(
    outcome=Outcome.LEASE_EXPIRED,
    error=TaskError(type="LeaseExpired", message="the executor stopped renewing its lease"),
)
INTERRUPTED = Failure(
    outcome=Outcome.INTERRUPTED,
    error=TaskError(type="Interrupted", message="its worker was stopped while it ran"),
    delay=0,
)


def started(task: Task, *, after: Millis, now: Millis, trace: str | None = None) -> Attempt:
    """Returns the attempt with the time when its target was called, `after` the lease was
    requested. A lease takes a round trip to the store, longer when the executor is cold; the drift
    includes it. This start is written with the outcome; until then the task shows when the lease
    was requested. `after` is measured by another clock than `now`, so the start is capped at the
    end of the attempt. `trace` is the context of the attempt's span."""
    if task.current is None:
        raise ValueError(f"task {task.id} has no attempt to start")
    started_at = min(task.current.started_at + after, now)
    drift_ms = task.current.drift_ms + after
    return replace(task.current, started_at=started_at, drift_ms=drift_ms, trace=trace)


def succeed(
    task: Task, *, result: str | None, now: Millis, attempt: Attempt | None = None
) -> Change:
    """`attempt`: the current one, with its start."""
    ended = _ended(attempt or task.current, Outcome.SUCCEEDED, None, now)
    sets = _end_fields(task, Status.SUCCEEDED, ended, now)
    sets["result"] = result
    return Change(step=Step.SUCCEED, task_id=task.id, expect=held(task, Step.SUCCEED), sets=sets)


def fail(
    wake_policy: WakePolicy,
    task: Task,
    failure: Failure,
    *,
    now: Millis,
    draw: Draw,
    cancelled: bool = False,
) -> Change:
    """Stops a cancelled task, retries it while attempts are left, otherwise buries it."""
    budget = task.budget + _extra_budget(task, failure)
    outcome = Outcome.CANCELLED if cancelled else failure.outcome
    ended = _ended(task.current, outcome, failure.error, now)
    if cancelled:
        step, sets = Step.STOP, _end_fields(task, Status.CANCELLED, ended, now)
    elif failure.permanent or task.attempt >= budget:
        step, sets = Step.BURY, _end_fields(task, Status.DEAD, ended, now)
    else:
        step = Step.RETRY
        sets = _retry_fields(wake_policy, task, failure, ended, now=now, draw=draw)
        if budget != task.budget:
            sets["budget"] = budget
    return Change(step=step, task_id=task.id, expect=held(task, step), sets=sets)


def lease_expired(wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw) -> Change:
    """Ends the attempt of an executor that is presumed dead. If the executor comes back and renews
    first, the lease has moved and this write loses. If it comes back later, it no longer holds a
    running attempt, and its own outcome is refused."""
    change = fail(
        wake_policy, task, LEASE_EXPIRED, now=now, draw=draw, cancelled=task.cancel_requested
    )
    expect = replace(change.expect, lease_until=task.lease_until)
    return dataclasses.replace(change, expect=expect)


def needs_enqueue(change: Change, task: Task) -> bool:
    """Whether the task must go through `enqueue` after a recorded failure: its delivery is sent
    now, or it is a retry with a cancel request, which `enqueue` ends."""
    return leaves_delivery(change) or (change.step is Step.RETRY and task.cancel_requested)


def leaves_delivery(change: Change) -> bool:
    """Whether a recorded failure is retried so soon that its delivery is sent now."""
    return change.step is Step.RETRY and change.sets["wake"].kind is WakeKind.WATCH


def _retry_fields(
    wake_policy: WakePolicy,
    task: Task,
    failure: Failure,
    ended: Attempt,
    *,
    now: Millis,
    draw: Draw,
) -> dict[str, Any]:
    due_at = now + _retry_delay(task, failure, draw.luck)
    return {
        "status": Status.RETRYING,
        "token": new_token(due_at, draw.nonce),
        "due_at": due_at,
        "wake": wake_policy.place(task.id, task.lane, due_at, now=now, draw=draw),
        "current": ended,
        "lease_until": None,
        "progress": None,
        "sends": 0,
        "skips": 0,
        "updated_at": now,
    }


def _extra_budget(task: Task, failure: Failure) -> int:
    """A snooze or an interruption raises the budget by the attempt it used, since attempt numbers
    only increase."""
    return int(failure.outcome in UNCOUNTED and task.attempt < MAX_ATTEMPTS)


def _retry_delay(task: Task, failure: Failure, luck: float) -> Millis:
    if failure.delay is not None:
        return failure.delay
    failures = task.attempt - (task.budget - task.spec.retry.max_attempts)
    delay = task.spec.retry.delay(failures, luck)
    return max(delay, min(failure.retry_after or 0, LONGEST_RETRY_AFTER))


def _ended(
    attempt: Attempt | None, outcome: Outcome, error: TaskError | None, now: Millis
) -> Attempt:
    if attempt is None:
        raise ValueError("the task has no attempt to end")
    return replace(attempt, outcome=outcome, error=error, finished_at=now)


def _end_fields(task: Task, status: Status, ended: Attempt, now: Millis) -> dict[str, Any]:
    """Returns the fields of a task that ends. The holder is kept, so that a repeated write can
    recognise its own values."""
    fields = {"status": status, "current": ended, "lease_until": None, "updated_at": now}
    if task.spec.step is None or not is_near(task.wake, now):
        fields["wake"] = follow_up_wake(task, now, status)
    return fields  # or the watch of the delivery becomes the watch of the follow-up

"""record: how an attempt ended, and what follows for the task."""

from dataclasses import replace
from typing import Any

from lambdas.core.change import Change
from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import Outcome, Status, Step
from lambdas.core.rules import Draw, Rules
from lambdas.core.steps.lease import held
from lambdas.core.steps.settle import debt
from lambdas.core.task import Attempt, Task, TaskError
from lambdas.core.times import DAY, Millis
from lambdas.core.values import value
from lambdas.core.wakes import WakeKind

LONGEST_RETRY_AFTER: Millis = DAY  # a target may ask for patience, not for oblivion
MOST_ATTEMPTS = 10_000  # beyond these even a snooze uses up an attempt: nothing goes on for ever


@value(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why an attempt did not succeed."""

    outcome: Outcome
    error: TaskError
    permanent: bool = False
    retry_after: Millis | None = None  # asked for by the target: not sooner
    delay: Millis | None = None  # asked for by the handler: instead of the policy's own


LEASE_EXPIRED = Failure(
    outcome=Outcome.LEASE_EXPIRED,
    error=TaskError(type="LeaseExpired", message="the executor stopped renewing its lease"),
)


def started(task: Task, *, after: Millis, now: Millis) -> Task:
    """The task as it was when its target was called, `after` its lease was asked for. A lease
    takes a trip to the store, and longer when the executor is cold; the drift counts it. It is
    written with the outcome, so until then the task shows when its lease was asked for. `after`
    is of another clock than `now`; even so no attempt starts after its end."""
    if task.current is None:
        raise ValueError(f"task {task.id} has no attempt to start")
    started_at = min(task.current.started_at + after, now)
    drift_ms = task.current.drift_ms + after
    return replace(task, current=replace(task.current, started_at=started_at, drift_ms=drift_ms))


def succeed(task: Task, *, result: str | None, now: Millis) -> Change:
    ended = _ended(task, Outcome.SUCCEEDED, None, now)
    return Change(
        step=Step.SUCCEED,
        task_id=task.id,
        expect=held(task, Step.SUCCEED),
        sets=_end(task, Status.SUCCEEDED, ended, now) | {"result": result},
    )


def fail(
    rules: Rules,
    task: Task,
    failure: Failure,
    *,
    now: Millis,
    draw: Draw,
    cancelled: bool = False,
) -> Change:
    """Stop if that was asked; retry while attempts are left; else bury."""
    budget = task.budget + _granted(task, failure)
    outcome = Outcome.CANCELLED if cancelled else failure.outcome
    ended = _ended(task, outcome, failure.error, now)
    if cancelled:
        step, sets = Step.STOP, _end(task, Status.CANCELLED, ended, now)
    elif failure.permanent or task.attempt >= budget:
        step, sets = Step.BURY, _end(task, Status.DEAD, ended, now)
    else:
        step, sets = Step.RETRY, _again(rules, task, failure, ended, now=now, draw=draw)
        if budget != task.budget:
            sets["budget"] = budget
    return Change(step=step, task_id=task.id, expect=held(task, step), sets=sets)


def lease_expired(rules: Rules, task: Task, *, now: Millis, draw: Draw) -> Change:
    """End the attempt of an executor taken for dead. If it comes back and renews first, the
    lease has moved and this write loses. If it comes back later, it no longer holds a running
    attempt, and its own outcome is refused."""
    change = fail(rules, task, LEASE_EXPIRED, now=now, draw=draw, cancelled=task.cancel_requested)
    return replace(change, expect=replace(change.expect, lease_until=task.lease_until))


def to_enqueue(change: Change, task: Task) -> bool:
    """Whether a recorded failure leaves something to enqueue: a delivery that is to go out now,
    or a retry that was asked to stop and ends there."""
    return leaves_delivery(change) or (change.step is Step.RETRY and task.cancel_requested)


def leaves_delivery(change: Change) -> bool:
    """Whether a recorded failure is to be tried again so soon that its delivery goes out now."""
    return change.step is Step.RETRY and change.sets["wake"].kind is WakeKind.WATCH


def _again(
    rules: Rules, task: Task, failure: Failure, ended: Attempt, *, now: Millis, draw: Draw
) -> dict[str, Any]:
    due_at = now + _wait(task, failure, draw.luck)
    return {
        "status": Status.RETRYING,
        "token": new_token(due_at, draw.nonce),
        "due_at": due_at,
        "wake": rules.place(task.id, task.lane, due_at, now=now, draw=draw),
        "current": ended,
        "lease_until": None,
        "progress": None,
        "sends": 0,
        "skips": 0,
        "updated_at": now,
    }


def _granted(task: Task, failure: Failure) -> int:
    """A snooze gives back the attempt that it took; the numbers of attempts only go up."""
    return int(failure.outcome is Outcome.SNOOZED and task.attempt < MOST_ATTEMPTS)


def _wait(task: Task, failure: Failure, luck: float) -> Millis:
    if failure.delay is not None:
        return failure.delay
    failures = task.attempt - (task.budget - task.spec.retry.max_attempts)
    delay = task.spec.retry.delay(failures, luck)
    return max(delay, min(failure.retry_after or 0, LONGEST_RETRY_AFTER))


def _ended(task: Task, outcome: Outcome, error: TaskError | None, now: Millis) -> Attempt:
    if task.current is None:
        raise ValueError(f"task {task.id} has no attempt to end")
    return replace(task.current, outcome=outcome, error=error, finished_at=now)


def _end(task: Task, status: Status, ended: Attempt, now: Millis) -> dict[str, Any]:
    """The holder stays on record: it is how a repeated write knows its own traces."""
    return {
        "status": status,
        "current": ended,
        "wake": debt(task, now),
        "lease_until": None,
        "updated_at": now,
    }

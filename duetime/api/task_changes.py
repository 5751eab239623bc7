"""PATCH /v1/tasks/{id} and POST /v1/tasks/{id}/run: what may change, and when."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from duetime.api.http import (
    CONTENTION,
    FieldError,
    Problem,
    Response,
    invalid,
    not_found,
    problem_of,
    unavailable,
)
from duetime.api.limit_models import LimitsIn
from duetime.api.task_models import (
    ON_DEAD_ALONE,
    PLAIN_TARGETS,
    RUN_AT_OR_DELAY,
    TOO_FAR_AHEAD,
    Delay,
    OnDeadIn,
    Priority,
    RetryIn,
    Tags,
    Timeout,
    is_large,
    read_body,
)
from duetime.api.task_views import task_view
from duetime.api.validation import Moment, Word
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.limits.definition import LimitUse, OnDead
from duetime.core.ports import Ports
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.steps.defer import Deferral, budget_after
from duetime.core.steps.submit import due_time
from duetime.core.task import MAX_AHEAD, Spec, Task
from duetime.core.time_limits import TimeLimits
from duetime.core.times import Millis, rfc3339, seconds
from duetime.core.wake_policy import Draw
from duetime.engine.defer import Decide, defer_all
from duetime.engine.refusal import Refusal

if TYPE_CHECKING:
    from duetime.core.limits.ports import LimitStore

_FINAL = "It is final; submit the work again as a new task."
_ADVICE: Mapping[Status, str] = {
    Status.RUNNING: "Wait for its end, or cancel it.",
    Status.WAITING: "It waits for a workflow run or a callback. Cancel it, or complete it.",
    Status.DEAD: "Retry it instead.",
    Status.SUCCEEDED: _FINAL,
    Status.CANCELLED: _FINAL,
    Status.EXPIRED: _FINAL,
}


POOL_STAYS = FieldError("pool", "does not change: cancel the task, and submit it to another pool")


class ChangeIn(BaseModel):
    """A change of a task: the fields that are given. A field that may be null has a meaning for it:
    `expires_at` is removed, `retry` becomes the default, and `payload` is null."""

    model_config = ConfigDict(extra="forbid", strict=True)

    # Only the fields that are given are read: see `model_fields_set`.
    payload: Any = None
    run_at: Moment = 0
    delay: Delay = 0.0
    priority: Priority = "medium"
    timeout: Timeout = 60.0
    retry: RetryIn | None = None
    expires_at: Moment | None = None
    on_dead: OnDeadIn = "continue"
    limits: LimitsIn = []
    fairness_key: Word | None = None
    tags: Tags = {}
    _time_limits: TimeLimits = PrivateAttr(default_factory=TimeLimits)

    def check(self) -> None:
        """Checks what does not depend on the task."""
        if not self.model_fields_set:
            names = ", ".join(type(self).model_fields)
            raise invalid([FieldError("body", f"give at least one of {names}")])
        if {"run_at", "delay"} <= self.model_fields_set:
            raise invalid([RUN_AT_OR_DELAY])

    def check_limits(self, limits: "LimitStore", task: Task) -> None:
        """Raises a Problem for limits that the task cannot be under."""
        if not self.limits:
            return
        from duetime.engine.limit_check import limit_errors  # most tasks have no limits

        if errors := limit_errors(limits, replace(task.spec, limits=self._uses())):
            raise invalid(errors)

    def decision(self, ports: Ports, task: Task) -> Decide[Problem]:
        """Returns the function that decides this change. A large payload is stored before that, if
        the task can be changed."""
        if not is_large(self.payload):
            return self.decide
        from duetime.engine.large_payloads import read_large  # most payloads are small

        if problem := not_deferrable(task, "changed") or self._conflict(task):
            raise problem
        large = read_large(self.payload, task.spec.target, ports)
        if isinstance(large, Refusal):
            raise problem_of(large)
        large.store(ports.objects, task.id)
        return partial(self.decide, payload=large.fields)

    def decide(
        self, task: Task, now: Millis, draw: Draw, *, payload: Mapping[str, Any] | None = None
    ) -> Deferral | Problem:
        """Returns what the task becomes, or why it cannot be changed. `payload` are the fields of a
        large payload."""
        if problem := not_deferrable(task, "changed") or self._conflict(task):
            return problem
        spec = replace(self._spec(task.spec, now), **(payload or {}))
        if errors := [*self._errors(task, spec, now)]:
            return invalid(errors)
        if task.attempt == 0 and _expired(spec, now):
            return _has_expired(task, "changed")
        moved = not self.model_fields_set.isdisjoint({"run_at", "delay"})
        due_at = due_time(spec, now=now, draw=draw) if moved else task.due_at
        return Deferral(spec=spec, due_at=due_at)

    def _conflict(self, task: Task) -> Problem | None:
        occurrence = task.spec.occurrence
        if "limits" in self.model_fields_set and task.in_line:
            why = "waits for its place. Cancel it, and submit it again with other limits."
            return conflict(f"Task {task.id} {why}", "changed")
        if "expires_at" in self.model_fields_set and task.attempt > 0:
            why = "has started, and expires_at counts only before the first attempt."
            return conflict(f"Task {task.id} {why}", "changed")
        step = task.spec.step
        if "payload" in self.model_fields_set and step is not None:
            why = f"is a step of run {step.run_id}, and its payload comes from the workflow."
            return conflict(f"Task {task.id} {why}", "changed")
        if "payload" in self.model_fields_set and occurrence and occurrence.open:
            why = "has a payload that is filled in from the previous run of its schedule."
            return conflict(f"Task {task.id} {why} Change the schedule instead.", "changed")
        return None

    def _spec(self, spec: Spec, now: Millis) -> Spec:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if "payload" in given:
            given["payload_object"] = None
        if "delay" in given:
            given["run_at"] = now + seconds(given.pop("delay"))
        if "priority" in given:
            given["priority"] = Lane(given["priority"])
        if "retry" in given:
            given["retry"] = self._retry(spec.retry)
        if "on_dead" in given:
            given["on_dead"] = OnDead(given["on_dead"])
        if "limits" in given:
            given["limits"] = self._uses()
        return replace(spec, **given)

    def _uses(self) -> tuple[LimitUse, ...]:
        return tuple(limit.use() for limit in self.limits)

    def _retry(self, stored: RetryPolicy) -> RetryPolicy:
        """Fields that are left out keep their stored values."""
        if self.retry is None:
            return DEFAULT_RETRY
        given = {name: getattr(self.retry, name) for name in self.retry.model_fields_set}
        return replace(stored, **given)

    def _errors(self, task: Task, spec: Spec, now: Millis) -> list[FieldError]:
        errors = []
        if "run_at" in self.model_fields_set and spec.run_at - now > MAX_AHEAD:
            errors.append(TOO_FAR_AHEAD)
        if "on_dead" in self.model_fields_set and spec.ordering_key is None:
            errors.append(ON_DEAD_ALONE)
        if "timeout" in self.model_fields_set and (
            wrong := self._time_limits.timeout_error(spec.timeout, spec.pool)
        ):
            errors.append(FieldError("timeout", wrong))
        if budget_after(task, spec) <= task.attempt:
            used = task.attempt - (task.budget - task.spec.retry.max_attempts)
            message = f"must be at least {used + 1}: the task has used {used}"
            errors.append(FieldError("retry.max_attempts", message))
        return errors + self._payload_errors(spec) + self._expiry_errors(task, spec, now)

    def _payload_errors(self, spec: Spec) -> list[FieldError]:
        """The target of the task limits a new payload as it limited the first."""
        if "payload" not in self.model_fields_set or spec.target["type"] in PLAIN_TARGETS:
            return []
        from duetime.api.service_target_models import payload_errors

        return payload_errors(spec.target, self.payload)

    def _expiry_errors(self, task: Task, spec: Spec, now: Millis) -> list[FieldError]:
        """A started task cannot expire, and an unchanged time is not checked again."""
        timed = self.model_fields_set & {"expires_at", "run_at", "delay"}
        if task.attempt > 0 or not timed or not _expired(spec, max(spec.run_at, now)):
            return []
        if "expires_at" in timed:
            return [FieldError("expires_at", "must be after the task is due")]
        [name] = timed
        expires_at = rfc3339(spec.expires_at or 0)
        message = f"must be before the task expires, at {expires_at}; or change expires_at too"
        return [FieldError(name, message)]


def read_change(body: Any, time_limits: TimeLimits) -> ChangeIn:
    """`time_limits`: see read_task. Which of them holds is known with the task."""
    if isinstance(body, dict) and "pool" in body:
        raise invalid([POOL_STAYS])
    change = read_body(ChangeIn, body)
    change.check()
    change._time_limits = time_limits
    return change


def due_now(task: Task, now: Millis, _: Draw) -> Deferral | Problem:
    """Decides a run now: without jitter, since nothing needs to be spread."""
    if problem := not_deferrable(task, "run now"):
        return problem
    if task.expired(now):
        return _has_expired(task, "run now")
    return Deferral(spec=replace(task.spec, run_at=now), due_at=now)


def not_deferrable(task: Task, done: str) -> Problem | None:
    """Returns why a task gets no other due time or spec; None if it may. `done` is what was asked
    for: "changed" or "run now".

    A run of a schedule is not changed before it starts: the schedule decides when it starts, and by
    its fire time whether it is missed or overlaps another. Once it has started, it is an ordinary
    task that is retried."""
    if task.status not in sources(Step.DEFER):
        return conflict(f"Task {task.id} is {task.status}. {_ADVICE[task.status]}", done)
    if task.cancel_requested:
        return conflict(f"Task {task.id} is being cancelled.", done)
    occurrence = task.spec.occurrence
    if occurrence and task.attempt == 0:
        schedule = f"/v1/schedules/{occurrence.schedule_id}"
        instead = f"Change the schedule (PUT {schedule}), or run its task now (POST {schedule}"
        why = "is a run of a schedule that has not started"
        return conflict(f"Task {task.id} {why}. {instead}/trigger).", done)
    return None


def conflict(detail: str, done: str) -> Problem:
    return Problem(409, "state-conflict", f"The task cannot be {done}", detail)


def deferred(ports: Ports, task: Task, decide: Decide[Problem]) -> Response:
    """Changes one task. If the task starts or ends meanwhile, `decide` sees that."""
    (answer,) = defer_all(ports, [task], decide)
    match answer:
        case Applied(after):
            return Response(status=200, body=task_view(ports, after))
        case Problem():
            raise answer
        case Unknown(reason):
            raise unavailable(reason)
        case Refused(None):
            raise not_found(f"task {task.id}")
        case _:
            raise unavailable(CONTENTION)


def _expired(spec: Spec, at: Millis) -> bool:
    return spec.expires_at is not None and spec.expires_at <= at


def _has_expired(task: Task, done: str) -> Problem:
    return conflict(f"Task {task.id} has expired. {_FINAL}", done)

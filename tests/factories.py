"""Builders for the values that most tests need, each with a plain default."""

import json
from dataclasses import fields, replace
from itertools import count
from typing import Any

from lambdas.core.delivery import delivery_of
from lambdas.core.ids import new_id
from lambdas.core.recurrence.rules import CronRule, Recurrence
from lambdas.core.rules import Draw, Rules
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus, placed
from lambdas.core.steps.lease import lease
from lambdas.core.steps.submit import submit
from lambdas.core.task import Spec, Task
from lambdas.core.times import HOUR, SECOND, Millis

NOW: Millis = 1_794_819_600_000  # 2026-11-16T09:00:00Z
RULES = Rules(shards=4)

_serial = count(1)


class SteppedClock:
    """Both clocks say the same until a test sets the wall clock."""

    def __init__(self, now: Millis = NOW) -> None:
        self._now = now
        self._monotonic = now

    def now(self) -> Millis:
        return self._now

    def monotonic(self) -> Millis:
        return self._monotonic

    def advance(self, ms: Millis) -> None:
        """Let time pass; back, only the wall clock goes."""
        self._now += ms
        self._monotonic += max(ms, 0)

    def set_by(self, ms: Millis) -> None:
        """As somebody sets a clock: no time passes."""
        self._now += ms


def an_id(at: Millis = NOW) -> str:
    """Ids of one instant sort in the order in which they were made."""
    return new_id(at, next(_serial))


def a_draw(luck: float = 0.0, spread: float = 0.5, nonce: str | None = None) -> Draw:
    return Draw(luck=luck, spread=spread, nonce=nonce or f"nonce{next(_serial):05d}")


def a_spec(**overrides: Any) -> Spec:
    """Due in an hour, beyond the horizon."""
    fields = {"target": {"type": "python", "handler": "reports.daily"}, "run_at": NOW + HOUR}
    return Spec(**(fields | overrides))


def a_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """As submitted at `now`, PENDING by default; overrides are fields of Task."""
    task_id = overrides.pop("id", None) or an_id(now)
    task = submit(RULES, task_id, spec or a_spec(), now=now, draw=a_draw())
    return replace(task, **overrides)


def a_sent_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """ENQUEUED by the fast path, due ten seconds after `now`."""
    return a_task(spec=spec or a_spec(run_at=now + 10 * SECOND), now=now, **overrides)


def a_recurrence() -> Recurrence:
    """Every five minutes."""
    return Recurrence(rules=(CronRule(expression="*/5 * * * *"),))


def a_schedule(
    *, plan: Plan | None = None, now: Millis = NOW, due_in: Millis = HOUR, **overrides: Any
) -> Schedule:
    """As created at `now`, active, waking a horizon before its next fire time; overrides are
    fields of Schedule, or of a plan that is not given."""
    given = {f.name: overrides.pop(f.name) for f in fields(Plan) if f.name in overrides}
    schedule = Schedule(
        id=overrides.pop("id", None) or an_id(now),
        plan=plan or Plan(**{"recurrence": a_recurrence(), "task": a_spec(run_at=0)} | given),
        status=overrides.pop("status", ScheduleStatus.ACTIVE),
        version=1,
        revision=1,
        created_at=now,
        updated_at=now,
        since=now,
        next_at=now + due_in,
    )
    placed_at = {"wake": placed(RULES, schedule, now)}
    return replace(schedule, **(placed_at | overrides))


def result_of(task: Task) -> Any:
    """The value of a task's result."""
    return None if task.result is None else json.loads(task.result)


def a_running_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """In its first attempt since its due time, with a holder and a live lease."""
    task = a_sent_task(spec=spec, now=now)
    due_at = task.due_at
    change = lease(delivery_of(task, now), now=due_at, holder=f"holder{next(_serial):05d}")
    return replace(change.applied_to(task), **overrides)

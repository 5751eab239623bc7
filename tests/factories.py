"""Builders for the values that most tests need, each with a plain default."""

import json
from dataclasses import fields, replace
from itertools import count
from random import Random
from typing import Any

from duetime.core.delivery import delivery_of
from duetime.core.ids import new_id
from duetime.core.lanes import Lane
from duetime.core.listings import Listing, ListOrder
from duetime.core.recurrence.rules import CronRule, Recurrence
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus, next_wake
from duetime.core.steps.lease import lease
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import WakeKind
from duetime.core.workflows.run import Run, RunSpec, RunStatus
from duetime.handlers.handler import Handler
from duetime.testing import clock

NOW: Millis = 1_794_819_600_000  # 2026-11-16T09:00:00Z
WAKE_POLICY = WakePolicy(shards=4)

_serial = count(1)


class SteppedClock:
    """A clock that tests step; both times are equal until a test sets the wall clock."""

    def __init__(self, now: Millis = NOW) -> None:
        self._now = now
        self._monotonic = now

    def now(self) -> Millis:
        return self._now

    def monotonic(self) -> Millis:
        return self._monotonic

    def advance(self, ms: Millis) -> None:
        """Lets time pass; a negative step sets back only the wall clock."""
        self._now += ms
        self._monotonic += max(ms, 0)

    def set_by(self, ms: Millis) -> None:
        """Sets the wall clock; no time passes."""
        self._now += ms


class SeededRandom(clock.SeededRandom):
    """Randomness from a seed. `luck`, if set, is the luck of every draw."""

    def __init__(self, random: Random | None = None) -> None:
        super().__init__(random or Random(7))
        self.luck: float | None = None

    def draw(self) -> Draw:
        drawn = super().draw()
        return drawn if self.luck is None else replace(drawn, luck=self.luck)


def an_id(at: Millis = NOW) -> str:
    """Ids of one instant sort in the order of their creation."""
    return new_id(at, next(_serial))


def a_draw(luck: float = 0.0, spread: float = 0.5, nonce: str | None = None) -> Draw:
    return Draw(luck=luck, spread=spread, nonce=nonce or f"nonce{next(_serial):05d}")


def a_spec(**overrides: Any) -> Spec:
    """A spec that is due in an hour, beyond the horizon."""
    fields = {"target": {"type": "python", "handler": "reports.daily"}, "run_at": NOW + HOUR}
    return Spec(**(fields | overrides))


def a_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """A task as submitted at `now`, PENDING by default; overrides are fields of Task."""
    task_id = overrides.pop("id", None) or an_id(now)
    task = submit(WAKE_POLICY, task_id, spec or a_spec(), now=now, draw=a_draw())
    return replace(task, **overrides)


def a_sent_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """A task that was ENQUEUED by the fast path, due ten seconds after `now`."""
    return a_task(spec=spec or a_spec(run_at=now + 10 * SECOND), now=now, **overrides)


def a_recurrence() -> Recurrence:
    """A recurrence that fires every five minutes."""
    return Recurrence(rules=(CronRule(expression="*/5 * * * *"),))


def a_schedule(
    *, plan: Plan | None = None, now: Millis = NOW, due_in: Millis = HOUR, **overrides: Any
) -> Schedule:
    """A schedule as created at `now`, active, with a wake a horizon before its next fire time.
    Overrides are fields of Schedule, or of Plan if no plan is given."""
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
    placed_at = {"wake": next_wake(WAKE_POLICY, schedule, now)}
    return replace(schedule, **(placed_at | overrides))


def a_run(
    *, run_id: str | None = None, spec: dict[str, Any] | None = None, **overrides: Any
) -> Run:
    """`spec` has the fields of its spec that differ."""
    run_id = run_id or an_id()
    given = {"namespace": "default", "digest": "d" * 32, "run_at": NOW, "timeout": 7 * DAY}
    fields: dict[str, Any] = {
        "status": RunStatus.RUNNING,
        "states": "spw",
        "revision": 1,
        "created_at": NOW,
        "updated_at": NOW,
        "timeout_at": NOW + 7 * DAY,
        "wake": WAKE_POLICY.wake(WakeKind.RUN, run_id, Lane.MEDIUM, NOW + MINUTE, now=NOW),
    }
    return Run(id=run_id, spec=RunSpec(**(given | (spec or {}))), **(fields | overrides))


def result_of(task: Task) -> Any:
    """Returns the value of a task's result."""
    return None if task.result is None else json.loads(task.result)


def a_running_task(*, spec: Spec | None = None, now: Millis = NOW, **overrides: Any) -> Task:
    """A task in its first attempt since its due time, with a holder and a valid lease."""
    task = a_sent_task(spec=spec, now=now)
    due_at = task.due_at
    change = lease(delivery_of(task, now), now=due_at, holder=f"holder{next(_serial):05d}")
    return replace(change.applied_to(task), **overrides)


def a_listing(
    *,
    order: ListOrder = ListOrder.NEWEST,
    due_from: Millis = 0,
    summary: bool = False,
    limit: int = 50,
    cursor: str | None = None,
    **wanted: Any,
) -> Listing:
    """The other fields are those of the filter."""
    return Listing(
        filter=TaskFilter(**wanted),
        order=order,
        due_from=due_from,
        summary=summary,
        limit=limit,
        cursor=cursor,
    )


def a_handler(function: Any, name: str = "handler") -> Handler[..., Any]:
    """Returns a handler that is not in the registry."""
    return Handler(function, name, isolated=False, defaults={})

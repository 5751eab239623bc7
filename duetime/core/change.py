"""A change: one conditional write, as a value.

The protocol decides in terms of changes; a backend only has to apply one atomically. What a
change means is defined here, once: `holds` and `applied_to`. The embedded store runs them
inside a transaction, the AWS store says the same as a condition and an update expression, and
the contract suite holds the two together.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from lambdas.core.lifecycle import Status, Step, sources
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake


@value(frozen=True, kw_only=True, slots=True)
class Expect:
    """What must be true of the task for the write to happen; None asks nothing."""

    statuses: frozenset[Status] | None
    token: str | None = None
    wake: Wake | None = None
    holder: str | None = None
    attempt: int | None = None
    lease_until: Millis | None = None
    unexpired_at: Millis | None = None

    def holds(self, task: Task) -> bool:
        return (
            (self.statuses is None or task.status in self.statuses)
            and (self.token is None or task.token == self.token)
            and (self.wake is None or task.wake == self.wake)
            and (self.holder is None or task.holder == self.holder)
            and (self.attempt is None or task.attempt == self.attempt)
            and (self.lease_until is None or task.lease_until == self.lease_until)
            and (self.unexpired_at is None or not task.expired(self.unexpired_at))
        )


@value(frozen=True, kw_only=True, slots=True)
class Change:
    step: Step
    task_id: str
    expect: Expect
    sets: Mapping[str, Any]  # field of Task → new value
    keeps_attempt: bool = False  # the current attempt becomes the previous one

    def __post_init__(self) -> None:
        statuses = self.expect.statuses
        if statuses is not None and not statuses <= sources(self.step):
            raise ValueError(f"{self.step} cannot start from {set(statuses)}")

    def applied_to(self, task: Task) -> Task:
        if self.keeps_attempt:
            return replace(task, previous=task.current, **self.sets)
        return replace(task, **self.sets)

    def stands_in(self, task: Task) -> bool:
        """Whether a task already holds all that this change writes, and what it does not write
        is still as expected: another holder may have been given the same lease_until.

        An SDK may send a write again whose first answer was lost; the second finds its own
        traces. Holder ids and wake times are drawn at random, so nobody else leaves the same.
        """
        return self._rest().holds(task) and all(
            getattr(task, name) == value
            for name, value in self.sets.items()
            if name != "updated_at"  # a request to cancel may have come since
        )

    def _rest(self) -> Expect:
        """The part of the expectation that outlives the write."""
        written: dict[str, Any] = {f.name: None for f in fields(Expect) if f.name in self.sets}
        if "status" in self.sets:
            written["statuses"] = frozenset(Status)
        return replace(self.expect, unexpired_at=None, **written)


@value(frozen=True, slots=True)
class Applied:
    task: Task


@value(frozen=True, slots=True)
class Refused:
    """The condition did not hold; `task` is what stands there instead, None if nothing does."""

    task: Task | None


@value(frozen=True, slots=True)
class Unknown:
    """The store did not answer for this one: the write was made, or it was not."""

    reason: str


class Unreadable(Unknown):
    """What is stored there cannot be read, today or tomorrow; it may have been written to."""

    __slots__ = ()


class Unwritable(Unknown):
    """The store failed over this very change, and is expected to fail again."""

    __slots__ = ()


Answer = Applied | Refused | Unknown

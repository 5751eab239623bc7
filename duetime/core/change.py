"""A change: one conditional write, as a value.

Each step of the protocol returns a change, and a backend applies it atomically. `holds` and
`applied_to` define what a change means. The SQLite store runs them inside a transaction; the AWS
store translates them into a condition and an update expression. The contract suite checks that
both do the same.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar

from duetime.core.lifecycle import Status, Step, sources
from duetime.core.suspension import Suspension
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import replace, value
from duetime.core.wakes import Wake

T = TypeVar("T")


@value(frozen=True, kw_only=True, slots=True)
class Expect:
    """What must be true of the task for the write to happen. A None field is not checked."""

    statuses: frozenset[Status] | None
    token: str | None = None
    wake: Wake | None = None
    holder: str | None = None
    attempt: int | None = None
    lease_until: Millis | None = None
    suspended: Suspension | None = None
    unexpired_at: Millis | None = None

    def holds(self, task: Task) -> bool:
        return (
            (self.statuses is None or task.status in self.statuses)
            and (self.token is None or task.token == self.token)
            and (self.wake is None or task.wake == self.wake)
            and (self.holder is None or task.holder == self.holder)
            and (self.attempt is None or task.attempt == self.attempt)
            and (self.lease_until is None or task.lease_until == self.lease_until)
            and (self.suspended is None or task.suspended == self.suspended)
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
        statuses, allowed = self.expect.statuses, sources(self.step)
        if statuses is not allowed and statuses is not None and not statuses <= allowed:
            raise ValueError(f"{self.step} cannot start from {set(statuses)}")

    def applied_to(self, task: Task) -> Task:
        if self.keeps_attempt:
            return replace(task, previous=task.current, **self.sets)
        return replace(task, **self.sets)

    @property
    def writes(self) -> tuple[str, ...]:
        """The fields that a store writes beside the spec."""
        names = (*self.sets, "previous") if self.keeps_attempt else tuple(self.sets)
        return tuple(n for n in names if n != "spec") if "spec" in self.sets else names

    def already_in(self, task: Task) -> bool:
        """Whether this change was already applied to the task: the task has every value that the
        change writes, and everything else that the change expects is still true. Comparing the
        written values is not enough, since two holders can get the same lease_until.

        An SDK may repeat a write whose answer was lost; the repeated write is refused and finds
        its own values. Holder ids and wake times are random, so no other writer leaves the same
        values.
        """
        return self._rest().holds(task) and all(
            getattr(task, name) == value
            for name, value in self.sets.items()
            if name != "updated_at"  # a cancel request may have changed it since
        )

    def _rest(self) -> Expect:
        """The part of the expectation that is still true after the write."""
        written: dict[str, Any] = {f.name: None for f in fields(Expect) if f.name in self.sets}
        if "status" in self.sets:
            written["statuses"] = frozenset(Status)
        return replace(self.expect, unexpired_at=None, **written)


@value(frozen=True, slots=True)
class Applied(Generic[T]):
    """The write was made, by this call or by an earlier one whose answer was lost."""

    stored: T


@value(frozen=True, slots=True)
class Refused(Generic[T]):
    """The condition did not hold; `stored` is the current row, None if there is none."""

    stored: T | None


@value(frozen=True, slots=True)
class Unknown:
    """The store did not answer: the write may or may not have been made."""

    reason: str


class Unreadable(Unknown):
    """The stored row cannot be read, and a retry cannot help. The write may have been made."""

    __slots__ = ()


class Unwritable(Unknown):
    """The store failed on this change alone, and is expected to fail on it again."""

    __slots__ = ()


Answer = Applied[Task] | Refused[Task] | Unknown

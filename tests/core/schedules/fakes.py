"""Stores of values in memory, and a writer that can be cut off between any two of its calls: the
real steps, quick enough to be tried by the thousand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lambdas.core.change import Answer, Applied, Change, Refused
from lambdas.core.delivery import Delivery
from lambdas.core.ports import Ports
from lambdas.core.schedules.ledger import Entry, LedgerPage, LedgerRow
from lambdas.core.schedules.ports import Differs, ScheduleAnswer, Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Task
from lambdas.core.times import Millis
from tests.factories import RULES, SteppedClock
from tests.world import Dice


class Cut(Exception):
    """Whoever was at work is gone."""


@dataclass
class Table:
    """All that is stored, as its stores show it. `calls_left` are made before the next cut; of the
    call that is cut, half is done if it has several entries."""

    clock: SteppedClock = field(default_factory=SteppedClock)
    tasks: dict[str, Task] = field(default_factory=dict)
    standing: dict[str, Schedule] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    sent: list[Delivery] = field(default_factory=list)
    calls_left: int | None = None
    before_advance: Callable[[], object] | None = None  # what somebody else does just then
    advances: list[tuple[Schedule, Schedule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ports = Ports(
            store=_Tasks(self),  # type: ignore[arg-type]
            schedules=_Schedules(self),  # type: ignore[arg-type]
            lanes=_Lanes(self),  # type: ignore[arg-type]
            rules=RULES,
            clock=self.clock,
            chance=Dice(),
        )

    @property
    def now(self) -> Millis:
        return self.clock.now()

    def replace(self, schedule: Schedule) -> None:
        """As a user does, in one write."""
        (answer,) = self._put([schedule])
        assert isinstance(answer, Stands)

    def read_ledger(self, below: str | None, limit: int) -> LedgerPage:
        keys = sorted((k for k in self.entries if below is None or k < below), reverse=True)
        found = [self.entries[key] for key in keys[:limit]]
        return LedgerPage(entries=found, more=len(keys) > limit)

    def several(self, act: Callable[[Any], list[Any]], values: Sequence[Any]) -> list[Any]:
        if self.calls_left is not None:
            self.calls_left -= 1
            if self.calls_left < 0:
                act(values[: len(values) // 2])
                raise Cut
        return act(values)

    def _put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        return [self._put_one(schedule) for schedule in schedules]

    def _put_one(self, schedule: Schedule) -> ScheduleAnswer:
        there = self.standing.get(schedule.id)
        if there == schedule:
            return Stands(schedule)
        if schedule.revision != (there.revision if there else 0) + 1:
            return Differs(there)
        if there is not None:
            self.advances.append((there, schedule))
        self.standing[schedule.id] = schedule
        return Stands(schedule)


@dataclass
class _Tasks:
    table: Table

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self.table.several(lambda some: [self._put(task) for task in some], tasks)

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        return {i: self.table.tasks[i] for i in task_ids if i in self.table.tasks}

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return self.table.several(lambda some: [self._apply(change) for change in some], changes)

    def _put(self, task: Task) -> Answer:
        there = self.table.tasks.setdefault(task.id, task)
        return Applied(task) if there is task else Refused(there)

    def _apply(self, change: Change) -> Answer:
        task = self.table.tasks.get(change.task_id)
        if task is None or not change.expect.holds(task):
            return Refused(task)
        self.table.tasks[task.id] = change.applied_to(task)
        return Applied(self.table.tasks[task.id])


@dataclass
class _Schedules:
    table: Table

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        if (meanwhile := self.table.before_advance) is not None:
            self.table.before_advance = None
            meanwhile()
        return self.table.several(self.table._put, schedules)

    def get(self, schedule_ids: Sequence[str]) -> dict[str, Schedule]:
        return {i: self.table.standing[i] for i in schedule_ids if i in self.table.standing}

    def note(self, entries: Sequence[Entry], now: Millis) -> None:
        self.table.several(lambda some: [self._note(entry) for entry in some], entries)

    def ledger(self, schedule_id: str, below: str | None, limit: int) -> LedgerPage:
        return self.table.read_ledger(below, limit)

    def _note(self, entry: Entry) -> None:
        there = self.table.entries.get(entry.key)
        if not (isinstance(there, LedgerRow) and isinstance(entry, LedgerRow)) or (
            entry.version >= there.version
        ):
            self.table.entries[entry.key] = entry


@dataclass
class _Lanes:
    table: Table

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        return self.table.several(self._send, deliveries)

    def _send(self, deliveries: Sequence[Delivery]) -> list[bool]:
        self.table.sent += deliveries
        return [True] * len(deliveries)

"""In-memory stores that can cut off a writer between any two of its calls. They run the real steps,
fast enough for thousands of examples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from duetime.core.change import Answer, Applied, Change, Refused
from duetime.core.delivery import Delivery
from duetime.core.ports import Ports
from duetime.core.schedules.ledger import Entry, LedgerPage, LedgerRow
from duetime.core.schedules.ports import ScheduleAnswer
from duetime.core.schedules.schedule import Schedule
from duetime.core.task import Task
from duetime.core.times import Millis
from tests.factories import WAKE_POLICY, SeededRandom, SteppedClock


class Cut(Exception):
    """The writer dies."""


@dataclass
class Table:
    """Everything that is stored. The writer is cut off after `calls_left` calls; of a call with
    several entries that is cut off, half is done."""

    clock: SteppedClock = field(default_factory=SteppedClock)
    tasks: dict[str, Task] = field(default_factory=dict)
    stored: dict[str, Schedule] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    sent: list[Delivery] = field(default_factory=list)
    calls_left: int | None = None
    before_advance: Callable[[], object] | None = None  # another writer's action at that moment
    advances: list[tuple[Schedule, Schedule]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ports = Ports(
            store=_Tasks(self),  # type: ignore[arg-type]
            schedules=_Schedules(self),  # type: ignore[arg-type]
            limits=None,  # type: ignore[arg-type]
            lanes=_Lanes(self),  # type: ignore[arg-type]
            wake_policy=WAKE_POLICY,
            clock=self.clock,
            chance=SeededRandom(),
        )

    @property
    def now(self) -> Millis:
        return self.clock.now()

    def replace(self, schedule: Schedule) -> None:
        """Replaces the schedule in one write, as a user's request does."""
        (answer,) = self._put([schedule])
        assert isinstance(answer, Applied)

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
        there = self.stored.get(schedule.id)
        if there == schedule:
            return Applied(schedule)
        if schedule.revision != (there.revision if there else 0) + 1:
            return Refused(there)
        if there is not None:
            self.advances.append((there, schedule))
        self.stored[schedule.id] = schedule
        return Applied(schedule)


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
        return {i: self.table.stored[i] for i in schedule_ids if i in self.table.stored}

    def write_ledger(self, entries: Sequence[Entry], now: Millis) -> None:
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

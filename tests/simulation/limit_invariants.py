"""What must always hold of limits, as the store sees their tasks, slots and lines."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from duetime.core.change import Change
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import Status, Step
from duetime.core.limits.slots import Line, Place, Slot, line_of
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.sqlite.slot_store import SqliteSlotStore
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

Fail = Callable[[str, Task | None], object]

STALE: Millis = 7 * MINUTE  # for so long an executor may act on an older definition
SETTLED: Millis = 6 * MINUTE  # after the faults, until no process is left that was disturbed
TOGETHER: Millis = 90 * SECOND  # a free slot and a waiting task
UNWATCHED: Millis = 10 * MINUTE  # a line with a waiting task, in which a process died
LOOK_EVERY: Millis = 5 * SECOND
JUST_JOINED: Millis = 30 * SECOND


class LimitInvariants:
    def __init__(
        self, engine: Engine, faults: Faults, fail: Fail, tasks: dict[str, Task], gone: set[str]
    ) -> None:
        self._engine = engine
        self._faults = faults
        self._fail = fail
        self._tasks = tasks
        self._gone = gone
        self._definitions: dict[str, list[tuple[Millis, int | None]]] = defaultdict(list)
        self._together: dict[Line, Millis] = {}
        self._unwatched: dict[str, Millis] = {}
        self.store: SqliteSlotStore | None = None

    def watch(self, store: SqliteSlotStore) -> None:
        """Starts to look at the lines now and then."""
        self.store = store
        self._engine.after(LOOK_EVERY, self._look)

    def defined(self, name: str, concurrency: int | None) -> None:
        self._definitions[name].append((self._engine.now, concurrency))
        self._together.clear()

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if change.step is Step.HOLD and (before.attempt, before.status) != (
            after.attempt,
            after.status,
        ):
            self._fail("a task that waits has used an attempt", after)
        if change.step is Step.LEASE and after.spec.limits and before.status is not after.status:
            self._check_leased(after)

    def _check_leased(self, task: Task) -> None:
        line = _line_of(task)
        leased = sum(1 for t in self._under(line) if t.status is Status.RUNNING)
        most = self._most(line)
        if most is not None and leased > most:
            self._fail(f"{leased} attempts run under a limit of {most}", task)

    def sent(self, process: Process, delivery: Delivery) -> None:
        """A task that waits is sent once a slot is its own, or if it is in no line."""
        task = self._tasks.get(delivery.task_id)
        if self.store is None or task is None or task.held is None or task.status.finished:
            return
        if task.token != delivery.token or process.disturbed_at or task.attempt >= delivery.attempt:
            return
        line = _line_of(task)
        if self._most(line) is None:
            return
        place = self._place(line, task)
        if place is None or place.since > self._engine.now - JUST_JOINED:
            return
        [state] = self.store.read([line])
        if not any(slot.task_id == task.id for slot in state.slots):
            self._fail("a task was sent that waits in line", task)

    def _look(self) -> None:
        self._engine.after(LOOK_EVERY, self._look)
        calm = self._faults.over_at
        if calm is None or self._engine.now < calm + SETTLED or self.store is None:
            return
        lines = {_line_of(task) for task in self._tasks.values() if task.spec.limits}
        for line in sorted(lines, key=lambda line: line.id):
            self._check_line(line)

    def _check_line(self, line: Line) -> None:
        waiting = [task for task in self._under(line) if self._waits(line, task)]
        since = self._together.get(line, self._engine.now)
        if not waiting or self._held(line) >= (self._now(line) or 0):
            self._together.pop(line, None)
        else:
            self._together[line] = since
            if self._engine.now - since > TOGETHER:
                self._fail(f"{line.key}: a free slot and a waiting task", waiting[0])
        watched = self.store is not None and self.store.watch_of(line) is not None
        for task in waiting:
            first = self._unwatched.setdefault(task.id, self._engine.now)
            if watched:
                self._unwatched[task.id] = self._engine.now
            elif self._engine.now - first > UNWATCHED:
                self._fail("a line with a waiting task has no watch", task)

    def check_rest(self) -> None:
        """Every task has ended: nothing holds a slot, and nothing waits. If the queue has lost the
        last message of an attempt whose executor died, its slot stays until the next task finds
        the limit full."""
        if self.store is None:
            return
        for line, slot in self._slots():
            if slot.token not in self._gone:
                self._fail(f"slot {slot.number} of {line.id} is left", self._tasks[slot.task_id])
        for line, place in self._places():
            self._fail(f"a place of {line.id} is left", self._tasks.get(place.task_id))

    def _under(self, line: Line) -> Iterator[Task]:
        for task in self._tasks.values():
            if task.spec.limits and _line_of(task) == line:
                yield task

    def _waits(self, line: Line, task: Task) -> bool:
        if task.held is None or task.status.finished or task.status is Status.RUNNING:
            return False
        return self._place(line, task) is not None

    def _held(self, line: Line) -> int:
        """Returns how many slots are taken by attempts that run or may start."""
        assert self.store is not None
        [state] = self.store.read([line])
        return sum(1 for slot in state.slots if self._valid(slot))

    def _valid(self, slot: Slot) -> bool:
        task = self._tasks.get(slot.task_id)
        return task is not None and not task.status.finished and slot.token in ("", task.token)

    def _place(self, line: Line, task: Task) -> Place | None:
        return next((p for at, p in self._places() if at == line and p.task_id == task.id), None)

    def _most(self, line: Line) -> int | None:
        """Returns the highest definition of late; None if there was none for a while."""
        history = self._definitions[line.limit or ""]
        recent = [c for at, c in history if at >= self._engine.now - STALE]
        recent += [c for _, c in history[: len(history) - len(recent)][-1:]]
        return None if None in recent or not recent else max(c for c in recent if c is not None)

    def _now(self, line: Line) -> int | None:
        history = self._definitions[line.limit or ""]
        return history[-1][1] if history else None

    def _slots(self) -> list[tuple[Line, Slot]]:
        rows = self._rows("SELECT line, number, task_id, token, since FROM slots")
        return [
            (line_of(row[0]), Slot(number=row[1], task_id=row[2], token=row[3], since=row[4]))
            for row in rows
        ]

    def _places(self) -> list[tuple[Line, Place]]:
        rows = self._rows("SELECT line, position, task_id, since FROM places")
        return [
            (line_of(row[0]), Place(position=row[1], task_id=row[2], since=row[3])) for row in rows
        ]

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        assert self.store is not None
        with self.store._database.read() as connection:
            return connection.execute(sql).fetchall()


def _line_of(task: Task) -> Line:
    use = task.spec.limits[0]
    return Line(namespace=task.spec.namespace, limit=use.name, key=use.key)

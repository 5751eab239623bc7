"""What must always hold of limits, as the store sees their tasks, slots and lines."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from duetime.core.change import Change
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import TO_START, Status, Step
from duetime.core.limits.definition import OnDead
from duetime.core.limits.slots import Line, Place, Slot, line_of
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.sqlite.slot_store import SqliteSlotStore
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

Fail = Callable[[str, Task | None], object]

STALE: Millis = 7 * MINUTE  # for so long an executor may act on an older definition
SETTLED: Millis = 6 * MINUTE  # after the faults, until no process is left that was disturbed
# In a world whose processes are only slow, the watch is not needed.
DEADLY = (
    *("killed", "frozen", "unanswered", "answer_lost", "late", "refused_entry"),
    *("message_lost", "purges", "outage", "idle", "stuck"),
)
TOGETHER_UNHURT: Millis = 45 * SECOND
TOGETHER: Millis = 90 * SECOND  # a free slot and a waiting task
TOGETHER_ON_ONE_MACHINE: Millis = 5 * SECOND
LOOK_ON_ONE_MACHINE: Millis = SECOND
# Of an attempt under a limit (see limit_workload.LONGEST), until it has been stopped.
LONGEST_ATTEMPT: Millis = 65 * SECOND
UNWATCHED: Millis = 10 * MINUTE  # a line with a waiting task, in which a process died
LOOK_EVERY: Millis = 5 * SECOND
KNOWN: Millis = 5 * SECOND  # before its turn, an earlier task is known
JUST_HELD: Millis = 30 * SECOND


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
        self._started: dict[str, Millis | None] = {}  # by token: when its message was written
        self._claimed: set[str] = set()  # tokens of released tasks: sent again, and perhaps waiting
        self._joined: dict[tuple[Process, Line], set[tuple[Millis, str]]] = {}
        self._secured: dict[Line, set[tuple[Millis, str]]] = defaultdict(set)
        self._removed: dict[Process, set[Line]] = defaultdict(set)
        self._held_at: dict[str, Millis] = {}
        self._stored_at: dict[str, Millis] = {}
        self._together: dict[Line, Millis] = {}
        self._unwatched: dict[str, Millis] = {}
        self._waits_since: dict[tuple[Line, str], Millis] = {}
        self._grants: dict[Line, list[tuple[Millis, Millis, str]]] = defaultdict(list)
        self.store: SqliteSlotStore | None = None
        self.on_one_machine = False
        self._idle_until = engine.now + (faults.idle[1] if faults.idle else 0)  # no executors

    def watch(self, store: SqliteSlotStore) -> None:
        """Starts to look at the lines now and then."""
        self.store = store
        self._engine.after(self._look_every, self._look)

    @property
    def _look_every(self) -> Millis:
        return LOOK_ON_ONE_MACHINE if self.on_one_machine else LOOK_EVERY

    def defined(self, name: str, concurrency: int | None) -> None:
        self._definitions[name].append((self._engine.now, concurrency))
        self._together.clear()
        self._waits_since.clear()

    def has_slots(self, delivery: Delivery) -> bool:
        """Whether its task is under a limit with a concurrency, or has an ordering key."""
        limits = delivery.limits
        if limits is None:
            return False
        named = any(use.name in self._definitions for use in limits.uses)
        return named or limits.ordering_key is not None

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if change.step is Step.HOLD and (before.attempt, before.status) != (
            after.attempt,
            after.status,
        ):
            self._fail("a task that waits has used an attempt", after)
        if change.step is Step.HOLD:
            self._held_at[after.id] = self._engine.now
        if change.step is Step.CLAIM:
            self._claimed.add(after.token)
        if change.step is Step.LEASE and after.spec.ordering_key is not None:
            self._check_order(after)
        if change.step is Step.LEASE and after.spec.limits and before.status is not after.status:
            self._started[after.token] = after.message_written_at
            self._check_leased(after)

    def _check_leased(self, task: Task) -> None:
        line = _limit_line(task)
        leased = [t.current for t in self._under(line) if t.status is Status.RUNNING and t.current]
        most = self._most(line, since=min(attempt.started_at for attempt in leased))
        if most is not None and len(leased) > most:
            self._fail(f"{len(leased)} attempts run under a limit of {most}", task)

    def sent(self, process: Process, delivery: Delivery) -> None:
        """A task that waits is sent once a slot is its own, or if it is in no line."""
        task = self._tasks.get(delivery.task_id)
        if self.store is None or task is None or not task.in_line or task.status.finished:
            return
        if (
            task.token in self._claimed
            or task.token != delivery.token
            or process.disturbed_at
            or task.attempt >= delivery.attempt
        ):
            return
        line = _line_of(task)
        if self._most(line, since=self._engine.now) is None:
            return
        if self._place(line, task) is None:
            return
        if self._held_at.get(task.id, 0) > self._engine.now - JUST_HELD:
            return  # after the sender has read it
        if not any(slot.task_id == task.id for slot in self._slots_of(line)):
            self._fail("a task was sent that waits in line", task)

    def granted(self, process: Process, line: Line, slot: Slot) -> None:
        """A task with an ordering key gets its turn after every earlier one that is known, and not
        behind a dead one that blocks the key."""
        task = self._tasks.get(slot.task_id)
        if task is not None:
            turn = (self._engine.now, _position(line, task), task.id)
            self._grants[line].append(turn)
        if line.limit is None:
            self._check_blocked(line, slot)
        if line.limit is not None or task is None or task.attempt > 0 or process.disturbed_at:
            return
        known = self._engine.now - KNOWN
        for other in self._tasks.values():
            if other.spec.ordering_key != line.key or other.status.finished or other.attempt > 0:
                continue
            if self._stored_at[other.id] < known and _turn(other) < _turn(task):
                self._fail(f"overtook {other.id}", task)

    def _check_blocked(self, line: Line, slot: Slot) -> None:
        for other in self._tasks.values():
            if other.spec.ordering_key != line.key or other.id == slot.task_id:
                continue
            if other.status is Status.DEAD and other.spec.on_dead is OnDead.BLOCK:
                task = self._tasks.get(slot.task_id)
                self._fail(f"got its turn behind {other.id}, which is dead and blocks", task)

    def stored(self, task: Task) -> None:
        self._stored_at[task.id] = self._engine.now

    def _check_order(self, task: Task) -> None:
        key = task.spec.ordering_key
        same = [t for t in self._tasks.values() if t.spec.ordering_key == key]
        leased = sum(1 for t in same if t.status is Status.RUNNING)
        if leased > 1:
            self._fail(f"{leased} tasks of one ordering key run", task)

    def joins(self, process: Process, places: Sequence[tuple[Line, Place]]) -> None:
        for line, place in places:
            self._joined.setdefault((process, line), set()).add((place.position, place.task_id))

    def secured(self, process: Process, line: Line) -> None:
        """Notes that the process knows of a watch, and leaves the line to it."""
        self._secured[line] |= self._joined.pop((process, line), set())

    def unwatched(self, process: Process, line: Line) -> None:
        self._removed[process].add(line)

    def settled(self, process: Process) -> None:
        """A process that removes the watch of a line leaves no task behind that relies on it."""
        for line in self._removed.pop(process, set()):
            if self.store is None or self.store.watch_of(line) is not None:
                continue
            for at, place in self._places():
                task = self._tasks.get(place.task_id)
                relies = (place.position, place.task_id) in self._secured[line]
                if at == line and relies and task and self._waits(line, task):
                    self._fail(f"{process.name} removed the watch of a line", task)

    def left(self, places: Sequence[tuple[Line, Place]]) -> None:
        """A task that waits has its place, or a slot."""
        for line, place in places:
            self._secured[line].discard((place.position, place.task_id))
            task = self._tasks.get(place.task_id)
            if task is None or not task.in_line or task.status not in TO_START:
                continue
            if (
                place.position != _position(line, task)
                or self._most(line, since=self._engine.now) is None
            ):
                continue
            if self.store and not any(s.task_id == task.id for s in self._slots_of(line)):
                self._fail("a task that waits has neither a place nor a slot", task)

    def deletes(self, delivery: Delivery) -> None:
        """The message of an attempt that has ended is deleted after its slot is free."""
        task = self._tasks.get(delivery.task_id)
        if self.store is None or not delivery.limits or task is None:
            return
        if self._started.get(delivery.token) != delivery.written_at:
            return  # another copy, which was deleted because the task had to wait
        if task.token == delivery.token and not task.status.finished:
            return
        for line, slot in self._slots():
            if slot.token == delivery.token and slot.since < task.updated_at - SECOND:
                self._fail(f"the message was deleted before its slot of {line.id}", task)

    def _look(self) -> None:
        self._engine.after(self._look_every, self._look)
        if not self._may_look() or self.store is None:
            self._waits_since.clear()
            return
        waiting = [task for task in self._tasks.values() if task.in_line]
        lines = {_line_of(task) for task in waiting} | set(self._together)
        for line in sorted(lines, key=lambda line: line.id):
            self._check_line(line)

    def _may_look(self) -> bool:
        calm = self._faults.over_at
        if calm is not None:
            return self._engine.now >= max(calm, self._idle_until) + SETTLED
        return not any(getattr(self._faults, name) for name in DEADLY)

    def _check_line(self, line: Line) -> None:
        waiting = [task for task in self._under(line) if self._waits(line, task)]
        if line.limit is None and any(_in_front(task, waiting) for task in self._under(line)):
            waiting = []  # for the first in line, which is not due
        since = self._together.get(line, self._engine.now)
        if not waiting or self._held(line) >= (self._now(line) or 0):
            self._together.pop(line, None)
        else:
            self._together[line] = since
            if self._engine.now - since > self._longest_together:
                self._fail(f"{line.key}: a free slot and a waiting task", waiting[0])
        if line.limit is not None:
            self._check_waits(line, waiting)
        watched = self.store is not None and self.store.watch_of(line) is not None
        for task in waiting:
            first = self._unwatched.setdefault(task.id, self._engine.now)
            if watched:
                self._unwatched[task.id] = self._engine.now
            elif self._engine.now - first > UNWATCHED:
                self._fail("a line with a waiting task has no watch", task)

    @property
    def _longest_together(self) -> Millis:
        """How long a free slot and a waiting task may exist beside each other. On one machine a
        process that is only slow may take longer than the look at the lines."""
        if self.on_one_machine and not self._faults.slow and not self._faults.index_lags:
            return TOGETHER_ON_ONE_MACHINE
        return TOGETHER if self._faults.over_at else TOGETHER_UNHURT

    def _check_waits(self, line: Line, waiting: Sequence[Task]) -> None:
        """A task behind n others starts within (n / c + 1) times (the longest attempt + 90 s).
        Those in front are the slots' holders, who have a turn of their own, and the tasks with an
        earlier place that have got a slot since."""
        now, slots = self._engine.now, self._now(line)
        here = {(line, task.id) for task in waiting}
        for key in [key for key in self._waits_since if key[0] == line and key not in here]:
            del self._waits_since[key]
        for task in waiting:
            since = self._waits_since.setdefault((line, task.id), now)
            turn = (_position(line, task), task.id)
            front = {
                task_id
                for at, position, task_id in self._grants[line]
                if at >= since and (position, task_id) < turn
            }
            if slots and now - since > (len(front) / slots + 1) * (LONGEST_ATTEMPT + TOGETHER):
                self._fail(f"{task.id} has waited for too long behind {len(front)}", task)

    def check_rest(self) -> None:
        """Every task has ended: nothing holds a slot, and nothing waits. If the queue has lost the
        last message of an attempt whose executor died, its slot stays until the next task finds
        the limit full. What an ended task has left in the line of its ordering key is removed by
        the next task of that key."""
        if self.store is None:
            return
        for line, slot in self._slots():
            if slot.token not in self._gone and line.limit is not None:
                self._fail(f"slot {slot.number} of {line.id} is left", self._tasks[slot.task_id])
        for line, place in self._places():
            if line.limit is not None:
                self._fail(f"a place of {line.id} is left", self._tasks.get(place.task_id))

    def _under(self, line: Line) -> Iterator[Task]:
        for task in self._tasks.values():
            ordered = line.limit is None and task.spec.ordering_key == line.key
            if ordered or (line.limit and task.spec.limits and _limit_line(task) == line):
                yield task

    def _waits(self, line: Line, task: Task) -> bool:
        if not task.in_line or task.status.finished or task.status is Status.RUNNING:
            return False
        return self._place(line, task) is not None

    def _held(self, line: Line) -> int:
        """Returns how many slots are taken by attempts that run or may start."""
        return sum(1 for slot in self._slots_of(line) if self._valid(slot))

    def _slots_of(self, line: Line) -> list[Slot]:
        return [slot for at, slot in self._slots() if at == line]

    def _valid(self, slot: Slot) -> bool:
        task = self._tasks.get(slot.task_id)
        if task is None:
            return False
        blocks = task.status is Status.DEAD and task.spec.on_dead is OnDead.BLOCK
        if not slot.token and blocks:
            return True
        return not task.status.finished and slot.token in ("", task.token)

    def _place(self, line: Line, task: Task) -> Place | None:
        key = (line, _position(line, task), task.id)
        found = (p for at, p in self._places() if (at, p.position, p.task_id) == key)
        return next(found, None)

    def _most(self, line: Line, since: Millis) -> int | None:
        """Returns the highest definition that executors may have used since a time; None if there
        was none for a while."""
        if line.limit is None:
            return 1
        history = self._definitions[line.limit]
        recent = [c for at, c in history if at >= since - STALE]
        recent += [c for _, c in history[: len(history) - len(recent)][-1:]]
        return None if None in recent or not recent else max(c for c in recent if c is not None)

    def _now(self, line: Line) -> int | None:
        if line.limit is None:
            return 1
        history = self._definitions[line.limit]
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


def _in_front(task: Task, waiting: Sequence[Task]) -> bool:
    """Whether a task that may not have been due yet is in front of all that wait."""
    to_start = not task.status.finished and task.attempt == 0 and not task.in_line
    return to_start and all(_turn(task) < _turn(other) for other in waiting)


def _position(line: Line, task: Task) -> Millis:
    return _turn(task)[0] if line.limit is None else task.due_at


def _turn(task: Task) -> tuple[Millis, str]:
    revived = task.attempt > 0 or task.spec.order_at is None
    return (task.due_at if revived else task.spec.order_at or 0), task.id


def _line_of(task: Task) -> Line:
    """Returns the line of what the task waits for, or of its limit."""
    if task.held == ORDERING_KEY or not task.spec.limits:
        return Line(namespace=task.spec.namespace, limit=None, key=task.spec.ordering_key or "")
    return _limit_line(task)


def _limit_line(task: Task) -> Line:
    use = task.spec.limits[0]
    return Line(namespace=task.spec.namespace, limit=use.name, key=use.key)

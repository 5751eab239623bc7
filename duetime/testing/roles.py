"""The roles of a world, in one thread: API, scanner, lanes, executor and relay.

They are the real ones, on the SQLite store in memory. In the local runner an event pump with many
threads calls them. Here one loop does: it takes what is due, and then moves the clock to the next
moment at which there is something to do. No time passes while a handler runs.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from duetime.api.app import Api
from duetime.core.events import StatusChange
from duetime.core.lanes import Queue, queues_of
from duetime.core.lifecycle import Status
from duetime.core.listings import Listing, ListOrder
from duetime.core.ports import Ports
from duetime.core.secrets import Secret
from duetime.core.target_names import target_name
from duetime.core.task import LONGEST_TIMEOUT, Task
from duetime.core.times import MINUTE, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import minute_of
from duetime.engine.followups import run_follow_ups_after
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.executor import Executor
from duetime.executor.runs import Run
from duetime.executor.targets import Targets
from duetime.handlers import registry
from duetime.handlers.descriptions import describe_registered
from duetime.relay import Relay
from duetime.scanner.scanner import Scanner
from duetime.scanner.windows import LOOK_BACK
from duetime.sqlite.object_store import MemoryObjectStore
from duetime.sqlite.task_store import SqliteTaskStore
from duetime.testing.clock import SeededRandom, VirtualClock
from duetime.testing.errors import TooManyRuns
from duetime.testing.faults import Kills, LossyLanes
from duetime.version import VERSION

UNDER_WAY = frozenset({Status.RUNNING, Status.RETRYING})
DUE_PAGE = 100


class Roles:
    """`secrets` are those that tasks may name; `max_runs` is how many attempts one call of
    `run_until` may start.

    Attributes:
        busy: Whether a handler runs now.
        created: The id of every task, in order, with its handler or URL.
        started: The same for tasks whose first attempt has begun."""

    def __init__(
        self,
        clock: VirtualClock,
        chance: SeededRandom,
        targets: Targets,
        *,
        secrets: Mapping[str, Secret],
        pools: Collection[str],
        max_runs: int,
    ) -> None:
        self.clock = clock
        self.kills = Kills()
        self.lanes = LossyLanes(clock)
        self.busy = False
        self.created: dict[str, str | None] = {}
        self.started: dict[str, str | None] = {}
        self._max_runs = max_runs
        self._runs: Counter[str | None] = Counter()  # of this call, by handler or URL
        self._under_way: set[str] = set()
        self._changes: deque[Sequence[StatusChange]] = deque()
        objects = MemoryObjectStore()
        self.store = SqliteTaskStore(None, self._see, objects=objects)
        self._horizon = WakePolicy(shards=1).horizon
        self.ports = ports = Ports(
            store=self.store,
            schedules=self.store.schedules(clock),
            limits=self.store.limits(),
            slots=self.store.slots(),
            lanes=self.lanes,
            wake_policy=WakePolicy(shards=self.store.shards(clock.now()).count),
            clock=clock,
            chance=chance,
            objects=objects,
            rates=self.store.rates(),
            runs=self.store.runs(),
            pools=dict.fromkeys(pools, LONGEST_TIMEOUT),
        )
        self.api = Api(
            ports,
            handlers=registry.defaults,
            version=VERSION,
            secrets=secrets.keys,
            callbacks=True,
            described=describe_registered,
            cursors=self.store,
        )
        self._scanner = Scanner(ports, self.store)
        self._executor = Executor(ports, targets)
        self._loops = {
            queue: self._new_loop() for pool in (None, *pools) for queue in queues_of(pool)
        }
        self._relay = Relay([], partial(run_follow_ups_after, ports))
        self.start_at(clock.now())

    def close(self) -> None:
        self.store.close()

    # time

    def start_at(self, now: Millis) -> None:
        """Sets the clock of a world in which nothing is stored yet."""
        self.clock.set(now)
        self._ticked_at = now
        self._no_tick_before = now
        self._skip_idle_ticks()

    def run_until(self, end: Millis, done: Callable[[], bool] = lambda: False) -> bool:
        """Runs everything up to a time, or until `done`. Returns whether it is done."""
        self._runs.clear()
        while True:
            self._run_due()
            if done():
                return True
            at = self._next_event()
            if at is None or at > end:
                self.clock.set(max(end, self.clock.now()))
                return False
            self.clock.set(max(at, self.clock.now()))
            if self._next_tick() == self.clock.now():
                self._tick()

    def run_due(self) -> None:
        """Runs what is due now, without a tick of the scanner."""
        self._runs.clear()
        self._run_due()

    def skip_ticks(self, count: int) -> None:
        self._no_tick_before = self._tick_after(self._no_tick_before) + count * MINUTE

    def due(self, since: Millis) -> bool:
        """Whether a task is due or under way. Runs of schedules that came due after `since` do not
        count: a schedule never ends."""
        page = self.store.page(Listing(order=ListOrder.SOONEST, limit=DUE_PAGE))
        now = self.clock.now()
        found = [task for task in page.tasks if task.due_at <= now]
        found += self.store.get([*self._under_way]).values()
        return any(_counts(task, since) for task in found)

    def _next_event(self) -> Millis | None:
        times = [self._next_tick(), self.lanes.next_visible()]
        times += [loop.next_timer for loop in self._loops.values()]
        return min((at for at in times if at is not None), default=None)

    def _next_tick(self) -> Millis | None:
        """Returns when the next tick has something to do. Ticks are at whole minutes; those in
        between find nothing, and are left out."""
        first = self.store.first_wake()
        if first is None:
            return None
        earliest = minute_of(first.at) * MINUTE - self._horizon
        return self._tick_after(max(earliest, self._no_tick_before))

    def _tick_after(self, at: Millis) -> Millis:
        """Returns the first whole minute that is not before `at`, nor before now or that of the
        last tick."""
        at = max(at, self._ticked_at + 1, self.clock.now())
        return -(-at // MINUTE) * MINUTE

    def _tick(self) -> None:
        self._skip_idle_ticks()
        self._ticked_at = self.clock.now()
        while self._scanner.tick().unfinished:
            pass

    def _skip_idle_ticks(self) -> None:
        """Saves the progress that the ticks without work would have saved since the last one, so
        that this one need not look through every minute since."""
        first = self.store.first_wake()
        minute = minute_of(self.clock.now()) - LOOK_BACK - 1
        if first is not None:
            minute = min(minute, minute_of(first.at))
        state = self.store.load(0)
        if minute > state.cursors.get(0, 0) or not self.created:
            self.store.save(0, replace(state, fence=state.fence + 1, cursors={0: minute}))

    # attempts

    def _run_due(self) -> None:
        while True:
            self._relay_changes()
            if not any(self._advance_lane(queue) for queue in self._loops):
                return

    def _advance_lane(self, queue: Queue) -> bool:
        """Runs the next attempt of a queue. Returns whether there was something to do."""
        self._check_runs()
        messages = self.lanes.receive(queue, 1, 0)
        loop = self._loops[queue]
        loop.accept(messages)
        started = list(loop.step().started)
        worked = bool(messages or started)
        while started and loop is self._loops[queue]:
            started += self._execute(queue, started.pop(0))
        return worked

    def _execute(self, queue: Queue, run: Run) -> Sequence[Run]:
        """Runs one attempt, to its outcome unless its executor dies. Returns the runs that the
        attempt loop has started since."""
        name = target_name(run.task.spec.target)
        self.started.setdefault(run.task.id, name)
        self._runs[name] += 1
        dies_at = self.kills.take(run.task)
        if dies_at == "start":
            self._loops[queue] = self._new_loop()
            return ()
        self.busy = True
        try:
            ended = self._executor.run_target(run)
        finally:
            self.busy = False
        if dies_at == "end":
            self._loops[queue] = self._new_loop()
            return ()
        return self._loops[queue].step([ended]).started

    def _new_loop(self) -> AttemptLoop:
        return AttemptLoop(self._executor, self.clock)

    def _check_runs(self) -> None:
        if self._runs.total() >= self._max_runs:
            [(busiest, _)] = self._runs.most_common(1)
            raise TooManyRuns(self._max_runs, busiest or "one target")

    # changes

    def _see(self, changes: Sequence[StatusChange]) -> None:
        """Notes status changes. The store calls it after each commit; the relay gets them later."""
        for change in changes:
            if change.before is None:
                self.created[change.task_id] = change.target
            if change.after in UNDER_WAY:
                self._under_way.add(change.task_id)
            else:
                self._under_way.discard(change.task_id)
        self._changes.append(changes)

    def _relay_changes(self) -> None:
        while self._changes:
            self._relay.relay(self._changes.popleft())


def _counts(task: Task, since: Millis) -> bool:
    occurrence = task.spec.occurrence
    return occurrence is None or occurrence.scheduled_for <= since

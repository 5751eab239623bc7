"""Finds the tasks that are past their time, with a bounded number of reads.

A wake index of at most FEW_WAKES is read as a whole. Of a larger one the minutes are read in order:
from the cursor of the scanner, behind which no wake is left, to the last watch that a task may
have, or until MAX_QUERIES or MAX_KEYS are used up.
"""

from collections.abc import Iterable, Mapping, Sequence

from duetime.core.errors import Corrupt
from duetime.core.lanes import Queue
from duetime.core.ports import CursorStore, Depth, Ports, SliceState
from duetime.core.steps.claim import SET_ASIDE_FOR
from duetime.core.steps.watch import LONGEST_WATCH
from duetime.core.stuck import PAST, LaneCondition, Stuck, Why, past_since, why_stuck
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.value import replace, value
from duetime.core.wakes import Wake, WakeKind, minute_of
from duetime.core.workers import WorkerRecord, WorkerStore, lacks_worker

FEW_WAKES = 500
MAX_QUERIES, MAX_KEYS = 200, 500  # of a larger index
LOOK_BACK = 5  # minutes before now, where the scanner has no cursor
BATCH = 100  # tasks in memory at a time
NO_WORKER = Depth(ready=1, delayed=0, in_flight=0)  # of a pool that does not exist any more


@value(frozen=True, kw_only=True, slots=True)
class StuckTask:
    """`task` is None if it cannot be read."""

    id: str
    lane: str  # of its pool, if it has one
    task: Task | None
    stuck: Stuck
    lacks_worker: bool = False  # no worker of its pool has its handler


@value(kw_only=True, slots=True)
class Found:
    """`complete`: no task that is past its time can be missing. Their wakes have been read up to
    `looked_until`."""

    tasks: list[StuckTask]
    complete: bool
    looked_until: Millis


@value(kw_only=True, slots=True)
class _Read:
    wakes: list[Wake]
    until: Millis
    complete: bool


class StuckFinder:
    def __init__(
        self, ports: Ports, cursors: CursorStore | None, workers: WorkerStore | None = None
    ) -> None:
        self._ports = ports
        self._cursors = cursors
        self._workers = workers

    def find(self, namespace: str | None) -> Found:
        """Returns the tasks of a namespace, or of all, that are past their time, the longest
        first. One that cannot be read is in no namespace."""
        now = self._ports.clock.now()
        states = self._states(now)
        read = self._read(states, now)
        wakes = {wake.task_id: wake for wake in read.wakes if _may_be_past(wake, now)}
        past, unreadable = self._past(list(wakes), now, namespace)
        lanes = self._lanes({task.queue for task in past}, states, now) if past else {}
        found = [_set_aside(wakes[i], now) for i in unreadable if namespace is None]
        workers = self._live_workers(past, now)
        for task in past:
            if stuck := why_stuck(task, lanes[task.queue], now=now):
                lacks = task.held is None and lacks_worker(task, workers, now)
                if lacks:
                    stuck = replace(stuck, why=Why.NO_WORKER)
                one = StuckTask(
                    id=task.id, lane=str(task.queue), task=task, stuck=stuck, lacks_worker=lacks
                )
                found.append(one)
        found.sort(key=lambda one: (one.stuck.since, one.id))
        return Found(tasks=found, complete=read.complete, looked_until=read.until)

    def _live_workers(self, past: Sequence[Task], now: Millis) -> Sequence[WorkerRecord]:
        if self._workers is None or all(task.spec.pool is None for task in past):
            return ()
        return self._workers.list(now)

    def _states(self, now: Millis) -> list[SliceState]:
        """Returns the states of the slices until the cursor of every shard is known."""
        if self._cursors is None:
            return []
        shards, states = self._cursors.shards(now).count, list[SliceState]()
        known: set[int] = set()
        for number in range(shards):
            states.append(self._cursors.load(number))
            known |= states[-1].cursors.keys()
            if len(known) >= shards:
                break
        return states

    def _read(self, states: Sequence[SliceState], now: Millis) -> _Read:
        few = self._ports.store.few_wakes(FEW_WAKES)
        if few is not None:
            return _Read(wakes=few, until=now + LONGEST_WATCH, complete=True)
        cursors: dict[int, int] = {}
        for state in states:
            for shard, minute in state.cursors.items():
                cursors[shard] = max(minute, cursors.get(shard, 0))
        newest = minute_of(now) - LOOK_BACK
        shards = range(max(self._ports.wake_policy.shards, *(shard + 1 for shard in cursors), 0))
        start = min((cursors.get(shard, newest) for shard in shards), default=newest)
        return self._read_minutes(min(start, newest), shards, len(states), now)

    def _read_minutes(self, start: int, shards: range, queries: int, now: Millis) -> _Read:
        wakes: list[Wake] = []
        last = minute_of(now + LONGEST_WATCH)
        for minute in range(start, last + 1):
            queries += len(shards)
            if queries > MAX_QUERIES or len(wakes) >= MAX_KEYS:
                return _Read(wakes=wakes, until=minute * MINUTE, complete=False)
            kind = WakeKind.WATCH if minute > minute_of(now) else None
            for shard in shards:
                for wake in self._ports.store.wakes(minute, shard, kind):
                    if len(wakes) == MAX_KEYS:
                        return _Read(wakes=wakes, until=minute * MINUTE, complete=False)
                    wakes.append(wake)
        return _Read(wakes=wakes, until=(last + 1) * MINUTE, complete=True)

    def _past(
        self, ids: Sequence[str], now: Millis, namespace: str | None
    ) -> tuple[list[Task], list[str]]:
        """Returns the tasks that are past their time, and the ids of those that cannot be read."""
        past, unreadable = list[Task](), list[str]()
        for start in range(0, len(ids), BATCH):
            tasks, failed = self._load(ids[start : start + BATCH])
            unreadable += failed
            past += [
                _without_texts(task)
                for task in tasks
                if namespace in (None, task.spec.namespace) and past_since(task, now) is not None
            ]
        return past, unreadable

    def _load(self, ids: Sequence[str]) -> tuple[list[Task], list[str]]:
        try:
            return [*self._ports.store.get(ids).values()], []
        except Corrupt:
            if len(ids) == 1:
                return [], [*ids]
        alone = [self._load([task_id]) for task_id in ids]  # one must not hide the others
        return [t for tasks, _ in alone for t in tasks], [i for _, failed in alone for i in failed]

    def _lanes(
        self, queues: Iterable[Queue], states: Iterable[SliceState], now: Millis
    ) -> Mapping[Queue, LaneCondition]:
        """The executors take no message of a pool that does not exist any more."""
        paced = {lane for state in states for lane, end in state.paced.items() if end > now}
        found = {}
        for queue in queues:
            exists = queue.pool is None or queue.pool in self._ports.pools
            depth = self._ports.lanes.depth(queue) if exists else NO_WORKER
            found[queue] = LaneCondition(
                paced=str(queue) in paced, ready=depth.ready, in_flight=depth.in_flight
            )
        return found


def _without_texts(task: Task) -> Task:
    return replace(task, spec=replace(task.spec, payload=None), result=None)


def _set_aside(wake: Wake, now: Millis) -> StuckTask:
    since = wake.at if wake.at <= now else wake.at - SET_ASIDE_FOR
    stuck = Stuck(why=Why.SET_ASIDE, since=since)
    return StuckTask(id=wake.task_id, lane=wake.lane.value, task=None, stuck=stuck)


def _may_be_past(wake: Wake, now: Millis) -> bool:
    """A dispatch has its time in its key, unless it was set aside: then it is up to an hour
    later."""
    if wake.kind is WakeKind.DISPATCH:
        return wake.at <= now - PAST or now < wake.at <= now + SET_ASIDE_FOR
    return wake.kind is WakeKind.WATCH

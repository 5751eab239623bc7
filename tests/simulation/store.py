"""The store as one process sees it: real rows behind a network, and an index that lags."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from duetime.core.change import Answer, Applied, Change, Unknown
from duetime.core.errors import Unavailable
from duetime.core.ports import Shards, SliceState
from duetime.core.steps.remove import Removal
from duetime.core.task import Task
from duetime.core.times import DAY, SECOND, Millis
from duetime.core.wakes import Wake, WakeKind, bucket_of
from duetime.sqlite.new_rows import NewRows
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW
from tests.faulty_ports import FaultyPort
from tests.simulation.monitor import Monitor
from tests.simulation.network import Network

SINCE = NOW - DAY
LONGEST_LAG = 60  # seconds


class SimulatedStore(FaultyPort):
    """The TaskStore and CursorStore of one process."""

    def __init__(
        self, rows: SqliteTaskStore, network: Network, monitor: Monitor, shards: int
    ) -> None:
        super().__init__(rows)
        self._network = network
        self._process = network.process
        self._faults = network.faults
        self._monitor = monitor
        self._shards = Shards(count=shards, since=SINCE)
        self.on_load: Callable[[SliceState], object] = lambda state: None

    # writes: each write of a batch can fail by itself

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self._network.write_each(tasks, self._put, self._monitor.repeated)

    def queue_new(self, tasks: Sequence[Task], rows: NewRows) -> Callable[[], bool]:
        """Stores all tasks or none. The write is made when its caller waits for it."""

        def finish() -> bool:
            write = lambda _: self._put_new(tasks, rows)  # noqa: E731
            [answer] = self._network.write_each([tasks], write, lambda *repeated: None)
            if isinstance(answer, Unknown):
                raise Unavailable(str(answer))
            return answer

        return finish

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        for change in changes:
            self._monitor.gives_back(self._process, change)
        return self._network.write_each(changes, self._apply, self._monitor.repeated)

    def remove(self, removals: Sequence[Removal]) -> list[Answer]:
        return self._network.write_each(removals, self._remove, lambda *repeated: None)

    def set_aside(self, change: Change) -> None:
        self._monitor.set_aside(change.task_id)
        self._network.call(lambda: self.port.set_aside(change))

    # reads

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        return self._network.call(lambda: self._wakes(minute, shard, kind))

    def few_wakes(self, limit: int) -> list[Wake] | None:
        return self._network.call(lambda: self._few_wakes(limit))

    def shards(self, now: Millis) -> Shards:
        return self._network.call(lambda: self._shards)

    def load(self, slice_number: int) -> SliceState:
        state = self._network.call(lambda: self.port.load(slice_number))
        self.on_load(state)
        return state

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        return self._network.call(lambda: call(*arguments))

    def _put(self, task: Task) -> Answer:
        [answer] = self.port.put([task])
        self._monitor.stored(self._process, task, answer)
        return answer

    def _put_new(self, tasks: Sequence[Task], rows: NewRows) -> bool:
        stored: bool = self.port.queue_new(tasks, rows)()
        rows_stored = self.port.get([task.id for task in tasks]) if stored else {}
        for task in rows_stored.values():
            self._monitor.stored(self._process, task, Applied(task))
        return stored

    def _apply(self, change: Change) -> Answer:
        [answer] = self.port.apply([change])
        self._monitor.changed(self._process, change, answer)
        return answer

    def _remove(self, removal: Removal) -> Answer:
        stored = self.port.get([removal.task.id]).get(removal.task.id)
        [answer] = self.port.remove([removal])
        self._monitor.removed(self._process, stored, answer)
        return answer

    def _wakes(self, minute: int, shard: int, kind: WakeKind | None) -> list[Wake]:
        return self._shown(bucket_of(minute, shard), self.port.wakes(minute, shard, kind), kind)

    def _few_wakes(self, limit: int) -> list[Wake] | None:
        """Each bucket lags by itself: they are in different partitions of the index."""
        found = self.port.few_wakes(limit)
        if found is None:
            return None
        moved = self._monitor.moves_since(self._process.engine.now - LONGEST_LAG * SECOND)
        buckets = {wake.bucket: [] for wake in [*found, *(m.before for m in moved if m.before)]}
        for wake in found:
            buckets[wake.bucket].append(wake)
        return [wake for bucket in sorted(buckets) for wake in self._shown(bucket, buckets[bucket])]

    def _shown(
        self, bucket: str, found: Iterable[Wake], kind: WakeKind | None = None
    ) -> list[Wake]:
        engine = self._process.engine
        if not engine.chance(self._faults.index_lags):
            return list(found)
        seen = set(found)
        lag = engine.between(0, LONGEST_LAG if engine.chance(0.2) else 5)
        for moved in self._monitor.moves_since(engine.now - lag):
            seen.discard(moved.after)
            if moved.before and moved.before.bucket == bucket and kind in (None, moved.before.kind):
                seen.add(moved.before)
        return sorted(seen, key=lambda wake: wake.key)

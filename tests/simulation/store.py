"""The store as one process sees it: real rows, behind a network and an index that lags."""

from collections.abc import Callable, Iterable, Sequence

from duetime.embedded.store import EmbeddedStore
from lambdas.core.change import Answer, Change
from lambdas.core.ports import DeadListing, Listing, Page, Reservation, Shards, SliceState
from lambdas.core.task import Attempt, Task
from lambdas.core.times import DAY, SECOND, Millis
from lambdas.core.wakes import Wake, WakeKind, bucket_of
from tests.factories import NOW
from tests.simulation.calls import answered, called, fates
from tests.simulation.engine import Process
from tests.simulation.faults import Faults
from tests.simulation.monitor import Monitor

SINCE = NOW - DAY
LONGEST_LAG = 60  # seconds


class SimulatedStore:
    """TaskStore and CursorStore."""

    def __init__(
        self,
        rows: EmbeddedStore,
        process: Process,
        faults: Faults,
        monitor: Monitor,
        shards: int,
    ) -> None:
        self._rows = rows
        self._process = process
        self._faults = faults
        self._monitor = monitor
        self._shards = Shards(count=shards, since=SINCE)
        self.on_load: Callable[[SliceState], object] = lambda state: None

    # writes: each of a batch has its own fate

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        return self._each(tasks, self._store)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        for change in changes:
            self._monitor.gives_back(self._process, change)
        return self._each(changes, self._change)

    def set_aside(self, change: Change) -> None:
        self._monitor.set_aside(change.task_id)
        self._call(lambda: self._rows.set_aside(change))

    def keep_attempt(self, task_id: str, attempt: Attempt) -> None:
        self._call(lambda: self._rows.keep_attempt(task_id, attempt))

    def reserve(self, reservations: Sequence[Reservation], now: Millis) -> list[Reservation]:
        return self._call(lambda: self._rows.reserve(reservations, now))

    def save(self, slice_number: int, state: SliceState) -> bool:
        return self._call(lambda: self._rows.save(slice_number, state))

    # reads

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        return self._call(lambda: self._rows.get(task_ids))

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        return self._call(lambda: self._wakes(minute, shard, kind))

    def few_wakes(self, limit: int) -> list[Wake] | None:
        return self._call(lambda: self._few_wakes(limit))

    def page(self, listing: Listing) -> Page:
        return self._call(lambda: self._rows.page(listing))

    def dead(self, listing: DeadListing) -> Page:
        return self._call(lambda: self._rows.dead(listing))

    def attempts(self, task_id: str) -> list[Attempt]:
        return self._call(lambda: self._rows.attempts(task_id))

    def shards(self, now: Millis) -> Shards:
        return self._call(lambda: self._shards)

    def load(self, slice_number: int) -> SliceState:
        state = self._call(lambda: self._rows.load(slice_number))
        self.on_load(state)
        return state

    def _call(self, act):
        process, faults = self._process, self._faults
        return called(process, faults, lambda: answered(process, faults, act))

    def _each(self, values, write) -> list[Answer]:
        if not values:
            return []
        process, faults = self._process, self._faults
        repeated = self._monitor.repeated
        return called(process, faults, lambda: fates(process, faults, values, write, repeated))

    def _store(self, task: Task) -> Answer:
        [answer] = self._rows.put([task])
        self._monitor.stored(self._process, task, answer)
        return answer

    def _change(self, change: Change) -> Answer:
        [answer] = self._rows.apply([change])
        self._monitor.changed(self._process, change, answer)
        return answer

    def _wakes(self, minute: int, shard: int, kind: WakeKind | None) -> list[Wake]:
        return self._shown(bucket_of(minute, shard), self._rows.wakes(minute, shard, kind), kind)

    def _few_wakes(self, limit: int) -> list[Wake] | None:
        """Every bucket lags by itself: they lie in different parts of the index."""
        found = self._rows.few_wakes(limit)
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

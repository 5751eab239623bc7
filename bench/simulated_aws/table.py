"""The table and its wake index in memory, with partitions of limited throughput."""

from collections.abc import Sequence
from zlib import crc32

from bench.simulated_aws.limits import Model, Partition
from bench.simulated_aws.tally import Tally
from duetime.core.change import Answer, Applied, Change, Refused
from duetime.core.ports import Shards, SliceState
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wakes import Wake, WakeKind, bucket_of

SUBMITTED = 3  # units: table, wake index, listing
Bucket = dict[WakeKind, dict[str, Wake]]


class Table:
    """`warm_writes` are the units a second that the table and the wake index take from the start.
    Each has one partition for every thousand. No partition splits while the model runs."""

    def __init__(self, model: Model, tally: Tally, shards: Shards, warm_writes: int) -> None:
        limits = model.limits
        count = max(warm_writes, limits.new_table_writes) // limits.partition_writes
        self._rows = [Partition(limits.partition_writes) for _ in range(count)]
        self._wakes = [Partition(limits.partition_writes) for _ in range(count)]
        self._reads = [Partition(limits.partition_reads) for _ in range(count)]
        self._tally = tally
        self._buckets: dict[str, Bucket] = {}
        self._waking = 0
        self.tasks: dict[str, Task] = {}
        self.shards = shards
        self.slices: dict[int, SliceState] = {}

    # writes

    def throttles(self, change: Change, now: Millis) -> bool:
        """Returns whether the partitions of a change have no room. If they have, takes it."""
        places = self._places(change)
        if any(place.room(now) < 1 for place in places):
            self._tally.counts["throttled"] += 1
            return True
        for place in places:
            place.take(1)
        return False

    def delay(self, change: Change, now: Millis) -> float:
        """Returns how long a write is retried until its partitions have room."""
        return max(place.delay(1, now) for place in self._places(change))

    def apply(self, change: Change) -> Answer:
        task = self.tasks.get(change.task_id)
        if task is None or not change.expect.holds(task):
            self._tally.counts["write"] += 1
            self._tally.counts["refused"] += 1
            return Refused(task)
        after = change.applied_to(task)
        self.tasks[task.id] = after
        self._tally.counts["write"] += 1 + self._move(task.wake, after.wake)
        return Applied(after)

    def put(self, task: Task) -> None:
        self.tasks[task.id] = task
        self._move(None, task.wake)
        self._tally.counts["write"] += SUBMITTED

    def submit(self, task: Task, now: Millis) -> None:
        self._row(task.id).delay(1, now)
        if task.wake is not None:
            self._wake(task.wake).delay(1, now)
        self.put(task)

    def end(self, task: Task) -> None:
        """Removes a task that has ended: the model needs it no more."""
        del self.tasks[task.id]
        self._tally.counts["write"] += 1 + self._move(task.wake, None)

    def save(self, slice_number: int, state: SliceState) -> bool:
        self._tally.counts["write"] += 1
        stored = self.slices.get(slice_number, SliceState())
        if stored.fence != state.fence - 1:
            return False
        self.slices[slice_number] = state
        return True

    # reads

    def bucket(self, minute: int, shard: int, kind: WakeKind | None) -> list[Wake]:
        found = self._buckets.get(bucket_of(minute, shard), {})
        kinds = (kind,) if kind else tuple(WakeKind)
        return [wake for each in kinds for wake in _ordered(found.get(each, {}))]

    def read_delay(self, minute: int, shard: int, units: float, now: Millis) -> float:
        self._tally.counts["read"] += units
        name = bucket_of(minute, shard)
        return self._reads[crc32(name.encode()) % len(self._reads)].delay(units, now)

    def few(self, limit: int) -> list[Wake] | None:
        if self._waking > limit:
            return None
        names = sorted(self._buckets)
        return [
            wake
            for name in names
            for kind in WakeKind
            for wake in _ordered(self._buckets[name].get(kind, {}))
        ]

    def forgotten(self) -> int:
        """Returns how many tasks have no wake in the index and will never run. Must be 0."""
        return sum(
            task.wake is None
            or task.id not in self._buckets.get(task.wake.bucket, {}).get(task.wake.kind, {})
            for task in self.tasks.values()
        )

    def _places(self, change: Change) -> Sequence[Partition]:
        places = [self._row(change.task_id)]
        if "wake" in change.sets:
            before, after = change.expect.wake, change.sets["wake"]
            places += [self._wake(wake) for wake in (before, after) if wake is not None]
        return places

    def _row(self, task_id: str) -> Partition:
        return self._rows[crc32(task_id.encode()) % len(self._rows)]

    def _wake(self, wake: Wake) -> Partition:
        return self._wakes[crc32(wake.bucket.encode()) % len(self._wakes)]

    def _move(self, before: Wake | None, after: Wake | None) -> int:
        """Moves a wake and returns the units that the index takes."""
        if before == after:
            return 0
        if before is not None:
            bucket = self._buckets[before.bucket]
            del bucket[before.kind][before.task_id]
            self._waking -= 1
            if not any(bucket.values()):
                del self._buckets[before.bucket]
        if after is not None:
            kinds = self._buckets.setdefault(after.bucket, {})
            kinds.setdefault(after.kind, {})[after.task_id] = after
            self._waking += 1
        return (before is not None) + (after is not None)


def _ordered(wakes: dict[str, Wake]) -> list[Wake]:
    return sorted(wakes.values(), key=lambda wake: (wake.lane.rank, wake.at, wake.task_id))

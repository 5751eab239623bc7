"""The values of the metrics, read from what the runner counts anyway."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from duetime.api.lanes import LaneActivity
from duetime.api.stats import Vitals
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Outcome
from duetime.core.metrics import Path
from duetime.core.ports import Ports
from duetime.core.stats.counts import DRIFT, PLANNED, TOOK, Counts, Durations
from duetime.core.stats.series import ENDS
from duetime.core.times import SECOND
from duetime.core.value import value
from duetime.duration_counts import DurationCounts
from duetime.local.counted_ports import PortCounts
from duetime.local.live_connection import FrameResult
from duetime.local.live_hub import LiveHub
from duetime.local.prometheus import families
from duetime.local.prometheus.families import Family
from duetime.local.stats import RunnerStats
from duetime.local.vitals import Ticks
from duetime.sqlite.figures import StoreFigures


@value(frozen=True, kw_only=True, slots=True)
class Buckets:
    """A histogram: how many are in each bucket, and the sum in seconds."""

    counts: Sequence[int]
    sum: float


@value(frozen=True, slots=True)
class Sample:
    family: Family
    labels: tuple[str, ...]
    value: float | Buckets


@value(frozen=True, kw_only=True, slots=True)
class RunnerSamples:
    """`store` reads what only the SQLite store knows, if that is the store."""

    stats: RunnerStats
    ticks: Ticks
    ports: Ports
    lanes: Callable[[], Mapping[Queue, LaneActivity]]
    vitals: Callable[[], Vitals]
    slots: int
    version: str
    counts: PortCounts
    submissions: DurationCounts
    live: LiveHub
    store: Callable[[], StoreFigures] | None = None

    def __call__(self) -> Iterator[Sample]:
        for lane, counts in self.stats.totals().items():
            yield from _counted(lane, counts)
        yield Sample(families.SUBMIT_DURATION, (), _read(self.submissions))
        yield from self._of_lanes()
        yield from self._of_ticks()
        yield from self._of_schedules_and_limits()
        yield from self._of_live_updates()
        if self.store:
            yield from _stored(self.store())
        yield Sample(families.SLOTS, (), self.slots)
        yield Sample(families.BUILD, (self.version,), 1)

    def _of_lanes(self) -> Iterator[Sample]:
        now = self.ports.clock.now()
        for queue, activity in self.lanes().items():
            lane, depth = str(queue), self.ports.lanes.depth(queue)
            waited = 0 if depth.oldest is None else max(now - depth.oldest, 0)
            yield Sample(families.DEPTH, (lane,), depth.ready)
            yield Sample(families.OLDEST, (lane,), waited / SECOND)
            yield Sample(families.RUNNING, (lane,), activity.running or 0)
            yield Sample(families.PROMOTED, (lane,), activity.promoted or 0)

    def _of_schedules_and_limits(self) -> Iterator[Sample]:
        for outcome, count in self.counts.ledger.items():
            yield Sample(families.LEDGER, (outcome.value,), count)
        for limit, count in self.counts.deferred.items():
            yield Sample(families.DEFERRED, (limit,), count)

    def _of_live_updates(self) -> Iterator[Sample]:
        yield Sample(families.LIVE_CONNECTIONS, (), self.live.connections)
        for result in FrameResult:
            yield Sample(families.LIVE_FRAMES, (result,), self.live.frames[result])

    def _of_ticks(self) -> Iterator[Sample]:
        ticks, vitals = self.ticks, self.vitals()
        for queue in self.lanes():
            yield Sample(families.CLAIMS, (str(queue), "won"), ticks.claims[queue])
            yield Sample(families.CLAIMS, (str(queue), "lost"), ticks.lost_claims[queue])
        yield Sample(families.SET_ASIDE, (), ticks.set_aside)
        took = Buckets(counts=ticks.durations, sum=ticks.duration_sum / SECOND)
        yield Sample(families.TICK_DURATION, (), took)
        for family, known in (
            (families.TICK_AGE, vitals.tick_age_seconds),
            (families.CURSOR_LAG, vitals.cursor_lag_seconds),
            (families.HELD_BACK, vitals.held_back),
            (families.RELAY_AGE, vitals.relay_age_seconds),
        ):
            if known is not None:
                yield Sample(family, (), known)


def _counted(lane: str, counts: Counts) -> Iterator[Sample]:
    numbers = counts.numbers
    for path in Path:
        yield Sample(families.SUBMITTED, (lane, path), numbers[path])
    for status in ENDS:
        yield Sample(families.FINISHED, (lane, status), numbers[status])
    for outcome in Outcome:
        yield Sample(families.ATTEMPTS, (lane, outcome), numbers[outcome])
    for family, kind in (
        (families.DRIFT, DRIFT),
        (families.DURATION, TOOK),
        (families.PLANNED_DRIFT, PLANNED),
    ):
        yield Sample(family, (lane,), _buckets(counts, kind))


def _buckets(counts: Counts, kind: Durations) -> Buckets:
    return Buckets(counts=counts.histogram(kind), sum=counts.numbers[kind.sum] / SECOND)


def _read(durations: DurationCounts) -> Buckets:
    counts, total = durations.read()
    return Buckets(counts=counts, sum=total)


def _stored(store: StoreFigures) -> Iterator[Sample]:
    yield Sample(families.DEAD_LETTERS, (), store.dead_letters)
    yield Sample(families.STORE_BYTES, (), store.bytes)
    yield Sample(families.COMMIT, (), _read(store.commits))
    for status, count in store.schedules.items():
        yield Sample(families.SCHEDULES, (status,), count)

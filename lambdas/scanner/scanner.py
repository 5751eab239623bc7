"""scan, claim, enqueue: one tick.

A tick reads the index, claims what is due within the horizon, sends it, and looks after what
should long have moved. Any number of ticks may overlap or be cut off: the conditional write of
a claim is the only arbiter, and what a tick leaves behind the next one finds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.ports import CursorStore, Ports, SliceState, TaskStore
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind, minute_of
from lambdas.scanner.dispatch import Dispatched, Dispatcher
from lambdas.scanner.window import Window, sweep, window

BATCH = 100  # wakes that are taken together
NEAR_LIMIT = 50_000  # wakes that a tick takes in at once; the next tick takes the rest
BACKLOG_DEPTH = 10_000  # messages that may stand ready in a lane before its backlog waits
TRIES = 3  # before a row that fails is set aside

Take = Callable[[Sequence[Wake]], Dispatched]


@dataclass(kw_only=True, slots=True)
class TickReport:
    """What a tick did; its log line and the metrics are made of this."""

    claimed: int = 0
    lost: int = 0  # claims that somebody else had made, or that a change overtook
    unknown: int = 0  # claims for which the store did not answer
    sent: int = 0
    watched: int = 0
    set_aside: int = 0
    held_back: int = 0  # backlog that waits for room in its lane
    unfinished: bool = False  # time ran out, or there was too much: tick again at once
    saved: bool = False


class Scanner:
    def __init__(self, ports: Ports, cursors: CursorStore) -> None:
        self._ports = ports
        self._cursors = cursors

    def tick(
        self, slice_number: int = 0, slices: int = 1, until: Millis | None = None
    ) -> TickReport:
        """Scan one slice of the shards; stop, and say so, when `until` has come."""
        now = self._ports.clock.now()
        shards = self._cursors.shards(now)
        state = self._cursors.load(slice_number)
        windows = [
            window(shard, state, shards, now=now, horizon=self._ports.rules.horizon)
            for shard in range(slice_number, shards.count, slices)
        ]
        tick = _Tick(Dispatcher(self._ports), now=now, until=until)
        near = _near(self._ports.store, windows, now, self._ports.rules.horizon)
        some = list(islice(near, NEAR_LIMIT))
        tick.take(sorted(some, key=lambda found: (found.lane.rank, found.at)))
        tick.report.unfinished |= len(some) == NEAR_LIMIT
        cursors = {w.shard: tick.catch_up(w) for w in windows}
        swept = state.swept
        for minute in sweep(state.swept, shards, now=now):
            for w in windows:
                tick.take(self._ports.store.wakes(minute, w.shard))
            if tick.out_of_time():
                break
            swept = minute
        after = SliceState(fence=state.fence + 1, cursors=cursors, swept=swept)
        tick.report.saved = self._cursors.save(slice_number, after)
        return tick.report


class _Tick:
    def __init__(self, dispatcher: Dispatcher, *, now: Millis, until: Millis | None) -> None:
        self._dispatcher = dispatcher
        self._now = now
        self._until = until
        self._room: dict[Lane, int] = {}
        self.report = TickReport()

    def take(self, wakes: Iterable[Wake]) -> None:
        """Claim what is to be dispatched, look at what is to be watched, in the order given."""
        dispatch, watch = [], []
        for found in wakes:
            if found.kind is WakeKind.DISPATCH:
                dispatch.append(found)
            elif found.at <= self._now:
                watch.append(found)
        self._in_batches(dispatch, self._dispatcher.claim)
        self._in_batches(watch, self._dispatcher.watch)

    def catch_up(self, behind: Window) -> int:
        """Work off the backlog, oldest first, as far as the lanes have room: an outage must not
        end in a flood. Returns the new cursor: the oldest minute not yet seen empty. After a
        day's outage even reading can take longer than a tick may; the next begins where this
        one stopped."""
        cursor = None
        for minute in behind.backlog:
            if self.out_of_time():
                return minute if cursor is None else cursor
            wakes = list(self._dispatcher.ports.store.wakes(minute, behind.shard))
            if wakes and cursor is None:
                cursor = minute
            self.take(found for found in wakes if self._has_room(found))
        return behind.near.start if cursor is None else cursor

    def out_of_time(self) -> bool:
        if self._until is not None and self._dispatcher.ports.clock.now() >= self._until:
            self.report.unfinished = True
        return self.report.unfinished

    def _has_room(self, found: Wake) -> bool:
        if found.kind is WakeKind.WATCH:
            return True
        lane = found.lane
        room = self._room.setdefault(lane, BACKLOG_DEPTH - self._dispatcher.ready(lane))
        if room <= 0:
            self.report.held_back += 1
            return False
        self._room[lane] = room - 1
        return True

    def _in_batches(self, wakes: Sequence[Wake], take: Take) -> None:
        for start in range(0, len(wakes), BATCH):
            if self.out_of_time():
                return
            self._take_batch(wakes[start : start + BATCH], take)

    def _take_batch(self, wakes: Sequence[Wake], take: Take) -> None:
        """One bad row must not spoil its batch: after a failure each goes alone."""
        try:
            self._add(take(wakes))
        except Unavailable:
            raise
        except Exception:  # noqa: BLE001 - told when the row that causes it is set aside
            for found in wakes:
                self._take_alone(found, take)

    def _take_alone(self, found: Wake, take: Take) -> None:
        for _ in range(TRIES):
            try:
                self._add(take([found]))
                return
            except Unavailable:
                raise
            except Exception as error:  # noqa: BLE001
                reason = f"{type(error).__name__}: {error}"
        self._dispatcher.set_aside(found, reason)
        self.report.set_aside += 1

    def _add(self, done: Dispatched) -> None:
        self.report.claimed += done.claimed
        self.report.lost += done.lost
        self.report.unknown += done.unknown
        self.report.watched += done.watched
        self.report.sent += done.sent
        self.report.set_aside += done.set_aside


def _near(
    store: TaskStore, windows: Sequence[Window], now: Millis, horizon: Millis
) -> Iterator[Wake]:
    """What is due around now, minute by minute. Watches are not read ahead of time."""
    for minute in sorted({minute for w in windows for minute in w.near}):
        kind = WakeKind.DISPATCH if minute > minute_of(now) else None
        for w in windows:
            for found in store.wakes(minute, w.shard, kind):
                if found.at <= (now + horizon if found.kind is WakeKind.DISPATCH else now):
                    yield found

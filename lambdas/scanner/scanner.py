"""scan, claim, enqueue: one tick.

A tick reads the index, claims what is due within the horizon, sends it, and looks after what
should long have moved. Any number of ticks may overlap or be cut off: the conditional write of
a claim is the only arbiter, and what a tick leaves behind the next one finds.
"""

from collections.abc import Callable, Iterable, Sequence

from lambdas.core.errors import Unavailable
from lambdas.core.ports import CursorStore, Ports, Shards, SliceState
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind
from lambdas.scanner.dispatch import Dispatched, Dispatcher
from lambdas.scanner.index import WakeIndex, read_index
from lambdas.scanner.near import read_near
from lambdas.scanner.pace import CATCH_UP, Pacer
from lambdas.scanner.report import TickReport
from lambdas.scanner.start import starting_points
from lambdas.scanner.window import Window, lag, sweep, window

BATCH = 100  # wakes that are taken together
TRIES = 3  # before a row that fails is set aside

Take = Callable[[Sequence[Wake]], Dispatched]


class Scanner:
    """`catch_up`: overdue tasks that are let into each lane a second, over all slices."""

    def __init__(self, ports: Ports, cursors: CursorStore, *, catch_up: float = CATCH_UP) -> None:
        self._ports = ports
        self._cursors = cursors
        self._catch_up = catch_up

    def tick(
        self, slice_number: int = 0, slices: int = 1, until: Millis | None = None
    ) -> TickReport:
        """Scan one slice of the shards; stop, and say so, when `until` has come, a time of the
        monotonic clock."""
        now = self._ports.clock.now()
        horizon = self._ports.rules.horizon
        shards = self._cursors.shards(now)
        state = self._cursors.load(slice_number)
        mine = range(slice_number, shards.count, slices)
        start = starting_points(self._cursors, state.cursors, mine, shards, now)
        windows = [window(shard, start[shard], now=now, horizon=horizon) for shard in mine]
        pacer = Pacer(state.paced, rate=self._catch_up / slices, now=now)
        index = read_index(self._ports.store)
        tick = _Tick(Dispatcher(self._ports, pacer), index, now=now, until=until)
        tick.report.age = None if state.ticked_at is None else max(now - state.ticked_at, 0)
        near = read_near(index, windows, pacer, now=now, horizon=horizon)
        tick.take(near.fresh)
        tick.take(near.schedules)
        tick.take(near.watches)
        tick.report.unfinished |= near.more
        cursors = tick.catch_up(windows)
        tick.report.lag = lag(windows, cursors)
        tick.take(near.overdue)
        tick.report.held_back += near.left
        swept = tick.sweep(state.swept, windows, shards)
        tick.report.unfinished |= tick.more_behind or tick.more_to_put
        after = SliceState(
            fence=state.fence + 1,
            cursors={**state.cursors, **cursors},  # of others' shards what they may not know yet
            swept=swept,
            paced=pacer.ends(),
            ticked_at=now,
        )
        tick.report.saved = self._cursors.save(slice_number, after)
        return tick.report


class _Tick:
    def __init__(
        self, dispatcher: Dispatcher, index: WakeIndex, *, now: Millis, until: Millis | None
    ) -> None:
        self._dispatcher = dispatcher
        self._index = index
        self._now = now
        self._until = until
        self.more_behind = False  # and it may be taken at once
        self.more_to_put = False  # of a schedule, likewise
        self.report = TickReport()

    def take(self, wakes: Iterable[Wake]) -> None:
        """Claim what is to be dispatched, put what schedules call for, look at what is to be
        watched, the higher lanes first and the oldest of a lane before the rest."""
        ordered = sorted(wakes, key=lambda found: (found.lane.rank, found.at))
        self._in_batches(
            [w for w in ordered if w.kind is WakeKind.DISPATCH], self._dispatcher.claim
        )
        due = [w for w in ordered if w.at <= self._now]
        near = [w for w in due if w.kind is WakeKind.SCHEDULE]
        self._in_batches(near, self._dispatcher.materialise)
        self._in_batches([w for w in due if w.kind is WakeKind.WATCH], self._dispatcher.watch)

    def catch_up(self, windows: Sequence[Window]) -> dict[int, int]:
        """Work off what lies behind, the oldest minute of all shards first. Returns the new
        cursors: of each shard the oldest minute not yet seen empty. After a day's outage even
        reading can take longer than a tick may, so it gets half of the time; the next tick
        begins where this one stopped. It comes at once only if this one got something done:
        what waits for a slot waits for the next minute."""
        enough, done = self._halfway(), self.report.taken
        found_in: dict[int, int] = {}
        reached = min((w.behind.start for w in windows), default=0)
        end = max((w.behind.stop for w in windows), default=0)
        while reached < end and not self.out_of_time():
            wakes = []
            for w in windows:
                if reached in w.behind and (some := list(self._index.wakes(reached, w.shard))):
                    found_in.setdefault(w.shard, reached)
                    wakes += some
            self.take(wakes)
            reached += 1
            if enough is not None and self._dispatcher.ports.clock.monotonic() >= enough:
                break
        cursors = {w.shard: w.cursor(found_in.get(w.shard, reached)) for w in windows}
        moved = any(cursors[w.shard] > w.behind.start for w in windows)
        got_on = (moved or self.report.taken > done) and not self.report.held_back
        self.more_behind = reached < end and got_on
        return cursors

    def sweep(self, swept: int, windows: Sequence[Window], shards: Shards) -> int:
        """Returns the minute that was swept last. One in which something had to wait is read
        again by the next tick: no cursor comes back to it."""
        for minute in sweep(swept, shards, now=self._now):
            held_back = self.report.held_back
            for w in windows:
                if minute not in w.behind:
                    self.take(self._index.wakes(minute, w.shard))
            if self.out_of_time() or self.report.held_back > held_back:
                break
            swept = minute
        return swept

    def _halfway(self) -> Millis | None:
        now = self._dispatcher.ports.clock.monotonic()
        return None if self._until is None else now + (self._until - now) // 2

    def out_of_time(self) -> bool:
        if self._until is not None and self._dispatcher.ports.clock.monotonic() >= self._until:
            self.report.unfinished = True
        return self.report.unfinished

    def _in_batches(self, wakes: Sequence[Wake], take: Take) -> None:
        for start in range(0, len(wakes), BATCH):
            if self.out_of_time():
                return
            batch = wakes[start : start + BATCH]
            admitted = [found for found in batch if self._dispatcher.admits(found)]
            self.report.held_back += len(batch) - len(admitted)
            if admitted:
                self._take_batch(admitted, take)

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
        self.report.claims += done.claims
        self.report.lost_claims += done.lost_claims
        self.report.unknown += done.unknown
        self.report.watched += done.watched
        self.report.sent += done.sent
        self.report.set_aside += done.set_aside
        self.report.held_back += done.held_back
        self.report.occurrences += done.occurrences
        self.more_to_put |= done.more_to_put

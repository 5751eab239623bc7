"""One tick of the scanner: scan, claim, enqueue.

A tick reads the wake index, claims the tasks that are due within the horizon, sends them, and
checks tasks that should have moved on by now. Any number of ticks may overlap or be cut off: the
conditional write of a claim decides between them, and the next tick finds what one leaves behind.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.ports import Chain, CursorStore, Ports, Shards, SliceState
from duetime.core.times import Millis
from duetime.core.wakes import Wake, WakeKind
from duetime.scanner.backed_up_lanes import NO_LIMITS, BackedUpLanes
from duetime.scanner.dispatch import Dispatched, Dispatcher
from duetime.scanner.pacing import CATCH_UP, Pacer
from duetime.scanner.report import TickReport
from duetime.scanner.tick_chain import expected_within, must_yield
from duetime.scanner.wake_reader import Backlog, NearWakes, WakeIndex, read_index, read_near
from duetime.scanner.windows import lag, starting_points, sweep, window

BATCH = 100  # wakes that are processed together
ROW_TRIES = 3  # before a row that fails is set aside
FRESH_SHARE = 0.6  # of a tick's time, while other work waits

Act = Callable[[Sequence[Wake]], Dispatched]


class Scanner:
    """Runs ticks.

    Args:
        catch_up: How many overdue tasks a second enter each lane, over all slices.
        executors: How many executors of each lane run at the same time, where that is known."""

    def __init__(
        self,
        ports: Ports,
        cursors: CursorStore,
        *,
        catch_up: float = CATCH_UP,
        executors: Mapping[Lane, int] = NO_LIMITS,
    ) -> None:
        self._ports = ports
        self._cursors = cursors
        self._catch_up = catch_up
        self._executors = executors

    def tick(
        self,
        slice_number: int = 0,
        slices: int = 1,
        until: Millis | None = None,
        *,
        continues: str | None = None,
    ) -> TickReport:
        """Scan one slice of the shards.

        Args:
            slice_number: The slice, from 0.
            slices: The number of slices.
            until: When the tick stops, by the monotonic clock. A caller that sets it must tick
                again at once if the report is `unfinished` and `saved`.
            continues: The `chain` of the report that this tick continues. Other ticks of the slice
                yield meanwhile (see tick_chain)."""
        clock = self._ports.clock
        now, started = clock.now(), clock.monotonic()
        within = 0 if until is None else expected_within(until - clock.monotonic())
        horizon = self._ports.wake_policy.horizon
        shards = self._cursors.shards(now)
        state = self._cursors.load(slice_number)
        age = None if state.ticked_at is None else max(now - state.ticked_at, 0)
        if must_yield(state.chain, slices=slices, continues=continues, within=within, now=now):
            return TickReport(yielded=True, age=age)
        mine = range(slice_number, shards.count, slices)
        start = starting_points(self._cursors, state.cursors, mine, shards, now)
        windows = [window(shard, start[shard], now=now, horizon=horizon) for shard in mine]
        pacer = Pacer(state.paced, rate=self._catch_up / slices, now=now)
        backed_up = BackedUpLanes(self._ports.lanes, self._executors, state.backed_up)
        dispatcher = Dispatcher(self._ports, pacer, backed_up)
        index = read_index(self._ports.store)
        tick = _Tick(dispatcher, index, now=now, until=until)
        near = read_near(index, windows, pacer, now=now, horizon=horizon)
        behind = Backlog(windows)
        tick.process_shares(near, behind)
        swept = tick.sweep(state.swept, behind, shards)
        tick.process_rest(near, behind)
        report, cursors = tick.report, behind.cursors()
        report.age, report.lag = age, lag(windows, cursors)
        chain = None
        if report.unfinished and until is not None:
            report.chain = self._ports.chance.nonce()
            chain = Chain(id=report.chain, until=clock.now() + within, slices=slices)
        after = SliceState(
            fence=state.fence + 1,
            # Cursors of other slices' shards stay: those slices may not have them yet.
            cursors={**state.cursors, **cursors},
            swept=swept,
            paced=pacer.ends(),
            ticked_at=now,
            backed_up=backed_up.after_tick(),
            chain=chain,
        )
        report.saved = self._cursors.save(slice_number, after)
        report.took = clock.monotonic() - started
        return report


class _Tick:
    def __init__(
        self, dispatcher: Dispatcher, index: WakeIndex, *, now: Millis, until: Millis | None
    ) -> None:
        self._dispatcher = dispatcher
        self._index = index
        self._now = now
        self._until = until
        self._deadline = until  # of the current share
        self._more_occurrences = False  # of a schedule, to create at once
        self.report = TickReport()

    def process_shares(self, near: NearWakes, behind: Backlog) -> None:
        """Give each kind of work its share of the time, so that none waits for the end of another.
        Fresh work comes first; the next kind gets what a share leaves over. Wakes for which there
        is no time stay in `near` and `behind`."""
        self._begin_share(FRESH_SHARE)
        near.fresh = self.process(near.fresh)
        self._begin_share(1 / 4)
        near.schedules = self.process(near.schedules)
        self._begin_share(1 / 3)
        near.watches = self.process(near.watches)
        self._begin_share(1 / 2)  # after a day's outage reading alone takes longer than a tick
        self.catch_up(behind)
        self._begin_share(1 / 2)
        near.overdue = self.process(near.overdue)
        self._begin_share(1 / 2)  # the sweep's

    def process_rest(self, near: NearWakes, behind: Backlog) -> None:
        """Spend the remaining time on what the shares left over. If there is still more, the next
        tick follows at once, but not for work that waits for a slot: the tick of the next minute
        processes that."""
        self._deadline = self._until
        near.fresh = self.process(near.fresh)
        near.schedules = self.process(near.schedules)
        near.watches = self.process(near.watches)
        if not self.report.held_back:
            self.catch_up(behind)
        near.overdue = self.process(near.overdue)
        left = near.fresh or near.schedules or near.watches or near.overdue
        progressed = behind.moved or behind.processed or self.out_of_time()
        more_behind = not behind.done and progressed and not self.report.held_back
        self.report.held_back += near.left
        self.report.unfinished = bool(left) or near.more or more_behind or self._more_occurrences

    def process(self, wakes: Iterable[Wake]) -> list[Wake]:
        """Claim tasks, create the occurrences of schedules and check watches: higher lanes first,
        and the oldest wakes of a lane first. Returns the wakes for which there was no time."""
        ordered = sorted(wakes, key=lambda found: (found.lane.rank, found.at))
        due = [w for w in ordered if w.at <= self._now]
        left = self._in_batches(
            [w for w in ordered if w.kind is WakeKind.DISPATCH], self._dispatcher.claim
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.SCHEDULE], self._dispatcher.materialise
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.LINE], self._dispatcher.watch_lines
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.WATCH], self._dispatcher.watch
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.RUN], self._dispatcher.watch_runs
        )
        return left

    def catch_up(self, behind: Backlog) -> None:
        """Process the backlog from where it was left."""
        before = self.report.processed
        behind.left = self.process(behind.left)
        while not behind.left and not behind.done and not self.out_of_time():
            behind.left = self.process(behind.read_next(self._index))
        behind.processed += self.report.processed - before

    def sweep(self, swept: int, behind: Backlog, shards: Shards) -> int:
        """Returns the minute that was swept last. The next tick reads a minute again in which
        something had to wait, because no cursor returns to it."""
        for minute in sweep(swept, shards, now=self._now):
            held_back = self.report.held_back
            for w in behind.windows:
                if minute not in w.behind:
                    self.process(self._index.wakes(minute, w.shard))
            if self.out_of_time() or self.report.held_back > held_back:
                break
            swept = minute
        return swept

    def out_of_time(self) -> bool:
        return self._deadline is not None and self._monotonic() >= self._deadline

    def _begin_share(self, share: float) -> None:
        """Limit the next work to this share of the time that is left."""
        if self._until is not None:
            now = self._monotonic()
            self._deadline = now + int((self._until - now) * share)

    def _monotonic(self) -> Millis:
        return self._dispatcher.ports.clock.monotonic()

    def _in_batches(self, wakes: Sequence[Wake], act: Act) -> list[Wake]:
        """Returns the wakes for which there was no time."""
        for start in range(0, len(wakes), BATCH):
            if self.out_of_time():
                return list(wakes[start:])
            batch = wakes[start : start + BATCH]
            self._dispatcher.find_pools(batch)
            admitted = [found for found in batch if self._dispatcher.admits(found)]
            self.report.held_back += len(batch) - len(admitted)
            if admitted:
                self._process_batch(admitted, act)
        return []

    def _process_batch(self, wakes: Sequence[Wake], act: Act) -> None:
        """One bad row must not fail its batch: after a failure each wake is processed alone."""
        try:
            self._add(act(wakes))
        except Unavailable:
            raise
        except Exception:  # noqa: BLE001 - logged when the row that causes it is set aside
            for found in wakes:
                self._process_alone(found, act)

    def _process_alone(self, found: Wake, act: Act) -> None:
        for _ in range(ROW_TRIES):
            try:
                self._add(act([found]))
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
        self.report.promoted += done.promoted
        self.report.sent += done.sent
        self.report.set_aside += done.set_aside
        self.report.held_back += done.held_back
        self.report.occurrences += done.occurrences
        self._more_occurrences |= done.more_occurrences

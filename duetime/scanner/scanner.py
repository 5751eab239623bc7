"""scan, claim, enqueue: one tick.

A tick reads the index, claims what is due within the horizon, sends it, and looks after what
should long have moved. Any number of ticks may overlap or be cut off: the conditional write of
a claim is the only arbiter, and what a tick leaves behind the next one finds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.ports import Chain, CursorStore, Ports, Shards, SliceState
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind
from lambdas.scanner.backlog import Backlog
from lambdas.scanner.chain import expected_within, must_yield
from lambdas.scanner.dispatch import NO_LIMITS, Dispatched, Dispatcher
from lambdas.scanner.index import WakeIndex, read_index
from lambdas.scanner.near import Near, read_near
from lambdas.scanner.pace import CATCH_UP, Pacer
from lambdas.scanner.report import TickReport
from lambdas.scanner.start import starting_points
from lambdas.scanner.window import lag, sweep, window

BATCH = 100  # wakes that are taken together
TRIES = 3  # before a row that fails is set aside
FRESH_SHARE = 0.6  # of a tick's time, while other work waits

Take = Callable[[Sequence[Wake]], Dispatched]


class Scanner:
    """`catch_up`: overdue tasks that are let into each lane a second, over all slices.
    `at_once`: how many executors of each lane run at once, where that is known."""

    def __init__(
        self,
        ports: Ports,
        cursors: CursorStore,
        *,
        catch_up: float = CATCH_UP,
        at_once: Mapping[Lane, int] = NO_LIMITS,
    ) -> None:
        self._ports = ports
        self._cursors = cursors
        self._catch_up = catch_up
        self._at_once = at_once

    def tick(
        self,
        slice_number: int = 0,
        slices: int = 1,
        until: Millis | None = None,
        *,
        continues: str | None = None,
    ) -> TickReport:
        """Scan one slice of the shards.

        `until`, a time of the monotonic clock: the tick stops then. A caller that sets it must
        tick again at once when the report says `unfinished` and `saved`, and pass the report's
        `chain` as `continues`; other ticks of the slice yield meanwhile (see chain)."""
        clock = self._ports.clock
        now = clock.now()
        within = 0 if until is None else expected_within(until - clock.monotonic())
        horizon = self._ports.rules.horizon
        shards = self._cursors.shards(now)
        state = self._cursors.load(slice_number)
        age = None if state.ticked_at is None else max(now - state.ticked_at, 0)
        if must_yield(state.chain, slices=slices, continues=continues, within=within, now=now):
            return TickReport(yielded=True, age=age)
        mine = range(slice_number, shards.count, slices)
        start = starting_points(self._cursors, state.cursors, mine, shards, now)
        windows = [window(shard, start[shard], now=now, horizon=horizon) for shard in mine]
        pacer = Pacer(state.paced, rate=self._catch_up / slices, now=now)
        dispatcher = Dispatcher(self._ports, pacer, self._at_once, state.backed_up)
        index = read_index(self._ports.store)
        tick = _Tick(dispatcher, index, now=now, until=until)
        near = read_near(index, windows, pacer, now=now, horizon=horizon)
        behind = Backlog(windows)
        tick.take_shares(near, behind)
        swept = tick.sweep(state.swept, behind, shards)
        tick.take_rest(near, behind)
        report, cursors = tick.report, behind.cursors()
        report.age, report.lag = age, lag(windows, cursors)
        chain = None
        if report.unfinished and until is not None:
            report.chain = self._ports.chance.nonce()
            chain = Chain(id=report.chain, until=clock.now() + within, slices=slices)
        after = SliceState(
            fence=state.fence + 1,
            cursors={**state.cursors, **cursors},  # of others' shards what they may not know yet
            swept=swept,
            paced=pacer.ends(),
            ticked_at=now,
            backed_up=dispatcher.backed_up(),
            chain=chain,
        )
        report.saved = self._cursors.save(slice_number, after)
        return report


class _Tick:
    def __init__(
        self, dispatcher: Dispatcher, index: WakeIndex, *, now: Millis, until: Millis | None
    ) -> None:
        self._dispatcher = dispatcher
        self._index = index
        self._now = now
        self._until = until
        self._deadline = until  # of the work at hand
        self._more_to_put = False  # of a schedule, and at once
        self.report = TickReport()

    def take_shares(self, near: Near, behind: Backlog) -> None:
        """Take each sort of work for its share of the time, so that none waits for the end of
        another. Fresh work comes first; a share that is not used up goes to the next sort. What
        there was no time for stays in `near` and `behind`."""
        self._begin_share(FRESH_SHARE)
        near.fresh = self.take(near.fresh)
        self._begin_share(1 / 4)
        near.schedules = self.take(near.schedules)
        self._begin_share(1 / 3)
        near.watches = self.take(near.watches)
        self._begin_share(1 / 2)  # after a day's outage even reading takes longer than a tick may
        self.catch_up(behind)
        self._begin_share(1 / 2)
        near.overdue = self.take(near.overdue)
        self._begin_share(1 / 2)  # the sweep's

    def take_rest(self, near: Near, behind: Backlog) -> None:
        """Spend the time that is left on what the shares left over. The next tick comes at once
        if there is still more, but not for what waits for a slot: that waits for the next
        minute."""
        self._deadline = self._until
        near.fresh = self.take(near.fresh)
        near.schedules = self.take(near.schedules)
        near.watches = self.take(near.watches)
        if not self.report.held_back:
            self.catch_up(behind)
        near.overdue = self.take(near.overdue)
        left = near.fresh or near.schedules or near.watches or near.overdue
        got_on = behind.moved or behind.taken or self.out_of_time()
        more_behind = not behind.done and got_on and not self.report.held_back
        self.report.held_back += near.left
        self.report.unfinished = bool(left) or near.more or more_behind or self._more_to_put

    def take(self, wakes: Iterable[Wake]) -> list[Wake]:
        """Claim what is to be dispatched, put what schedules call for, look at what is to be
        watched, the higher lanes first and the oldest of a lane before the rest. Returns what
        there was no time for."""
        ordered = sorted(wakes, key=lambda found: (found.lane.rank, found.at))
        due = [w for w in ordered if w.at <= self._now]
        left = self._in_batches(
            [w for w in ordered if w.kind is WakeKind.DISPATCH], self._dispatcher.claim
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.SCHEDULE], self._dispatcher.materialise
        )
        left += self._in_batches(
            [w for w in due if w.kind is WakeKind.WATCH], self._dispatcher.watch
        )
        return left

    def catch_up(self, behind: Backlog) -> None:
        """Work off what lies behind, from where it was left."""
        done = self.report.taken
        behind.left = self.take(behind.left)
        while not behind.left and not behind.done and not self.out_of_time():
            behind.left = self.take(behind.read_on(self._index))
        behind.taken += self.report.taken - done

    def sweep(self, swept: int, behind: Backlog, shards: Shards) -> int:
        """Returns the minute that was swept last. One in which something had to wait is read
        again by the next tick: no cursor comes back to it."""
        for minute in sweep(swept, shards, now=self._now):
            held_back = self.report.held_back
            for w in behind.windows:
                if minute not in w.behind:
                    self.take(self._index.wakes(minute, w.shard))
            if self.out_of_time() or self.report.held_back > held_back:
                break
            swept = minute
        return swept

    def out_of_time(self) -> bool:
        return self._deadline is not None and self._monotonic() >= self._deadline

    def _begin_share(self, share: float) -> None:
        """What follows gets this share of the time that the tick has left."""
        if self._until is not None:
            now = self._monotonic()
            self._deadline = now + int((self._until - now) * share)

    def _monotonic(self) -> Millis:
        return self._dispatcher.ports.clock.monotonic()

    def _in_batches(self, wakes: Sequence[Wake], take: Take) -> list[Wake]:
        """Returns those that there was no time for."""
        for start in range(0, len(wakes), BATCH):
            if self.out_of_time():
                return list(wakes[start:])
            batch = wakes[start : start + BATCH]
            admitted = [found for found in batch if self._dispatcher.admits(found)]
            self.report.held_back += len(batch) - len(admitted)
            if admitted:
                self._take_batch(admitted, take)
        return []

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
        self._more_to_put |= done.more_to_put

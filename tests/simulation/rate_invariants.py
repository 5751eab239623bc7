"""What must always hold of tasks under a rate limit.

A limit hands out at most count + burst times in any period. Every start has one of them to itself,
is not before it, and comes soon after it. So in any period there are at most count + burst starts,
and those that came late. No task starts while its limit is blocked, and no wait uses an attempt.
The n-th task that waits has its time within n intervals.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from duetime.core.change import Change
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import Status, Step
from duetime.core.limits.definition import Rate
from duetime.core.limits.rate import RateKey, SlotRequest, grant_life, interval, tolerance
from duetime.core.quotas import NANOS_PER_MILLI, Nanos
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

GATE_TAKES: Millis = 10 * SECOND  # at most, from its look at the limit to the lease

RATES = {
    "slow": Rate(count=2, period=50 * SECOND),
    "bursts": Rate(count=3, period=MINUTE, burst=2),
    "quick": Rate(count=7, period=SECOND),
}

Blame = Callable[[str, str], None]


class RateInvariants:
    """`blame` gets each violation, and the id of its task."""

    def __init__(self, engine: Engine, faults: Faults, blame: Blame) -> None:
        self._engine = engine
        self._faults = faults
        self._blame = blame
        self._rates: dict[RateKey, Rate] = {}
        self._slots: dict[RateKey, list[Millis]] = defaultdict(list)
        self._blocks: dict[RateKey, list[tuple[Millis, Millis]]] = defaultdict(list)
        self._sent: Counter[tuple[str, Millis | None]] = Counter()
        self.starts: dict[RateKey, list[tuple[Millis, str]]] = defaultdict(list)

    # the clocks

    def handed_out(self, request: SlotRequest, slots: Sequence[Millis]) -> None:
        key, rate = request.key, request.rate
        self._rates[key] = rate
        self._check_wait(request, slots)
        most, handed_out = rate.count + rate.burst, self._slots[key]
        for slot in slots:
            insort(handed_out, slot)
        for slot in slots:
            place = bisect_left(handed_out, slot)
            around = handed_out[max(place - most, 0) : place + most + 1]
            crowded = zip(around, around[most:], strict=False)
            if any(last - first < rate.period for first, last in crowded):
                self._blame(f"{key.name} handed out more than {most} times in a period", key.name)

    def _check_wait(self, request: SlotRequest, slots: Sequence[Millis]) -> None:
        """The n-th task that waits has its time within n intervals, from now or from the end of a
        pause on. Every time that is not over counts as a task, also one that was wasted. A process
        that was frozen asks with an old `now`."""
        key, rate, now = request.key, request.rate, request.asked_at
        over = now - millis_of(tolerance(rate)) - 2 * self._faults.skew
        ahead = len(self._slots[key]) - bisect_left(self._slots[key], over)
        begins = [now, self._engine.now, *(until for _, until in self._blocks[key])]
        begin = max(begins) + 2 * self._faults.skew
        for place, slot in enumerate(slots, start=1):
            if slot > begin + millis_of((ahead + place) * interval(rate)):
                self._blame(f"has to wait {slot - now} ms for {ahead + place} tasks", key.name)

    def blocked(self, key: RateKey, until: Millis) -> None:
        self._blocks[key].append((self._engine.now, until))

    # the tasks

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if change.step is Step.LEASE and before.status is not Status.RUNNING:
            self._leased(process, after)
        if after.grant is not None and change.step is Step.DEFER:
            if (after.attempt, after.budget) != (before.attempt, before.budget):
                self._blame("waited for its rate, and other attempts are left", after.id)
            if after.due_at != after.grant:
                self._blame("waits for its rate, and is due at another time", after.id)

    def sent_again(self, delivery: Delivery) -> int:
        """Counts the messages that carry one grant."""
        grant = delivery.limits.grant if delivery.limits else None
        self._sent[delivery.token, grant] += 1
        return self._sent[delivery.token, grant]

    def _leased(self, process: Process, task: Task) -> None:
        key = self._key(task)
        if key is None or task.current is None:
            return
        started_at = task.current.started_at
        disturbed = self._engine.now - process.disturbed_at < 2 * GATE_TAKES
        if not disturbed:
            self.starts[key].append((started_at, task.id))
        if task.grant is not None:
            self._blame("started, and keeps its grant for the next attempt", task.id)
        for blocked_at, until in self._blocks[key]:
            seen = blocked_at < self._engine.now - GATE_TAKES
            if seen and started_at < until and not disturbed:
                self._blame(f"started {until - started_at} ms before its limit was free", task.id)

    def check(self) -> None:
        """Gives every start the earliest time that it may have used, in the order of the starts as
        the clocks of their processes say. Starts of processes that were frozen between their look
        at the limit and the lease are left out: they come late."""
        for key, starts in self.starts.items():
            slots, place = sorted(self._slots[key]), 0
            for at, task_id in sorted(starts):
                oldest = at - grant_life(self._rates[key]) - GATE_TAKES
                place = bisect_left(slots, oldest, lo=place)
                if place == len(slots) or slots[place] > at:
                    near = [slot - at for slot in slots[max(place - 2, 0) : place + 2]]
                    self._blame(f"started without a time of its own; nearest are {near}", task_id)
                    break
                place += 1

    def _key(self, task: Task) -> RateKey | None:
        for use in task.spec.limits:
            if use.name in RATES:
                return RateKey(namespace=task.spec.namespace, name=use.name, key=use.key)
        return None


def millis_of(span: Nanos) -> Millis:
    return -(-span // NANOS_PER_MILLI)

"""Virtual time and its processes.

Everything runs in one thread. A process is a greenlet: it runs until it sleeps, and time passes
only while every process sleeps. So the seed alone decides a run.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random

from greenlet import getcurrent, greenlet

from duetime.core.times import SECOND, Millis
from tests.factories import NOW
from tests.simulation.trace import Trace

Action = Callable[[], object]


class Killed(BaseException):
    """Raised in a killed process: it does nothing more."""


class Engine:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        # The ticks draw from a generator of their own, and so do the clients that change tasks and
        # the bulk operations, so that the other draws of a seed do not change with them.
        self.scanner_random = Random(f"scanner {seed}")
        self.change_random = Random(f"change {seed}")
        self.bulk_random = Random(f"bulk {seed}")
        self.now: Millis = NOW
        self.trace = Trace(NOW)
        self._events: list[tuple[Millis, int, Action]] = []
        self._order = count()
        self._hub = getcurrent()

    def at(self, when: Millis, action: Action) -> None:
        heappush(self._events, (max(when, self.now), next(self._order), action))

    def after(self, delay: Millis, action: Action) -> None:
        self.at(self.now + delay, action)

    def run(self, until: Millis, done: Callable[[], bool]) -> bool:
        """Lets time pass until `done`, or until the time `until`; returns whether it is done."""
        while not done():
            if not self._events or self._events[0][0] > until:
                self.now = max(until, self.now)
                return done()
            self.now, _, action = heappop(self._events)
            action()
        return True

    def chance(self, probability: float) -> bool:
        return probability > 0 and self.random.random() < probability

    def between(self, low: float, high: float) -> Millis:
        """Returns a random time in ms between two numbers of seconds."""
        return round(self.random.uniform(low, high) * SECOND)

    def yield_to_hub(self) -> None:
        self._hub.switch()


class SkewedClock:
    """`since_start` is what its monotonic clock shows at the time 0: each machine begins anew."""

    def __init__(self, engine: Engine, skew: Millis, since_start: Millis = 0) -> None:
        self._engine = engine
        self._skew = skew
        self._since_start = since_start

    def now(self) -> Millis:
        return self._engine.now + self._skew

    def monotonic(self) -> Millis:
        """Returns a time that is not skewed, and goes on while a process is frozen."""
        return self._engine.now + self._since_start

    def when(self, monotonic: Millis) -> Millis:
        """Returns the engine's time at a monotonic time."""
        return monotonic - self._since_start


def current() -> "Process":
    """Returns the process that runs now."""
    found: Process = getcurrent().process  # type: ignore[attr-defined]
    return found


class Process:
    """A process that can be killed and frozen: the sandbox of a Lambda function, or a runner."""

    def __init__(self, engine: Engine, name: str, main: Callable[["Process"], object]) -> None:
        self.engine = engine
        self.name = name
        self.clock = SkewedClock(engine, 0)
        self.alive = True
        self.killed = False  # also while its code takes that for the failure of a target
        self.frozen = False
        self.call_takes: Millis = 0  # each call to a backend
        self.disturbed_at: Millis = 0  # when it was last delayed for long
        self.held_until: Millis = 0  # it neither begins nor wakes before
        self.acts_for: Process = self  # the HTTP worker whose call it answers
        self.of_runner = True  # all are but HTTP workers; it dies with the runner
        self.on_thaw: Action = lambda: None
        self.on_end: Callable[[bool], object] = lambda killed: None
        self._main = main
        self._nap = 0  # counts its sleeps, so that the timer of an earlier sleep wakes nothing
        self._restless = False
        self._greenlet = greenlet(self._live)
        self._greenlet.process = self  # type: ignore[attr-defined]

    def start(self, delay: Millis = 0) -> None:
        def begin() -> None:
            if self.held_until > self.engine.now:
                self.engine.at(self.held_until, begin)
            else:
                self._greenlet.switch()

        self.engine.after(delay, begin)

    def sleep_until(self, when: Millis, *, restless: bool = False) -> None:
        """Sleeps. `nudge` can wake a restless sleeper early."""
        self._nap += 1
        self._restless = restless
        self._wake_at(when)
        self.engine.yield_to_hub()

    def nudge(self, when: Millis) -> None:
        if self.alive and self._restless:
            self._wake_at(when)

    def freeze(self, span: Millis) -> None:
        """Stops the process and its handlers for a while; it does not notice."""
        self.note("frozen", span)
        self.frozen = True
        self.sleep_until(self.engine.now + span)
        self.frozen = False
        self.disturbed_at = self.engine.now
        self.note("thawed")
        self.on_thaw()

    def kill(self) -> None:
        """Kills the process from outside where it sleeps, if it has begun."""
        if self.alive and self._greenlet and getcurrent() is not self._greenlet:
            self._nap += 1
            self.killed = True
            self._greenlet.throw(Killed)

    def end(self) -> None:
        """Kills the process at the end of the world, without `on_end`."""
        self.on_end = lambda killed: None
        self.kill()

    def note(self, what: str, *details: object) -> None:
        self.engine.trace.add(self.engine.now, self.name, what, details)

    def _wake_at(self, when: Millis) -> None:
        nap = self._nap

        def wake() -> None:
            if self.alive and nap == self._nap:
                if self.held_until > self.engine.now:
                    self.engine.at(self.held_until, wake)
                    return
                self._nap += 1
                self._greenlet.switch()

        self.engine.at(when, wake)

    def _live(self) -> None:
        killed = False
        try:
            self._main(self)
        except Killed:
            killed = True
            self.note("killed")
        finally:
            self.alive = False
        self.on_end(killed)

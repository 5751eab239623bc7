"""Virtual time and the processes that live in it.

One thread, one seed. A process is a greenlet: it runs until it sleeps, and time only passes
while every process sleeps. So a run is decided by its seed alone.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random

from greenlet import getcurrent, greenlet

from lambdas.core.ids import new_id
from lambdas.core.rules import Draw
from lambdas.core.times import SECOND, Millis
from tests.factories import NOW
from tests.simulation.trace import Trace

Action = Callable[[], object]


class Killed(BaseException):
    """What a killed process is thrown: nothing that it planned happens any more."""


class Engine:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        # What the scanner's ticks are like: a seed's other draws stay what they were without it.
        self.scanner_random = Random(f"scanner {seed}")
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
        """Let time pass until `done`, at most until then; whether it was done."""
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
        """Some time from low to high, in seconds."""
        return round(self.random.uniform(low, high) * SECOND)

    def yield_to_hub(self) -> None:
        self._hub.switch()


class Dice:
    """The roles' chance, out of the seed."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self) -> Draw:
        rest = self._random.random
        return Draw(luck=rest(), spread=rest(), nonce=self.nonce())

    def nonce(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def new_id(self, now: Millis) -> str:
        return new_id(now, self._random.getrandbits(80))


class SkewedClock:
    def __init__(self, engine: Engine, skew: Millis) -> None:
        self._engine = engine
        self._skew = skew

    def now(self) -> Millis:
        return self._engine.now + self._skew

    def monotonic(self) -> Millis:
        """Not skewed, and it goes on while a process is frozen."""
        return self._engine.now


class Process:
    """Something that can be killed and frozen: a Lambda's sandbox, or a runner."""

    def __init__(self, engine: Engine, name: str, main: Callable[["Process"], object]) -> None:
        self.engine = engine
        self.name = name
        self.clock = SkewedClock(engine, 0)
        self.alive = True
        self.frozen = False
        self.call_takes: Millis = 0  # each call to a backend
        self.disturbed_at: Millis = 0  # when it was last held up for long
        self.on_thaw: Action = lambda: None
        self.on_end: Callable[[bool], object] = lambda killed: None
        self._main = main
        self._nap = 0  # counts its sleeps, so that a timer of an earlier one wakes nobody
        self._restless = False
        self._greenlet = greenlet(self._live)

    def start(self, delay: Millis = 0) -> None:
        self.engine.after(delay, self._greenlet.switch)

    def sleep_until(self, when: Millis, *, restless: bool = False) -> None:
        """A restless sleeper can be woken early, see `nudge`."""
        self._nap += 1
        self._restless = restless
        self._wake_at(when)
        self.engine.yield_to_hub()

    def nudge(self, when: Millis) -> None:
        if self.alive and self._restless:
            self._wake_at(when)

    def freeze(self, span: Millis) -> None:
        """Nothing in it goes on, its handlers included; it does not notice."""
        self.note("frozen", span)
        self.frozen = True
        self.sleep_until(self.engine.now + span)
        self.frozen = False
        self.disturbed_at = self.engine.now
        self.note("thawed")
        self.on_thaw()

    def kill(self) -> None:
        """From outside, wherever it sleeps. One that has not begun is left alone."""
        if self.alive and self._greenlet and getcurrent() is not self._greenlet:
            self._nap += 1
            self._greenlet.throw(Killed)

    def end(self) -> None:
        """The world is over: nothing is to follow from it."""
        self.on_end = lambda killed: None
        self.kill()

    def note(self, what: str, *details: object) -> None:
        self.engine.trace.add(self.engine.now, self.name, what, details)

    def _wake_at(self, when: Millis) -> None:
        nap = self._nap

        def wake() -> None:
            if self.alive and nap == self._nap:
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

"""The network between one process and its backends: every call can fail on the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.times import SECOND
from tests.simulation.engine import Killed, Process
from tests.simulation.faults import Faults

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Network:
    process: Process
    faults: Faults

    def call(self, act: Callable[[], T]) -> T:
        """Makes a call that may raise Unavailable, before it was made or after."""
        return self.carry(lambda: self._answer(act))

    def write_each(
        self,
        values: Sequence[T],
        write: Callable[[T], R],
        repeated: Callable[[T, R, R], object],
    ) -> list[R | Unknown]:
        """Makes several writes in one call. The table is throttled as a whole, or for one of them.
        `repeated` gets the value and both answers of a write that the SDK made twice."""
        if not values:
            return []
        return self.carry(lambda: self._write_all(values, write, repeated))

    def carry(self, act: Callable[[], T]) -> T:
        """Makes a call. The process can be killed or frozen before it, and after: then the call
        was made, and its caller never learns of it."""
        process = self.process
        if process.call_takes:
            process.sleep_until(process.engine.now + process.call_takes)
        self.disturb()
        answer = act()
        self.disturb()
        return answer

    def _answer(self, act: Callable[[], T]) -> T:
        engine = self.process.engine
        if engine.chance(self.faults.unanswered):
            raise Unavailable("throttled")
        answer = act()
        if engine.chance(self.faults.answer_lost):
            raise Unavailable("the answer was lost")
        return answer

    def _write_all(
        self,
        values: Sequence[T],
        write: Callable[[T], R],
        repeated: Callable[[T, R, R], object],
    ) -> list[R | Unknown]:
        if self.process.engine.chance(self.faults.unanswered):
            return [Unknown("throttled")] * len(values)
        return [self._write(value, write, repeated) for value in values]

    def _write(
        self, value: T, write: Callable[[T], R], repeated: Callable[[T, R, R], object]
    ) -> R | Unknown:
        engine, faults = self.process.engine, self.faults
        if engine.chance(faults.unanswered):
            return Unknown("throttled")
        if engine.chance(faults.late):
            engine.after(engine.between(0, 5), lambda: write(value))
            return Unknown("timed out, and written later")
        answer = write(value)
        if engine.chance(faults.repeated):
            repeated(value, answer, write(value))
        return Unknown("the answer was lost") if engine.chance(faults.answer_lost) else answer

    def disturb(self) -> None:
        process, engine, faults = self.process, self.process.engine, self.faults
        if engine.chance(faults.killed):
            process.killed = True
            raise Killed
        if engine.chance(faults.frozen):
            process.freeze(engine.between(1, 300))
        elif engine.chance(faults.slow):
            longest = 20 if engine.chance(0.1) else 1
            if longest > 1:
                process.disturbed_at = engine.now + longest * SECOND
            process.sleep_until(engine.now + engine.between(0, longest))

"""One call to a backend, and all that can happen around it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from lambdas.core.change import Unknown
from lambdas.core.errors import Unavailable
from lambdas.core.times import SECOND
from tests.simulation.engine import Killed, Process
from tests.simulation.faults import Faults

T = TypeVar("T")
R = TypeVar("R")


def called(process: Process, faults: Faults, act: Callable[[], T]) -> T:
    """The process can be killed or frozen before it, and after: then it was made, and its
    caller never learns."""
    if process.call_takes:
        process.sleep_until(process.engine.now + process.call_takes)
    _on_the_way(process, faults)
    answer = act()
    _on_the_way(process, faults)
    return answer


def answered(process: Process, faults: Faults, act: Callable[[], T]) -> T:
    """A call that fails as a whole, before it was made or after."""
    if process.engine.chance(faults.unanswered):
        raise Unavailable("throttled")
    answer = act()
    if process.engine.chance(faults.answer_lost):
        raise Unavailable("the answer was lost")
    return answer


def fates(
    process: Process,
    faults: Faults,
    values: Sequence[T],
    write: Callable[[T], R],
    repeated: Callable[[T, R, R], object],
) -> list[R | Unknown]:
    """Of several writes each has its own. The table is throttled as a whole, or one of them has
    bad luck. `repeated` hears of a write that was made twice, and of both answers."""
    if process.engine.chance(faults.unanswered):
        return [Unknown("throttled")] * len(values)
    return [_fate(process, faults, value, write, repeated) for value in values]


def _fate(
    process: Process,
    faults: Faults,
    value: T,
    write: Callable[[T], R],
    repeated: Callable[[T, R, R], object],
) -> R | Unknown:
    engine = process.engine
    if engine.chance(faults.unanswered):
        return Unknown("throttled")
    if engine.chance(faults.late):
        engine.after(engine.between(0, 5), lambda: write(value))
        return Unknown("given up, and made later")
    answer = write(value)
    if engine.chance(faults.repeated):
        repeated(value, answer, write(value))
    return Unknown("the answer was lost") if engine.chance(faults.answer_lost) else answer


def _on_the_way(process: Process, faults: Faults) -> None:
    engine = process.engine
    if engine.chance(faults.killed):
        raise Killed
    if engine.chance(faults.frozen):
        process.freeze(engine.between(1, 300))
    elif engine.chance(faults.slow):
        longest = 20 if engine.chance(0.1) else 1
        if longest > 1:
            process.disturbed_at = engine.now + longest * SECOND
        process.sleep_until(engine.now + engine.between(0, longest))

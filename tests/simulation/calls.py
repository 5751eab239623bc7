"""One call to a backend, and all that can happen around it."""

from collections.abc import Callable
from typing import TypeVar

from lambdas.core.errors import Unavailable
from lambdas.core.times import SECOND
from tests.simulation.engine import Killed, Process
from tests.simulation.faults import Faults

T = TypeVar("T")


def called(process: Process, faults: Faults, act: Callable[[], T]) -> T:
    """The process can be killed or frozen before it, and after: then it was made, and its
    caller never learns."""
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

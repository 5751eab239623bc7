"""/v1/health: whether Duetime does its work and, if not, why.

What is to be checked depends on where the API runs, so it is given a function that looks: the
local runner knows its threads, a deployed API only the table.
"""

from collections.abc import Callable, Sequence
from typing import Any

from lambdas.api.http import Problem
from lambdas.core.errors import Unavailable
from lambdas.core.ports import Clock, CursorStore, TaskStore
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.values import value

LATE: Millis = 3 * MINUTE  # a tick comes every minute
NO_TASK = "0" * 26  # an id that no task has


@value(frozen=True, kw_only=True, slots=True)
class Check:
    """`reason` says what is wrong; None if nothing is."""

    name: str
    reason: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class Health:
    checks: Sequence[Check]
    tick_age: Millis | None = None  # since the last tick; None if it is not known

    def told(self) -> dict[str, Any]:
        return {
            "last_tick_age": None if self.tick_age is None else self.tick_age / SECOND,
            "checks": {check.name: check.reason or "ok" for check in self.checks},
        }

    def problem(self) -> Problem | None:
        """What says no, with everything that is wrong; None if nothing is."""
        wrong = [f"{check.name}: {check.reason}" for check in self.checks if check.reason]
        if not wrong:
            return None
        return Problem(503, "unhealthy", "Duetime is not healthy", "; ".join(wrong))


Look = Callable[[], Health]


def store_answers(store: TaskStore) -> Look:
    """The store can be read."""

    def look() -> Health:
        return Health(checks=[_asked(lambda: store.get([NO_TASK]))])

    return look


def scanner_ticks(cursors: CursorStore, clock: Clock) -> Look:
    """The store can be read, and the scanner has made a tick within three minutes. With several
    slices it looks at the first: an alarm watches each of them."""

    def look() -> Health:
        now = clock.now()
        try:
            ticked_at = cursors.load(0).ticked_at
            since = cursors.shards(now).since if ticked_at is None else ticked_at
        except Unavailable as error:
            return Health(checks=[Check(name="store", reason=str(error))])
        age = max(now - since, 0)
        reason = f"no tick for {age // SECOND} s" if age > LATE else None
        checks = [Check(name="store"), Check(name="scanner", reason=reason)]
        return Health(checks=checks, tick_age=None if ticked_at is None else age)

    return look


def _asked(ask: Callable[[], object]) -> Check:
    try:
        ask()
    except Unavailable as error:
        return Check(name="store", reason=str(error))
    return Check(name="store")

"""/v1/health: whether Duetime works and, if not, why.

What can be checked depends on where the API runs, so the API takes a probe: the local runner knows
its threads, a deployed API only the table.
"""

from collections.abc import Callable, Sequence
from typing import Any

from duetime.api.http import Problem
from duetime.core.errors import Unavailable
from duetime.core.ports import Clock, CursorStore, TaskStore
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.value import value

MAX_TICK_AGE: Millis = 3 * MINUTE  # there is a tick every minute
UNUSED_ID = "0" * 26  # no task has this id


@value(frozen=True, kw_only=True, slots=True)
class Check:
    """`reason` says what is wrong, or is None if the check passed."""

    name: str
    reason: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class Health:
    checks: Sequence[Check]
    tick_age: Millis | None = None  # since the last tick; None if it is unknown

    def json(self) -> dict[str, Any]:
        return {
            "last_tick_age": None if self.tick_age is None else self.tick_age / SECOND,
            "checks": {check.name: check.reason or "ok" for check in self.checks},
        }

    def problem(self) -> Problem | None:
        """Returns a problem that names every failed check, or None if all passed."""
        wrong = [f"{check.name}: {check.reason}" for check in self.checks if check.reason]
        if not wrong:
            return None
        return Problem(503, "unhealthy", "Duetime is not healthy", "; ".join(wrong))


HealthProbe = Callable[[], Health]


def store_health(store: TaskStore) -> HealthProbe:
    """Checks that the store can be read."""

    def read() -> Health:
        return Health(checks=[_check_store(lambda: store.get([UNUSED_ID]))])

    return read


def scanner_health(cursors: CursorStore, clock: Clock) -> HealthProbe:
    """Checks that the store can be read and that the scanner had a tick within three minutes.

    With several slices it checks the first one only: an alarm watches each of them."""

    def read() -> Health:
        now = clock.now()
        try:
            ticked_at = cursors.load(0).ticked_at
            since = cursors.shards(now).since if ticked_at is None else ticked_at
        except Unavailable as error:
            return Health(checks=[Check(name="store", reason=str(error))])
        age = max(now - since, 0)
        reason = f"no tick for {age // SECOND} s" if age > MAX_TICK_AGE else None
        checks = [Check(name="store"), Check(name="scanner", reason=reason)]
        return Health(checks=checks, tick_age=None if ticked_at is None else age)

    return read


def _check_store(read: Callable[[], object]) -> Check:
    try:
        read()
    except Unavailable as error:
        return Check(name="store", reason=str(error))
    return Check(name="store")

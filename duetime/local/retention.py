"""Retention in the local runner: removes tasks and runs that were kept long enough, in batches.

DynamoDB does this by itself, with the table's TTL. A sweep has no state that a restart could lose:
it reads the tasks that may leave, earliest end first, and those that it removed are not there any
more.
"""

import logging
from collections.abc import Callable

from duetime.core.change import Applied
from duetime.core.listings import EndedListing
from duetime.core.ports import Ports
from duetime.core.times import MINUTE, Millis
from duetime.engine.clock import ClockJumps
from duetime.engine.removal import remove_runs, remove_tasks

log = logging.getLogger(__name__)

BATCH = 200  # tasks removed by one commit; writers wait a few milliseconds for it
PAUSE: Millis = 50  # between two batches: at most 4,000 tasks a second leave
SWEEP_EVERY: Millis = MINUTE
# A clock that was set may be wrong. By then its owner may have noticed, and it is set back.
JUMP_PAUSE: Millis = 60 * MINUTE

Sweep = Callable[[], Millis]  # does a part of its work; returns how long to wait for the next


class RetentionSweep:
    """`retention` is how long a task is kept after its end."""

    def __init__(self, ports: Ports, retention: Millis) -> None:
        self._ports = ports
        self._retention = retention
        self._clock_jumps = ClockJumps(ports.clock)
        self._cursor: str | None = None

    def __call__(self) -> Millis:
        """Removes one batch. Returns how long to wait before the next."""
        if self._clock_jumps.seen():
            log.warning("removals postponed: the clock was set", extra={"step": "remove"})
            return JUMP_PAUSE
        page = self._ports.store.ended(
            EndedListing(
                as_of=self._ports.clock.now(),
                kept_for=self._retention,
                limit=BATCH,
                cursor=self._cursor,
            )
        )
        answers = remove_tasks(self._ports, page.tasks)
        removed = sum(isinstance(answer, Applied) for answer in answers)
        if removed:
            log.debug("tasks removed", extra={"step": "remove", "count": removed})
        self._cursor = page.cursor
        before = self._ports.clock.now() - self._retention
        more_runs = remove_runs(self._ports, before, BATCH) == BATCH
        return SWEEP_EVERY if page.cursor is None and not more_runs else PAUSE

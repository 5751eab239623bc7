"""Hints: many tasks are due in the same minute, and `jitter` would spread them.

The number is approximate, and cheap. A process counts what it submits; once it has put UNCHECKED
tasks into a minute, it also reads one bucket of the wake index, at most once a minute and only as
far as needed. Ids are spread evenly over the shards, so one bucket is a sample of all. A crowded
minute is not read again for a while.
"""

import logging
from itertools import islice
from math import ceil

from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis, rfc3339
from duetime.core.value import value
from duetime.core.wakes import Wake, WakeKind, minute_of

MARK = 1_000  # tasks in a minute, by default
UNCHECKED = 10  # tasks that this process puts into a minute before it reads the index
CHECKED_FOR: Millis = MINUTE
CROWDED_FOR: Millis = 10 * MINUTE
MAX_REMEMBERED = 1_000  # minutes

log = logging.getLogger(__name__)


@value(slots=True)
class _Minute:
    """What this process knows of a minute: its own tasks, and those that it has found."""

    own: int = 0
    found: int = 0
    next_check: Millis = 0  # by the monotonic clock


class CrowdedMinutes:
    """`mark` is the number of tasks from which on a minute is crowded; 0: there are no hints.

    Requests run concurrently without a lock: a count may miss some, and is approximate anyway."""

    def __init__(self, ports: Ports, mark: int = MARK) -> None:
        self._ports = ports
        self._mark = mark
        self._minutes: dict[int, _Minute] = {}

    def hints(self, task: Task) -> list[dict[str, str]]:
        """Returns the hints about a task that was stored now, mostly none. A task that is due
        within the horizon gets none: it is on its way."""
        wake = task.wake
        if not self._mark or wake is None or wake.kind is not WakeKind.DISPATCH:
            return []
        minute = self._minute(minute_of(task.due_at))
        minute.own += 1
        if minute.own >= UNCHECKED and not task.spec.jitter:
            self._check(minute, wake)
        if task.spec.jitter or max(minute.own, minute.found) < self._mark:
            return []
        at = rfc3339(minute_of(task.due_at) * MINUTE)
        message = f"about {self._mark:,} tasks or more are due in the minute of {at}; jitter"
        return [{"field": "jitter", "message": f"{message} spreads them"}]

    def _minute(self, number: int) -> _Minute:
        if number not in self._minutes and len(self._minutes) >= MAX_REMEMBERED:
            self._minutes.clear()
        return self._minutes.setdefault(number, _Minute())

    def _check(self, minute: _Minute, wake: Wake) -> None:
        now = self._ports.clock.monotonic()
        if now < minute.next_check:
            return
        minute.next_check = now + CHECKED_FOR
        try:
            minute.found = self._read(wake)
        except Unavailable as error:  # the task is stored: only the hint is missing
            log.info("crowded minute not checked: %s", error, extra={"step": "submit"})
            return
        if minute.found >= self._mark:
            minute.next_check = now + CROWDED_FOR

    def _read(self, wake: Wake) -> int:
        shards = self._ports.wake_policy.shards
        shard = int(wake.bucket.partition("#")[2])
        wakes = self._ports.store.wakes(minute_of(wake.at), shard, WakeKind.DISPATCH)
        return sum(1 for _ in islice(wakes, ceil(self._mark / shards))) * shards

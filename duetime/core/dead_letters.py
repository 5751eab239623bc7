"""A page of dead tasks, assembled in the same way over every backend.

A backend keeps an index of deaths. The index may lag: it can list a task that has been revived, or
an earlier death of a task that has died again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from duetime.core.ids import is_id
from duetime.core.listings import DeadListing, Page
from duetime.core.task import Task
from duetime.core.times import Millis

MAX_INDEX_READS = 32  # for one page
MAX_TASKS_READ = 500  # for one page

_DIGITS = 13
_LATEST: Millis = 10**_DIGITS - 1


class Death(NamedTuple):
    """A position in the list. Its keys sort in the same order."""

    died_at: Millis
    task_id: str  # empty: before every task that died at that time

    @property
    def key(self) -> str:
        return f"{self.died_at:0{_DIGITS}d}#{self.task_id}"

    @property
    def cursor(self) -> str:
        return f"{self.died_at:0{_DIGITS}d}-{self.task_id}"


def death_of(key: str) -> Death:
    died_at, _, task_id = key.partition("#")
    return Death(int(died_at), task_id)


Deaths = tuple[Sequence[Death], bool]  # newest first; whether more follow
Reader = Callable[[Death, Death, int], Deaths]  # from below one, down to another, how many


def dead_page(
    listing: DeadListing, read: Reader, load: Callable[[Sequence[str]], Mapping[str, Task]]
) -> Page:
    place, last = _start(listing), Death(_clamped(listing.since or 0), "")
    found: list[Task] = []
    looked_at, wanted = 0, listing.limit
    for _ in range(MAX_INDEX_READS):
        deaths, more = read(place, last, wanted) if place > last else ((), False)
        tasks = load([death.task_id for death in deaths])
        for death in deaths:
            place = death
            if _is_current(death, tasks) and listing.wants(tasks[death.task_id]):
                found.append(tasks[death.task_id])
            if len(found) == listing.limit:
                return Page(tasks=found, cursor=place.cursor)
        if not more:
            return Page(tasks=found, cursor=None)
        looked_at += len(deaths)
        if looked_at >= MAX_TASKS_READ:
            break
        wanted = min(2 * wanted, MAX_TASKS_READ - looked_at)  # the filter rejects most tasks
    return Page(tasks=found, cursor=place.cursor)


def _start(listing: DeadListing) -> Death:
    before = Death(_clamped(_LATEST if listing.before is None else listing.before), "")
    return before if listing.cursor is None else min(before, _place_of(listing.cursor))


def _place_of(cursor: str) -> Death:
    died_at, _, task_id = cursor.partition("-")
    if not (len(died_at) == _DIGITS and died_at.isascii() and died_at.isdigit() and is_id(task_id)):
        raise ValueError("not a cursor of this list")
    return Death(int(died_at), task_id)


def _clamped(at: Millis) -> Millis:
    """Keys have a fixed number of digits; no task died outside their range."""
    return min(max(at, 0), _LATEST)


def _is_current(death: Death, tasks: Mapping[str, Task]) -> bool:
    task = tasks.get(death.task_id)
    return task is not None and task.updated_at == death.died_at

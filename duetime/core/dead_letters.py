"""A page of dead tasks, put together in one way over every backend.

A backend has an index of deaths, which may lag behind: it can still hold a task that was revived,
and one that died again under its earlier death.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lambdas.core.ids import is_id
from lambdas.core.ports import DeadListing, Page
from lambdas.core.task import Task
from lambdas.core.times import Millis

MOST_ROUNDS = 32  # of reading the index, for one page
MOST_TASKS = 500  # that one page may look at

_DIGITS = 13
_LATEST: Millis = 10**_DIGITS - 1


class Death(NamedTuple):
    """A place in the list; its keys sort as it does."""

    died_at: Millis
    task_id: str  # empty: before all others of that time

    @property
    def key(self) -> str:
        return f"{self.died_at:0{_DIGITS}d}#{self.task_id}"

    @property
    def cursor(self) -> str:
        return f"{self.died_at:0{_DIGITS}d}-{self.task_id}"


def death_of(key: str) -> Death:
    died_at, _, task_id = key.partition("#")
    return Death(int(died_at), task_id)


Deaths = tuple[Sequence[Death], bool]  # newest first; whether there are more
Reader = Callable[[Death, Death, int], Deaths]  # below the first, not below the second, how many


def dead_page(
    listing: DeadListing, read: Reader, load: Callable[[Sequence[str]], Mapping[str, Task]]
) -> Page:
    place, last = _start(listing), Death(_clamped(listing.since or 0), "")
    found: list[Task] = []
    looked_at, wanted = 0, listing.limit
    for _ in range(MOST_ROUNDS):
        deaths, more = read(place, last, wanted) if place > last else ((), False)
        tasks = load([death.task_id for death in deaths])
        for death in deaths:
            place = death
            if _stands(death, tasks) and listing.wants(tasks[death.task_id]):
                found.append(tasks[death.task_id])
            if len(found) == listing.limit:
                return Page(tasks=found, cursor=place.cursor)
        if not more:
            return Page(tasks=found, cursor=None)
        looked_at += len(deaths)
        if looked_at >= MOST_TASKS:
            break
        wanted = min(2 * wanted, MOST_TASKS - looked_at)  # a filter that lets few through
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
    """Keys sort by their digits, and no task died outside of them."""
    return min(max(at, 0), _LATEST)


def _stands(death: Death, tasks: Mapping[str, Task]) -> bool:
    task = tasks.get(death.task_id)
    return task is not None and task.updated_at == death.died_at

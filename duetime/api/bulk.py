"""Bulk operations: read the tasks that a filter selects, page by page, and act on each page.

A call ends after its limit of tasks or when its time is used up, and its cursor says where the next
one goes on. Each task is changed by the same conditional write as on its own, so a call that dies
half way leaves every task either changed or as it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Generic, Protocol, TypeVar

from duetime.api.http import CONTENTION
from duetime.api.paging import read_page
from duetime.core.change import Answer, Applied, Refused, Unknown, Unreadable
from duetime.core.errors import Unavailable
from duetime.core.listings import DeadListing, Listing, Page
from duetime.core.ports import Clock
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value

MAX_TASKS = 1_000  # of one call
BATCH = 250  # tasks that are read and written together
TIME_LIMIT: Millis = 6 * SECOND  # of one call: a client waits 10 s, API Gateway 29 s

NOT_FOUND = "not found"
UNREADABLE = "the stored task cannot be read"
UNANSWERED = "the store did not answer: the task may or may not be changed"

L = TypeVar("L", Listing, DeadListing)


class Action(Protocol):
    """What is done to each task. A reason is why a task is not changed; None: it is."""

    def concerns(self, task: Task) -> bool:
        """Whether a task of the list counts as matched."""
        ...

    def check(self, task: Task) -> str | None:
        """Returns the reason that is known before any write."""
        ...

    def apply(self, tasks: Sequence[Task], done: int) -> list[str | None]:
        """Changes the tasks, after `done` others of the same call. Returns a reason for each."""
        ...


@value()
class Tally:
    """The result of a call so far."""

    matched: int = 0
    reasons: dict[str, str] = field(default_factory=dict)  # id → why it was not changed
    cursor: str | None = None

    @property
    def changed(self) -> int:
        return self.matched - len(self.reasons)

    def json(self, *, dry_run: bool) -> dict[str, Any]:
        return {
            "matched": self.matched,
            "changed": self.changed,
            "dry_run": dry_run,
            "not_changed": [{"id": i, "reason": reason} for i, reason in self.reasons.items()],
            "next_cursor": self.cursor,
        }

    def add(self, tasks: Sequence[Task], reasons: Sequence[str | None]) -> None:
        self.matched += len(tasks)
        for task, reason in zip(tasks, reasons, strict=True):
            if reason is not None:
                self.reasons[task.id] = reason


@value(frozen=True, kw_only=True, slots=True)
class Bulk(Generic[L]):
    """One call of a bulk operation."""

    clock: Clock
    read: Callable[[L], Page]
    listing: L
    action: Action
    dry_run: bool

    def run(self, limit: int) -> Tally:
        """Stops early, with the cursor to go on from, if the time is used up, if a write was not
        answered, or if the store stops answering after the first page."""
        tally = Tally(cursor=self.listing.cursor)
        for page in self._pages(tally, limit):
            tasks = [task for task in page.tasks if self.action.concerns(task)]
            reasons = self._reasons(tasks, tally.changed)
            tally.add(tasks, reasons)
            tally.cursor = page.cursor
            if UNANSWERED in reasons:
                break
        return tally

    def _pages(self, tally: Tally, limit: int) -> Iterator[Page]:
        deadline = self.clock.monotonic() + TIME_LIMIT
        yield self._page(tally, limit)
        while tally.cursor and tally.matched < limit and self.clock.monotonic() < deadline:
            try:
                page = self._page(tally, limit)
            except Unavailable:
                return
            yield page

    def _page(self, tally: Tally, limit: int) -> Page:
        size = min(BATCH, limit - tally.matched)
        return read_page(self.read, replace(self.listing, limit=size, cursor=tally.cursor))

    def _reasons(self, tasks: Sequence[Task], done: int) -> list[str | None]:
        reasons = [self.action.check(task) for task in tasks]
        if self.dry_run:
            return reasons
        free = [task for task, reason in zip(tasks, reasons, strict=True) if reason is None]
        written = iter(self.action.apply(free, done))
        return [next(written) if reason is None else reason for reason in reasons]


def reason_of(answer: Answer) -> str | None:
    """Returns why a write did not change its task; None if it did."""
    match answer:
        case Applied():
            return None
        case Refused(None):
            return NOT_FOUND
        case Refused():
            return CONTENTION
        case Unreadable():
            return UNREADABLE
        case Unknown():
            return UNANSWERED

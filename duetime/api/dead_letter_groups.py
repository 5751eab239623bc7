"""/v1/dead-letters/groups: dead tasks by their cause."""

from collections.abc import Iterator
from typing import Any

from duetime.api.paging import read_page
from duetime.core.fingerprints import Cause, cause_of
from duetime.core.listings import DeadListing, Page
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis, rfc3339
from duetime.core.value import replace, value

MAX_TASKS = 5_000  # dead tasks that one call groups
BATCH = 100  # tasks in memory at a time; a task has up to 256 KiB
TIME_LIMIT: Millis = 6 * SECOND
MAX_NAMESPACES = 20  # that a group names


@value(kw_only=True, slots=True)
class Group:
    cause: Cause
    sample_id: str  # of the latest death
    last: Millis
    first: Millis
    count: int = 0
    namespaces: dict[str, None]  # in the order in which they are found

    def add(self, task: Task) -> None:
        """Takes the next task; the latest death comes first."""
        self.count += 1
        self.first = task.updated_at
        if len(self.namespaces) < MAX_NAMESPACES:
            self.namespaces[task.spec.namespace] = None

    def json(self) -> dict[str, Any]:
        return {
            "fingerprint": self.cause.fingerprint,
            "error_type": self.cause.error_type,
            "target": self.cause.target,
            "message": self.cause.message,
            "count": self.count,
            "first": rfc3339(self.first),
            "last": rfc3339(self.last),
            "sample_id": self.sample_id,
            "namespaces": sorted(self.namespaces),
        }


def dead_letter_groups(ports: Ports, listing: DeadListing) -> dict[str, Any]:
    """Returns the groups of the dead tasks of a listing, the largest first, as far as one call
    reads."""
    groups: dict[Cause, Group] = {}
    looked_at, cursor = 0, listing.cursor
    for page in _pages(ports, listing):
        for task in page.tasks:
            _group_of(task, groups).add(task)
        looked_at, cursor = looked_at + len(page.tasks), page.cursor
    largest_first = sorted(groups.values(), key=lambda group: (-group.count, -group.last))
    return {
        "items": [group.json() for group in largest_first],
        "looked_at": looked_at,
        "complete": cursor is None,
        "next_cursor": cursor,
    }


def _group_of(task: Task, groups: dict[Cause, Group]) -> Group:
    cause = cause_of(task)
    died_at = task.updated_at
    return groups.setdefault(
        cause, Group(cause=cause, sample_id=task.id, first=died_at, last=died_at, namespaces={})
    )


def _pages(ports: Ports, listing: DeadListing) -> Iterator[Page]:
    deadline = ports.clock.monotonic() + TIME_LIMIT
    left = MAX_TASKS
    while left > 0:
        listing = replace(listing, limit=min(BATCH, left))
        page = read_page(ports.store.dead, listing)
        yield page
        if page.cursor is None or ports.clock.monotonic() >= deadline:
            return
        left -= len(page.tasks)
        listing = replace(listing, cursor=page.cursor)

"""What a list of tasks asks for, and a page of it."""

from collections.abc import Sequence
from enum import StrEnum

from duetime.core.lifecycle import FINAL, Status
from duetime.core.retention import kept_for, kept_until
from duetime.core.task import Task
from duetime.core.task_filter import TaskFilter, error_type_of, handler_of
from duetime.core.times import Millis
from duetime.core.value import value


class ListOrder(StrEnum):
    NEWEST = "newest"  # by the day of creation, then by the id: see duetime.core.list_positions
    SOONEST = "soonest"  # by the due time, then by the id; only tasks that are still to start


@value(frozen=True, kw_only=True, slots=True)
class Listing:
    """Which tasks to list, in which order, and how many of them."""

    filter: TaskFilter = TaskFilter()
    order: ListOrder = ListOrder.NEWEST
    due_from: Millis = 0  # in the order `soonest`, where the list begins
    summary: bool = False  # whether the tasks may come without payload and result
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class DeadListing:
    """Which dead tasks to list, latest death first."""

    namespace: str | None = None
    error_type: str | None = None
    handler: str | None = None
    fingerprint: str | None = None  # of the cause: see duetime.core.fingerprints
    since: Millis | None = None  # died at that time or later
    before: Millis | None = None  # died before that time
    limit: int = 50
    cursor: str | None = None

    def wants(self, task: Task) -> bool:
        died_at = task.updated_at
        return (
            task.status is Status.DEAD
            and self.namespace in (None, task.spec.namespace)
            and (self.error_type is None or error_type_of(task) == self.error_type)
            and self.handler in (None, handler_of(task.spec))
            and (self.fingerprint is None or _died_of(task, self.fingerprint))
            and (self.since is None or died_at >= self.since)
            and (self.before is None or died_at < self.before)
        )


def _died_of(task: Task, fingerprint: str) -> bool:
    from duetime.core.fingerprints import cause_of  # most processes need it never

    return cause_of(task).fingerprint == fingerprint


@value(frozen=True, kw_only=True, slots=True)
class EndedListing:
    """Which tasks to remove: those that reached a final status at least `kept_for` ago. The rules
    of duetime.core.retention keep some of them longer."""

    as_of: Millis
    kept_for: Millis
    statuses: frozenset[Status] = FINAL
    namespace: str | None = None
    limit: int = 100
    cursor: str | None = None

    def wants(self, task: Task) -> bool:
        until = kept_until(task.status, task.updated_at, kept_for(task.spec, self.kept_for))
        return (
            until is not None
            and until <= self.as_of
            and not task.has_follow_up
            and task.status in self.statuses
            and self.namespace in (None, task.spec.namespace)
        )


@value(frozen=True, kw_only=True, slots=True)
class Page:
    """Filters apply while reading, so a page may be short. The list ends where `cursor` is None."""

    tasks: Sequence[Task]
    cursor: str | None
    looked_from: Millis | None = None  # these two in the order `soonest`: the due times that have
    looked_until: Millis | None = None  # been read, from the first page on; None: without an end

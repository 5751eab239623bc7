"""Which status changes a subscription wants."""

from collections.abc import Collection

from duetime.core.events import StatusChange
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Status
from duetime.core.value import value

ANY: frozenset[str] = frozenset()


@value(frozen=True, kw_only=True, slots=True)
class LiveFilter:
    """Every field must match; it matches if it is empty or has the value of the change. It reads
    only what the item of a task holds, so the relay on AWS needs no other read. There the target of
    a large task is unknown: no handler matches."""

    namespaces: frozenset[str] = ANY
    statuses: frozenset[Status] = frozenset()  # the new status
    handlers: frozenset[str] = ANY
    lanes: frozenset[Queue] = frozenset()
    schedule_ids: frozenset[str] = ANY
    run_ids: frozenset[str] = ANY
    task_ids: frozenset[str] = ANY

    def wants(self, change: StatusChange) -> bool:
        return (
            (not self.task_ids or change.task_id in self.task_ids)
            and (not self.namespaces or change.namespace in self.namespaces)
            and (not self.statuses or change.after in self.statuses)
            and (not self.handlers or change.target in self.handlers)
            and (not self.lanes or change.queue in self.lanes)
            and (not self.schedule_ids or change.occurrence_of in self.schedule_ids)
            and (not self.run_ids or change.run_id in self.run_ids)
        )

    def wants_in(self, namespaces: Collection[str] | None, change: StatusChange) -> bool:
        """Like wants, for a caller who may read these namespaces only; None: all of them."""
        allowed = namespaces is None or change.namespace in namespaces
        return allowed and self.wants(change)


EVERYTHING = LiveFilter()

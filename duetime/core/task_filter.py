"""Which tasks a list or a bulk operation is about."""

from duetime.core.ids import new_id
from duetime.core.lanes import Queue
from duetime.core.lifecycle import Status
from duetime.core.task import Spec, Task
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value

# An id begins with the time at which it was made. Clocks differ, and a run of a schedule is stored
# before its fire time, which is in its id; no id is further ahead of its task's creation than this.
IDS_AHEAD: Millis = 15 * MINUTE


@value(frozen=True, kw_only=True, slots=True)
class TaskFilter:
    """Every condition that is given must hold; the default holds for each task of `default`."""

    ids: tuple[str, ...] = ()  # one of these; a store's list does not look at them
    namespace: str | None = "default"  # None: all of them
    statuses: frozenset[Status] = frozenset()  # one of these; empty: any
    schedule_id: str | None = None
    parent_id: str | None = None
    tags: tuple[str, ...] = ()  # all of these: `key:value`, or `key` for any value
    name: str | None = None  # the beginning of the name
    handler: str | None = None
    target: str | None = None  # the type of the target
    queues: frozenset[Queue] = frozenset()  # one of these; empty: any
    error_type: str | None = None  # of its last failure
    with_key: str | None = None  # its idempotency key
    run_id: str | None = None  # of the run whose step it is; no list of a store has these
    due_since: Millis | None = None
    due_before: Millis | None = None
    created_since: Millis | None = None
    created_before: Millis | None = None
    before: Millis | None = None  # ids from before that time; a run's id has its fire time

    @property
    def below(self) -> str | None:
        """An upper bound: the id of every matching task sorts before it."""
        latest = None if self.created_before is None else self.created_before + IDS_AHEAD
        bounds = [at for at in (self.before, latest) if at is not None]
        return new_id(min(bounds), 0) if bounds else None

    def wants(self, task: Task) -> bool:
        spec = task.spec
        return (
            (not self.ids or task.id in self.ids)
            and self.namespace in (None, spec.namespace)
            and (not self.statuses or task.status in self.statuses)
            and self.schedule_id in (None, schedule_of(spec))
            and self.parent_id in (None, spec.parent_id)
            and (self.created_since is None or task.created_at >= self.created_since)
            and (self.created_before is None or task.created_at < self.created_before)
            and (self.below is None or task.id < self.below)
            and (self.due_since is None or task.due_at >= self.due_since)
            and (self.due_before is None or task.due_at < self.due_before)
            and (not self.queues or task.queue in self.queues)
            and (self.error_type is None or self.error_type == error_type_of(task))
            and self._describes(spec)
        )

    def _describes(self, spec: Spec) -> bool:
        return (
            (self.name is None or (spec.name or "").startswith(self.name))
            and self.handler in (None, handler_of(spec))
            and self.target in (None, spec.target.get("type"))
            and self.with_key in (None, spec.idempotency_key)
            and self.run_id in (None, spec.step.run_id if spec.step else None)
            and (not self.tags or set(self.tags) <= tag_texts(spec))
        )


def schedule_of(spec: Spec) -> str | None:
    return spec.occurrence.schedule_id if spec.occurrence else None


def error_type_of(task: Task) -> str | None:
    failed = task.last_failure
    return failed.error.type if failed and failed.error else None


def handler_of(spec: Spec) -> str | None:
    return spec.target.get("handler") if spec.target.get("type") == "python" else None


def tag_texts(spec: Spec) -> set[str]:
    """Returns what a filter may name to find a task by its tags."""
    return {*spec.tags, *(f"{key}:{text}" for key, text in spec.tags.items())}

"""remove: a finished task leaves the store, with everything that is stored beside it.

Retention, a purge and the discarding of dead tasks all remove with this condition: the task has
finished, its follow-up has run, and nothing has changed since the remover read it. The remover may
lose a race against a revival (the token changes) or against another remover (the task is gone);
both are safe, because the removal is then refused. What was archived before a refused removal is
archived again when the task leaves, and a reader shows the later record.
"""

from duetime.core.task import Task
from duetime.core.value import value


@value(frozen=True, slots=True)
class Removal:
    """One conditional deletion of a task, as the remover has read it."""

    task: Task

    def __post_init__(self) -> None:
        if not self.task.status.finished or self.task.wake is not None:
            raise ValueError(f"{self.task.id} is {self.task.status} and cannot be removed")

    def holds(self, stored: Task) -> bool:
        """Whether the stored task is still the one that was read."""
        return (
            stored.wake is None
            and stored.status is self.task.status
            and stored.token == self.task.token
            and stored.updated_at == self.task.updated_at
        )

"""New tasks that start with their submission.

A task that is due at once is as a rule stored, sent to its lane, received, and stored again with
its lease. While the worker pool has free slots and its lanes are empty, it stores such a task with
its lease instead, together with the outcomes that it records, and begins the run once that is on
the disk. This saves a third of the writes of a short task.

Only the tasks of one submission whose slots are free in time start like that; the submission stores
the others as ever. If the store does not say whether it has stored a task with its lease, the lease
is repeated, as that of any task: the repeated write finds out.
"""

from collections.abc import Callable, Sequence
from threading import Event

from duetime.core.delivery import Message, delivery_of
from duetime.core.errors import Unavailable
from duetime.core.steps.lease import lease, lease_new
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.executor.runs import Admitted

Finish = Callable[[], bool]
Write = Callable[[Sequence[Task]], Finish]


@value(frozen=True, kw_only=True, slots=True)
class Leased:
    """The first tasks of a submission, as they are stored with their leases."""

    tasks: Sequence[Task]
    messages: Sequence[Message]  # that no lane has
    asked_at: Millis

    def admitted(self) -> list[Admitted]:
        """Returns the leases, to be repeated."""
        return [
            Admitted(
                message=message,
                change=lease(message.delivery, now=task.updated_at, holder=task.holder or ""),
                leased_at=self.asked_at,
            )
            for message, task in zip(self.messages, self.tasks, strict=True)
        ]


class NewTasks:
    """The tasks of one submission, all of which can start (`can_start`).

    Attributes:
        tasks: In their order, as `submit` makes them.
        slots: How many of them may start: the first ones.
        started: How many were stored with their lease.
        stored: Whether all are stored; None if the pool has not tried, False if an id is taken.
        error: Why it is not known whether they are stored.

    Args:
        write: Queues the write of all tasks, the first of them with a lease, and returns what waits
            for it. That returns False if an id is taken: then none is stored. It raises Unavailable
            if the store does not answer."""

    def __init__(self, tasks: Sequence[Task], write: Write) -> None:
        self.tasks = tasks
        self.slots = 0
        self.offered_at: Millis = 0  # by the monotonic clock
        self.started = 0
        self.stored: bool | None = None
        self.error: Unavailable | None = None
        self.answered = Event()
        self._write = write
        self._finish: Finish | None = None

    def lease(self, *, now: Millis, asked_at: Millis, holders: Sequence[str]) -> Leased:
        """Leases as many tasks as there are holders, and queues the write of all."""
        first = self.tasks[: len(holders)]
        messages = [
            Message(delivery=delivery_of(task, now), receipt="", message_id="", sent_at=now)
            for task in first
        ]
        leased = lease_new(first, now=now, holders=holders)
        self._finish = self._write(leased)
        return Leased(tasks=leased, messages=messages, asked_at=asked_at)

    def give_up(self) -> None:
        """The pool has ended. It is not known whether it has stored the tasks, if it has tried."""
        if self._finish is not None and self.stored is None:
            self.error = self.error or Unavailable("the worker pool has ended")

    def finish(self) -> None:
        """Waits for the write."""
        if self._finish is None:
            raise ValueError("nothing is written")
        try:
            self.stored = self._finish()
        except Unavailable as error:
            self.error = error

"""What a handler knows about the attempt it is running, and how it talks back."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Any

from lambdas.core.task import Progress, Task, storable
from lambdas.core.times import Millis, seconds, to_datetime
from lambdas.core.values import value
from lambdas.executor.stopping import Brake
from lambdas.forks import check_process

MESSAGE_LIMIT = 256

Renew = Callable[[Progress | None], None]
LookBack = Callable[[], "Previous | None"]


@value(frozen=True, kw_only=True, slots=True)
class Previous:
    """The run of a schedule before this one."""

    task_id: str
    status: str
    result: Any
    scheduled_for: datetime


class Context:
    """One attempt, seen from inside.

    `fencing_token` grows with every attempt of the task and is never given twice: put it into
    a condition of your own writes, and a late attempt cannot overwrite a newer one's work."""

    def __init__(
        self,
        task: Task,
        renew: Renew,
        look_back: LookBack = lambda: None,
        *,
        began: Millis = 0,  # when its lease was asked for, by the monotonic clock
    ) -> None:
        if task.current is None:
            raise ValueError(f"task {task.id} is not running")
        self.task_id = task.id
        self.attempt = task.attempt
        self.idempotency_key = task.id  # the same on every try
        self.fencing_token = task.attempt
        self._timeout = seconds(task.spec.timeout)
        self._started_at, self._began = task.current.started_at, began
        self.ends_at = began + self._timeout
        self.queued = False  # leased, and waiting for a thread
        # From asking for the lease to calling the target; None until then.
        self.started_after: Millis | None = None
        self.renewed_at = began
        self.held_at = began  # its message, in the queue
        self._occurrence = task.spec.occurrence
        self._look_back = look_back
        self._renew = renew
        self._pid = os.getpid()
        self._cancelled = False
        self.cancel_asked = False
        self.lease_lost = False
        self.interrupted = False
        self.brake = Brake(task.id, task.attempt)

    @property
    def deadline(self) -> datetime:
        """When the attempt is over, finished or not, by the wall clock as it was at the start.
        What ends the attempt is its timeout, counted by a clock that nobody can set."""
        return to_datetime(self._started_at + self.ends_at - self._began)

    @property
    def cancelled(self) -> bool:
        """Whether to stop: somebody cancelled the task, its time is up, or the lease is lost."""
        return self._cancelled

    @property
    def schedule_id(self) -> str | None:
        """The schedule that this run comes from, if it comes from one."""
        return self._occurrence.schedule_id if self._occurrence else None

    @property
    def schedule_name(self) -> str | None:
        return self._occurrence.name if self._occurrence else None

    @property
    def scheduled_for(self) -> datetime | None:
        """The fire time of this run; however late it starts, and on every try."""
        return to_datetime(self._occurrence.scheduled_for) if self._occurrence else None

    @cached_property
    def previous(self) -> Previous | None:
        """The latest run of this schedule before this one that is over; looked up when asked."""
        check_process(self._pid)
        with self.brake.shield():
            return self._look_back()

    def heartbeat(self) -> bool:
        """Renew the lease now; False once the handler should stop."""
        check_process(self._pid)
        with self.brake.shield():
            self._renew(None)
        return not self._cancelled

    def progress(self, fraction: float, message: str | None = None) -> None:
        """Tell how far the work is, from 0 to 1; anyone who looks at the task sees it."""
        check_process(self._pid)
        if isinstance(fraction, str) or not 0 <= fraction <= 1:
            raise ValueError(f"progress: {fraction} is not between 0 and 1")
        kept = None if message is None else storable(message, MESSAGE_LIMIT)
        with self.brake.shield():
            self._renew(Progress(fraction=fraction, message=kept))

    # What follows is called by the executor.

    def count_from(self, now: Millis) -> None:
        """Let the attempt have all of its time from here on."""
        self.ends_at = now + self._timeout

    def starts(self, now: Millis) -> None:
        """The target is called. The first call of this counts."""
        if self.started_after is None:
            self.started_after = now - self._began

    def stop(self, *, asked: bool = False, lost: bool = False) -> None:
        """Tell the handler; `asked` when somebody cancelled the task, `lost` when another
        executor may already have it."""
        self._cancelled = True
        self.cancel_asked = self.cancel_asked or asked
        self.lease_lost = self.lease_lost or lost

    def interrupt(self) -> None:
        """Make a handler stop that was told to."""
        self.interrupted = True
        self.brake.pull()

    def why_stopped(self, now: Millis) -> str:
        if self.cancel_asked:
            return "the task was cancelled"
        if self.lease_lost:
            return "the lease was lost"
        if now >= self.ends_at:
            return "its time was up"
        return "the heartbeats were not answered"

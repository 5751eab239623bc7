"""The executor's side of one attempt: its timeout, its lease, and how to stop its handler.

A handler author sees the `Context` alone, which asks this object. Three threads use it: the one
that runs the handler, the attempt loop and the lease guard. Each flag is only ever set, never
cleared, and reasons are only added, so none of them needs a lock."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import ref

from duetime.core.task import Progress, Task
from duetime.core.times import Millis, seconds
from duetime.executor.interrupt import Interrupt
from duetime.handlers.context import Context, NoSubmissions, Previous, Reason, Submissions

Renew = Callable[[Progress | None], None]
LookUpPrevious = Callable[[], Previous | None]
ReadResults = Callable[[str, int], list[Any]]  # the step and the first item

REASONS: tuple[Reason, ...] = (
    "cancelled",
    "lease_lost",
    "timed_out",
    "draining",
)  # strongest first


class RunControl:
    """`leased_at` is when the executor asked for the lease, by the monotonic clock, as are all
    times here but `deadline`."""

    def __init__(
        self,
        task: Task,
        renew: Renew,
        look_up_previous: LookUpPrevious = lambda: None,
        *,
        read_results: ReadResults = lambda step, start: [],  # noqa: ARG005
        leased_at: Millis = 0,
        children: Submissions | None = None,
    ) -> None:
        self._task = task
        self._context: ref[Context] | None = None
        self.interrupt = Interrupt(task.id, task.attempt)
        self.ends_at = leased_at + seconds(task.spec.timeout)
        self.renewed_at = leased_at
        self.message_held_at = leased_at  # when its message was last hidden in the queue
        self.queued = False  # leased, and waiting for a thread
        # From asking for the lease to calling the target; None until then.
        self.started_after: Millis | None = None
        self.trace: str | None = None  # the context of the span of the attempt
        self.lease_lost = False  # for certain: another executor may have the task
        self.force_stopped = False
        self.killable = False  # it runs in a process, which is killed if it does not stop
        self.on_stop: Callable[[], object] | None = None  # called at every request to stop
        self._reasons: set[Reason] = set()
        self._timeout = seconds(task.spec.timeout)
        self._started_at = task.current.started_at if task.current else 0
        self._leased_at = leased_at
        self._renew = renew
        self._look_up_previous = look_up_previous
        self._read_results = read_results
        self._children = children or NoSubmissions()

    @property
    def context(self) -> Context:
        """The context of the handler, which holds this object, and not the other way round: so the
        end of a run leaves no cycle for the garbage collector."""
        made = self._context() if self._context is not None else None
        if made is None:
            made = Context(self._task, self)
            self._context = ref(made)
        return made

    # for the context

    @property
    def reason(self) -> Reason | None:
        return next((r for r in REASONS if r in self._reasons), None) if self._reasons else None

    @property
    def deadline(self) -> Millis:
        return self._started_at + self.ends_at - self._leased_at

    def renew(self, progress: Progress | None) -> None:
        with self.interrupt.shield():
            self._renew(progress)

    def look_up_previous(self) -> Previous | None:
        with self.interrupt.shield():
            return self._look_up_previous()

    def results_page(self, step: str, start: int) -> list[Any]:
        with self.interrupt.shield():
            return self._read_results(step, start)

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        with self.interrupt.shield():
            return self._children.submit(tasks)

    def read(self, task_id: str) -> dict[str, Any] | None:
        with self.interrupt.shield():
            return self._children.read(task_id)

    # for the executor

    def restart_timeout(self, now: Millis) -> None:
        """Give the attempt its whole timeout from now on."""
        self.ends_at = now + self._timeout

    def mark_started(self, now: Millis) -> None:
        """Note when the target is called. A handler process notes it again, when it begins."""
        self.started_after = now - self._leased_at

    @property
    def cancel_requested(self) -> bool:
        """Whether the task was cancelled, by a user or the overlap policy."""
        return "cancelled" in self._reasons

    def request_stop(self, reason: Reason) -> None:
        """Ask the handler to stop, through `ctx.cancelled` and `ctx.reason`."""
        self._reasons.add(reason)
        if (on_stop := self.on_stop) is not None:
            on_stop()

    def lose_lease(self) -> None:
        """Ask the handler to stop: another executor may already run the task."""
        self.lease_lost = True
        self.request_stop("lease_lost")

    def force_stop(self) -> None:
        """Interrupt a handler that was asked to stop."""
        self.force_stopped = True
        self.interrupt.trigger()

    def stop_reason(self, now: Millis) -> str:
        if self.cancel_requested:
            return "the task was cancelled"
        if self.lease_lost:
            return "the lease was lost"
        if now >= self.ends_at:
            return "its time was up"
        if self.reason == "draining":
            return "its worker was stopped"
        return "the heartbeats were not answered"

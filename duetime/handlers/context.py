"""The context that a handler gets beside its payload."""

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, overload

from duetime.core.task import Progress, Task, storable
from duetime.core.times import Millis, seconds, to_datetime
from duetime.core.trace_context import unpack
from duetime.core.value import value
from duetime.forks import check_process, process_id

if TYPE_CHECKING:
    from duetime.handlers.handler import Submittable
    from duetime.handlers.submission import Submission

P = ParamSpec("P")
R = TypeVar("R")

MESSAGE_LIMIT = 256
Reason = Literal["cancelled", "lease_lost", "timed_out", "draining"]


@value(frozen=True, kw_only=True, slots=True)
class Previous:
    """The run of a schedule before this one."""

    task_id: str
    status: str
    result: Any
    scheduled_for: datetime


class Submissions(Protocol):
    """The tasks that a handler submits, through its executor."""

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Submits tasks, each as the JSON of a request, and answers each like a batch."""
        ...

    def read(self, task_id: str) -> dict[str, Any] | None:
        """Returns the JSON of a task; None if there is none."""
        ...


class AttemptControl(Submissions, Protocol):
    """What a context asks of the executor that runs the attempt."""

    @property
    def reason(self) -> Reason | None:
        """Why the handler should stop; None while it should not."""
        ...

    @property
    def deadline(self) -> Millis:
        """The end of the attempt, by the wall clock."""
        ...

    @property
    def trace(self) -> str | None:
        """The context of the span of the attempt: see duetime.core.trace_context."""
        ...

    def renew(self, progress: Progress | None) -> None: ...

    def look_up_previous(self) -> Previous | None: ...

    def results_page(self, step: str, start: int) -> list[Any]:
        """Returns the results of the next items of a map, from `start`; an empty list at the
        end."""
        ...


class Context:
    """The attempt that a handler runs.

    Attributes:
        task_id: The id of the task.
        attempt: The number of this attempt, from 1.
        idempotency_key: The same on every attempt of the task.
        fencing_token: Grows with every attempt of the task and is never used twice. Put it into
            a condition of your own writes, and a late attempt cannot overwrite the work of a
            newer one.

    A test of a handler may build one without an executor: `Context(task)`. It is then never
    cancelled and discards its progress."""

    def __init__(self, task: Task, control: AttemptControl | None = None) -> None:
        if task.current is None:
            raise ValueError(f"task {task.id} is not running")
        self.task_id = task.id
        self.attempt = task.attempt
        self.idempotency_key = task.id
        self.fencing_token = task.attempt
        self._occurrence = task.spec.occurrence
        self._control = control or _NoExecutor(task.current.started_at, task.spec.timeout)
        self._pid = process_id()
        self._saw_draining = False

    @property
    def deadline(self) -> datetime:
        """The end of the attempt by the wall clock, as that was at the start. The executor
        enforces the timeout by a monotonic clock, so setting the wall clock changes nothing."""
        return to_datetime(self._control.deadline)

    @property
    def cancelled(self) -> bool:
        """Whether the handler should stop: its task is cancelled, its time is up, its lease is lost
        or about to be, or its worker drains. `reason` says which."""
        return self.reason is not None

    @property
    def reason(self) -> Reason | None:
        """Why the handler should stop: `cancelled`, `lease_lost`, `timed_out` or `draining`; None
        while it should not. While its worker drains, a handler may go on for the grace period. If
        it raises after it has seen this, the attempt is `interrupted` and does not count; what it
        returns is its result."""
        reason = self._control.reason
        if reason == "draining":
            self._saw_draining = True
        return reason

    @property
    def traceparent(self) -> str | None:
        """The span of this attempt, as a header of W3C Trace Context; None while traces are off.
        In the executor's own process the span is the current one, so that OpenTelemetry finds it
        by itself; a handler with `isolated=True` and other processes take it from here."""
        packed = self._control.trace
        return None if packed is None else unpack(packed)

    @property
    def schedule_id(self) -> str | None:
        """The schedule of this run; None for a task that no schedule made."""
        return self._occurrence.schedule_id if self._occurrence else None

    @property
    def schedule_name(self) -> str | None:
        return self._occurrence.name if self._occurrence else None

    @property
    def scheduled_for(self) -> datetime | None:
        """The fire time of this run. It is the same on every attempt, even if a run is late."""
        return to_datetime(self._occurrence.scheduled_for) if self._occurrence else None

    @cached_property
    def previous(self) -> Previous | None:
        """The latest earlier run of this schedule that has ended. The first access reads it from
        the store."""
        check_process(self._pid)
        return self._control.look_up_previous()

    def results(self, step: str) -> Iterator[Any]:
        """Yield the results of the items of an earlier `map` step of this workflow, in order; None
        for an item that failed. They are read page by page, so they may be more than a payload can
        hold."""
        check_process(self._pid)
        start = 0
        while page := self._control.results_page(step, start):
            yield from page
            start += len(page)

    def heartbeat(self) -> bool:
        """Renew the lease now. Returns False once the handler should stop."""
        check_process(self._pid)
        self._control.renew(None)
        return not self.cancelled

    def progress(self, fraction: float, message: str | None = None) -> None:
        """Report how far the work is, from 0 to 1. The task shows it; the lease is renewed."""
        check_process(self._pid)
        if isinstance(fraction, str) or not 0 <= fraction <= 1:
            raise ValueError(f"progress: {fraction} is not between 0 and 1")
        kept = None if message is None else storable(message, MESSAGE_LIMIT)
        self._control.renew(Progress(fraction=fraction, message=kept))

    @overload
    def submit(
        self, handler: "Submittable[P, R]", /, *args: P.args, **kwargs: P.kwargs
    ) -> "Submission[R]": ...
    @overload
    def submit(
        self, handler: "Submittable[..., R]", /, *args: Any, step: str, **kwargs: Any
    ) -> "Submission[R]": ...
    def submit(
        self, handler: "Submittable[..., Any]", /, *args: Any, **kwargs: Any
    ) -> "Submission[Any]":
        """Submit a task that is due now, as `handler.submit(...)` does: a child of this task. An
        attempt that repeats the call gets the same child.

        With a `step`, the child is named by the step, and not by its payload: give one if the
        payload differs between attempts. `handler.options(step="…")` has it for every other way to
        submit, and for a handler that has a parameter `step` itself."""
        from duetime.handlers.handler import with_step

        step = kwargs.pop("step", None)
        with active(self):  # in a thread of the handler, too
            return (handler if step is None else with_step(handler, step)).submit(*args, **kwargs)

    @property
    def _submissions(self) -> Submissions:
        """What `submit` of a handler uses inside this attempt."""
        check_process(self._pid)
        return self._control


class NoSubmissions:
    """For a context that no executor made."""

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:  # noqa: ARG002
        raise RuntimeError("this context has no executor to submit a task")

    def read(self, task_id: str) -> dict[str, Any] | None:  # noqa: ARG002
        raise RuntimeError("this context has no executor to read a task")


class _NoExecutor(NoSubmissions):
    """The control of a context that no executor made."""

    reason = None
    trace = None

    def __init__(self, started_at: Millis, timeout: float) -> None:
        self.deadline = started_at + seconds(timeout)

    def renew(self, progress: Progress | None) -> None:
        pass

    def look_up_previous(self) -> Previous | None:
        return None

    def results_page(self, step: str, start: int) -> list[Any]:  # noqa: ARG002
        raise RuntimeError("this context has no executor to read results")


_current: ContextVar[Context] = ContextVar("duetime_context")


def context() -> Context:
    """Returns the context of the attempt that runs. A thread that the handler starts has none: pass
    it on."""
    try:
        return _current.get()
    except LookupError:
        raise RuntimeError("duetime.context() has a value inside a running handler only") from None


def running() -> Context | None:
    """Returns the context of the attempt that runs, if one does."""
    return _current.get(None)


class active:
    """Makes `context()` return `ctx`."""

    __slots__ = ("_ctx", "_token")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def __enter__(self) -> None:
        self._token = _current.set(self._ctx)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)

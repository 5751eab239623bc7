"""A run: one leased attempt, and its end."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import ref

from duetime.core.change import Change
from duetime.core.delivery import Message
from duetime.core.errors import Stopped
from duetime.core.lifecycle import Outcome
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.suspension import Suspension
from duetime.core.task import Progress, Task, TaskError
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.executor.children import Children
from duetime.executor.failures import failure_of, format_traceback
from duetime.executor.run_control import RunControl
from duetime.handlers.context import Context, Previous

if TYPE_CHECKING:
    from duetime.engine.workflows.inputs import StepSource


@value(frozen=True, kw_only=True, slots=True)
class Admitted:
    """A message that the executor leases when it is due."""

    message: Message
    change: Change | None = None  # the lease, once it was tried and not answered
    leased_at: Millis = 0  # of the first try, by the monotonic clock
    tries: int = 0
    refused: bool = False  # by a gate: its lease will be refused too, and no other gate asks it
    callback_token: str | None = None  # of a step with one; its hash is the holder of the lease
    source: "StepSource | None" = None  # of a step, as the gate has read it

    @property
    def gated(self) -> bool:
        """Whether the next gate has to decide about it. A lease that is repeated was admitted."""
        return self.change is None and not self.refused


def after_gate(
    due: Sequence[Admitted], *, out: Sequence[Admitted], refused: Sequence[Admitted]
) -> list[Admitted]:
    """Returns what goes on behind a gate, with those marked that it has refused. Their lease is
    refused too, which says what is to be done with their messages."""
    gone, marked = {id(admitted) for admitted in out}, {id(admitted) for admitted in refused}
    return [
        replace(admitted, refused=True) if id(admitted) in marked else admitted
        for admitted in due
        if id(admitted) not in gone
    ]


@value(frozen=True, kw_only=True, slots=True)
class Run:
    """`control` is the executor's side of the attempt, `context` the handler's."""

    task: Task
    message: Message
    control: RunControl
    callback_token: str | None = None  # of a step with one
    source: "StepSource | None" = None  # of a step

    @property
    def context(self) -> Context:
        return self.control.context

    @property
    def holder(self) -> str:
        if self.task.holder is None:
            raise ValueError(f"task {self.task.id} is not leased")
        return self.task.holder


def new_run(
    admitted: Admitted,
    task: Task,
    leased_at: Millis,
    *,
    renew: Callable[[Sequence[Run], Progress | None], object],
    previous: Callable[[], Previous | None],
    read_results: Callable[[str, int], list[Any]],
    children: Children,
) -> Run:
    """Returns the run of a task that was just leased.

    Args:
        renew: Renews the lease of the run, with what its handler has reported.
        previous: Reads the run of the schedule before this one.
        read_results: Reads results of the items of a map.
        children: Submits what the handler submits."""
    message = admitted.message

    def renew_run(progress: Progress | None) -> None:
        if (control := this()) is not None:  # it lives as long as its context
            renew([Run(task=task, message=message, control=control)], progress)

    control = RunControl(
        task,
        renew_run,
        previous,
        read_results=read_results,
        leased_at=leased_at,
        children=children,
    )
    this = ref(control)  # a cycle would be left to the garbage collector
    return Run(
        task=task,
        message=message,
        control=control,
        callback_token=admitted.callback_token,
        source=admitted.source,
    )


@value(frozen=True, kw_only=True, slots=True)
class Ended:
    """A run that has ended, with a result, a failure or a suspension."""

    run: Run
    result: str | None = None  # JSON
    failure: Failure | None = None
    suspension: Suspension | None = None  # what the task waits for, in place of an end
    change: Change | None = None  # that records it, once it was tried and not answered
    tries: int = 0

    @property
    def name(self) -> str:
        """The name of its outcome, for traces."""
        if self.suspension is not None:
            return "suspended"
        return (self.failure.outcome if self.failure else Outcome.SUCCEEDED).value

    @property
    def error_type(self) -> str | None:
        return self.failure.error.type if self.failure else None


def timed_out(run: Run, late: Ended | None = None) -> Ended:
    """`late` is what the handler returned after its timeout: its traceback may say where it was."""
    message = f"not done after its timeout of {run.task.spec.timeout:g} s"
    trace = late.failure.error.traceback if late and late.failure else None
    error = TaskError(type="TimedOut", message=message, traceback=trace)
    return Ended(run=run, failure=Failure(outcome=Outcome.TIMED_OUT, error=error))


def cancelled(run: Run) -> Ended:
    error = TaskError(type="Cancelled", message="cancelled while it ran")
    return Ended(run=run, failure=Failure(outcome=Outcome.CANCELLED, error=error))


def interrupted(run: Run) -> Ended:
    return Ended(run=run, failure=INTERRUPTED)


def failed(run: Run, error: BaseException) -> Ended:
    return Ended(run=run, failure=failure_of(error))


def unrecordable(end: Ended) -> Ended:
    """Returns the failure that replaces an outcome that the store cannot write. After a success
    it is permanent, because the work is done."""
    error = TaskError(
        type="BadResult", message="the outcome cannot be stored; the executor's log says why"
    )
    permanent = end.failure is None or end.failure.permanent
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=permanent)
    return Ended(run=end.run, failure=failure, tries=end.tries)


def unreported(run: Run) -> Ended:
    """Returns the end of a run whose failure could not be described."""
    error = TaskError(type="Unreported", message="the attempt failed, and so did its report")
    return Ended(run=run, failure=Failure(outcome=Outcome.FAILED, error=error))


def stopped(run: Run, error: Stopped, now: Millis) -> Ended:
    """Returns the end of an interrupted handler, with the traceback of where it was."""
    reason = run.control.stop_reason(now)
    failure = TaskError(type="Stopped", message=reason, traceback=format_traceback(error))
    return Ended(run=run, failure=Failure(outcome=Outcome.FAILED, error=failure))


def log_fields(run: Run, step: str = "record") -> dict[str, Any]:
    return {"step": step, "task_id": run.task.id, "attempt": run.task.attempt}

"""A run: one leased attempt, and how it came out."""

from lambdas.core.change import Change
from lambdas.core.delivery import Message
from lambdas.core.lifecycle import Outcome
from lambdas.core.steps.record import Failure
from lambdas.core.task import Task, TaskError
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.executor.context import Context
from lambdas.executor.failures import failure_of
from lambdas.executor.stopping import Stopped
from lambdas.executor.traces import told_trace


@value(frozen=True, kw_only=True, slots=True)
class Admitted:
    """A message to be leased when it is due."""

    message: Message
    change: Change | None = None  # the lease, once it was tried and not answered
    asked_at: Millis = 0  # when it was first tried, by the monotonic clock
    tries: int = 0


@value(frozen=True, kw_only=True, slots=True)
class Run:
    task: Task
    message: Message
    context: Context

    @property
    def holder(self) -> str:
        if self.task.holder is None:
            raise ValueError(f"task {self.task.id} is not leased")
        return self.task.holder


@value(frozen=True, kw_only=True, slots=True)
class Ended:
    """A run that is over: with a result, unless with a failure."""

    run: Run
    result: str | None = None  # JSON
    failure: Failure | None = None
    change: Change | None = None  # what records it, once that was tried and not answered
    tries: int = 0


def timed_out(run: Run, back: Ended | None = None) -> Ended:
    """`back` if the handler came back, though too late: it may say where it was."""
    message = f"not done after its timeout of {run.task.spec.timeout:g} s"
    trace = back.failure.error.traceback if back and back.failure else None
    error = TaskError(type="TimedOut", message=message, traceback=trace)
    return Ended(run=run, failure=Failure(outcome=Outcome.TIMED_OUT, error=error))


def cancelled(run: Run) -> Ended:
    error = TaskError(type="Cancelled", message="cancelled while it ran")
    return Ended(run=run, failure=Failure(outcome=Outcome.CANCELLED, error=error))


def failed(run: Run, error: BaseException) -> Ended:
    return Ended(run=run, failure=failure_of(error))


def unrecordable(end: Ended) -> Ended:
    """The failure that takes the place of an outcome which the store cannot write. After a
    success it is permanent: the work is done."""
    error = TaskError(
        type="BadResult", message="the outcome cannot be stored; the executor's log says why"
    )
    permanent = end.failure is None or end.failure.permanent
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=permanent)
    return Ended(run=end.run, failure=failure, tries=end.tries)


def unreported(run: Run) -> Ended:
    """A failure that cannot even be described."""
    error = TaskError(type="Unreported", message="the attempt failed, and so did its report")
    return Ended(run=run, failure=Failure(outcome=Outcome.FAILED, error=error))


def stopped(run: Run, error: Stopped, now: Millis) -> Ended:
    """A handler that was made to stop; where it was then is worth knowing."""
    told = TaskError(
        type="Stopped", message=run.context.why_stopped(now), traceback=told_trace(error)
    )
    return Ended(run=run, failure=Failure(outcome=Outcome.FAILED, error=told))

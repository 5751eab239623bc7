"""How a handler ended in its process, and what became of it when the process ended."""

from duetime.core.errors import Stopped
from duetime.core.results import Encoded
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.value import value
from duetime.executor.failures import FailedElsewhere, failure_of
from duetime.executor.handler_processes.dispatch import Call
from duetime.executor.isolation.supervised_process import how_it_ended
from duetime.executor.targets import TargetFailed


@value(frozen=True, kw_only=True, slots=True)
class Returned:
    """How a handler ended: with a result or a failure. `stopped`: it was interrupted."""

    result: str | None = None  # JSON
    failure: Failure | None = None
    stopped: bool = False

    def value(self) -> Encoded | None:
        """Raises Stopped or FailedElsewhere."""
        if self.stopped:
            raise Stopped
        if self.failure is not None:
            raise FailedElsewhere(self.failure)
        return None if self.result is None else Encoded(self.result)


def after_death(call: Call, killed: bool, code: int | None) -> Returned:
    """How a call ends with its process. One that was interrupted has caused the end; what ran
    beside it is run again without the loss of an attempt."""
    if call.kill_at is not None:
        return Returned(failure=failure_of(Stopped()), stopped=True)
    if killed:
        return Returned(failure=INTERRUPTED)
    reason = how_it_ended(code, "handler process")
    return Returned(failure=failure_of(TargetFailed("HandlerProcessDied", reason)))

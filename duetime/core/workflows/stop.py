"""Cancel and timeout: both make a run CANCELLING, with the reason that decides how it ends."""

from duetime.core.workflows.advance import stopped, timed_out
from duetime.core.workflows.decide import CANCELS, decided
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.maps import filled
from duetime.core.workflows.run import Run, RunStatus, StopReason
from duetime.core.workflows.watches import Moment, written


def cancel_run(definition: Definition, run: Run, *, moment: Moment) -> Run | None:
    """Returns the run as a DELETE leaves it; None if it is over, or if nothing is left to cancel.
    A second one cancels the `finally` steps, too."""
    if run.status.over or run.stop is StopReason.CANCEL_ALL:
        return None
    reason = StopReason.CANCEL_ALL if run.stop in CANCELS else StopReason.CANCEL
    return _stopped(definition, stopped(run, reason, moment), moment)


def time_out(definition: Definition, run: Run, *, moment: Moment) -> Run | None:
    """Returns a RUNNING run whose timeout has passed as it is CANCELLING; None for any other."""
    if run.status is not RunStatus.RUNNING or moment.at < run.timeout_at:
        return None
    return _stopped(definition, timed_out(run, moment), moment)


def _stopped(definition: Definition, run: Run, moment: Moment) -> Run:
    """Decides the blocked steps: none of them starts, so no condition is asked."""
    if run.spec.map:
        return written(filled(run, moment), moment)
    return written(decided(definition, run, moment), moment)

"""The wakes of runs. A run that is not over always has one, so it goes on even if every follow-up
of its steps is lost."""

from duetime.core.times import HOUR, MINUTE, Millis
from duetime.core.value import replace, value
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD, Draw, WakePolicy
from duetime.core.wakes import Wake, WakeKind
from duetime.core.workflows.run import Run, RunStatus

SECOND_WATCH: Millis = 5 * MINUTE
LONGEST_WATCH: Millis = 6 * HOUR
STOP_WATCH: Millis = MINUTE  # of a run that is cancelled: its live steps must not go on


@value(frozen=True, kw_only=True, slots=True)
class Moment:
    """When a run is written, and what places its wake."""

    wake_policy: WakePolicy
    at: Millis
    draw: Draw


def watched(run: Run, moment: Moment, after: Millis = FIRST_WATCH) -> Run:
    """Returns the run with a new watch, by default 2–4 min ahead."""
    spread = round(WATCH_SPREAD * moment.draw.spread) if after == FIRST_WATCH else 0
    return replace(run, wake=_wake(run, moment.at + after + spread, moment), watches=0)


def ended(run: Run, status: RunStatus, moment: Moment) -> Run:
    """Returns the run as it is over. One with a parent keeps a wake until its end is reported."""
    over = replace(run, status=status, finished_at=moment.at, wake=None, watches=0)
    return watched(over, moment) if run.spec.parent_task_id else over


def written(run: Run, moment: Moment) -> Run:
    return replace(run, revision=run.revision + 1, updated_at=moment.at)


def move_watch(run: Run, *, moment: Moment) -> Run:
    """Returns the run after a watch that found it unfinished. A run that starts later is next
    checked 2–4 min after its start."""
    if run.spec.run_at > moment.at and run.status is RunStatus.RUNNING:
        at = run.spec.run_at + FIRST_WATCH + round(WATCH_SPREAD * moment.draw.spread)
        return written(replace(run, wake=_wake(run, at, moment)), moment)
    at = moment.at + min(SECOND_WATCH * 3 ** min(run.watches, 8), LONGEST_WATCH)
    moved = replace(run, wake=_wake(run, at, moment), watches=run.watches + 1)
    return written(moved, moment)


def reported(run: Run, *, now: Millis) -> Run:
    """Returns an ended run whose parent task has been resumed: it needs no wake any more."""
    return replace(run, wake=None, revision=run.revision + 1, updated_at=now)


def _wake(run: Run, at: Millis, moment: Moment) -> Wake:
    if run.status is RunStatus.RUNNING and run.timeout_at > moment.at:
        at = min(at, run.timeout_at)
    place = moment.wake_policy.wake
    return place(WakeKind.RUN, run.id, run.spec.priority, at, now=moment.at)

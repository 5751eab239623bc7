"""The metrics of a status change: the only place that says what is counted.

Three sinks render them: CloudWatch's EMF (lambdas/relay.py), the minute rows of `GET /v1/stats`
(duetime.core.stats.counts) and Prometheus (duetime/local/prometheus).
"""

from enum import StrEnum
from typing import NamedTuple

from duetime.core.events import StatusChange
from duetime.core.lifecycle import FINISHED, UNCOUNTED, Outcome, Status
from duetime.core.times import SECOND, Millis

AHEAD: Millis = 5 * SECOND  # a task that is known for less before its due time may start late


class Path(StrEnum):
    """How a new task gets to its lane."""

    FAST = "fast"  # the API sends it at once
    SCANNED = "scanned"  # the scanner sends it shortly before its due time


# By the first status. A task that is RUNNING was stored with its lease.
PATHS = {
    Status.ENQUEUED: Path.FAST,
    Status.RUNNING: Path.FAST,
    Status.PENDING: Path.SCANNED,
}


class ChangeMetrics(NamedTuple):
    """What one change adds. A field is None, or False, if the change adds nothing to it.

    Attributes:
        submitted: The path of a new task.
        outcome: Of an attempt that has ended, as are drift and duration. It knows when the target
            was called; the lease is written before that.
        known_ahead: Whether the attempt is the first of a task that was known `AHEAD` of its due
            time, so that its drift counts for the objective.
        retried: Whether the attempt has failed, and another one follows.
        end: The status with which the task has ended."""

    lane: str  # the text of its queue
    at: Millis
    submitted: Path | None = None
    outcome: Outcome | None = None
    drift_ms: Millis | None = None
    duration_ms: Millis | None = None
    known_ahead: bool = False
    retried: bool = False
    end: Status | None = None


def metrics_of(change: StatusChange) -> ChangeMetrics | None:
    """Returns None if there is nothing to count, as when an attempt starts."""
    after = change.after
    if after is Status.RUNNING and change.before is not None:
        return None
    end = after if after in FINISHED else None
    if change.before is Status.RUNNING:
        ahead = change.ahead_ms
        return ChangeMetrics(
            lane=_text(change),
            at=change.at,
            outcome=change.outcome,
            drift_ms=change.drift_ms,
            duration_ms=change.took_ms,
            known_ahead=ahead is not None and ahead >= AHEAD,
            retried=after is Status.RETRYING and change.outcome not in UNCOUNTED,
            end=end,
        )
    submitted = PATHS.get(after) if change.before is None else None
    if submitted or end:
        return ChangeMetrics(lane=_text(change), at=change.at, submitted=submitted, end=end)
    return None


def _text(change: StatusChange) -> str:
    """Returns the text of the queue. Most tasks have no pool, and then it is that of the lane."""
    return change.lane._value_ if change.pool is None else str(change.queue)

"""Whether a task is past its time, and why."""

from enum import StrEnum

from duetime.core.lifecycle import TO_START, Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value
from duetime.core.wakes import WakeKind

PAST: Millis = MINUTE  # so long past its time a task counts as stuck


class Why(StrEnum):
    NOT_CLAIMED = "not_claimed"  # the scanner has not come to it
    HELD_BACK = "held_back"  # its lane catches up after an outage, at a limited pace
    SET_ASIDE = "set_aside"  # it could not be read, so the scanner comes back in an hour
    LIMIT = "limit"  # it waits for a limit
    QUEUED_BEHIND = "queued_behind"  # others are before it: in a lane, a line or a schedule
    NO_WORKER = "no_worker"  # its lane has messages, and no executor takes one
    NOT_TAKEN = "not_taken"  # its message was sent, and is not in its lane any more
    LEASE_RUN_OUT = "lease_run_out"  # its executor has died, and no watch has found that yet


@value(frozen=True, kw_only=True, slots=True)
class LaneCondition:
    """`paced` is whether overdue tasks wait for a slot of their own."""

    paced: bool
    ready: int  # messages
    in_flight: int


@value(frozen=True, kw_only=True, slots=True)
class Stuck:
    why: Why
    since: Millis


def past_since(task: Task, now: Millis) -> Millis | None:
    """Returns since when a task is past its time; None if it is not, or not by a minute. A retry is
    due after its backoff, and a task that waits for a run or for a callback has no time."""
    at = task.due_at if task.status in TO_START else None
    if task.status is Status.RUNNING:
        at = task.lease_until
    return None if at is None or at > now - PAST else at


def why_stuck(task: Task, lane: LaneCondition, *, now: Millis) -> Stuck | None:
    """Returns why a task is past its time; None if it is not."""
    since = past_since(task, now)
    return None if since is None else Stuck(why=_why(task, lane), since=since)


def _why(task: Task, lane: LaneCondition) -> Why:
    if task.status is Status.RUNNING:
        return Why.LEASE_RUN_OUT
    if task.held is not None:
        return Why.QUEUED_BEHIND if task.held == ORDERING_KEY else Why.LIMIT
    unsent = task.wake is not None and task.wake.kind is WakeKind.DISPATCH
    if unsent and task.wake is not None and task.wake.at > task.due_at + PAST:
        return Why.SET_ASIDE
    if lane.paced:
        return Why.HELD_BACK
    return Why.NOT_CLAIMED if unsent else _why_not_taken(task, lane)


def _why_not_taken(task: Task, lane: LaneCondition) -> Why:
    occurrence = task.spec.occurrence
    if occurrence is not None and occurrence.overlap is OverlapPolicy.QUEUE:
        return Why.QUEUED_BEHIND  # its message is hidden until the previous run has ended
    if not lane.ready:
        return Why.NOT_TAKEN
    return Why.QUEUED_BEHIND if lane.in_flight else Why.NO_WORKER

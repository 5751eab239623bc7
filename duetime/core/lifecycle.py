"""The statuses of a task, and the only transitions between them."""

from collections.abc import Mapping
from enum import StrEnum


class Status(StrEnum):
    PENDING = "PENDING"
    ENQUEUED = "ENQUEUED"
    RUNNING = "RUNNING"
    RETRYING = "RETRYING"
    WAITING = "WAITING"
    SUCCEEDED = "SUCCEEDED"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"

    @property
    def finished(self) -> bool:
        return self in FINISHED

    @property
    def final(self) -> bool:
        """Whether no transition leads out of it. DEAD is not final: a dead task can be revived."""
        return self in FINAL


FINAL = frozenset({Status.SUCCEEDED, Status.CANCELLED, Status.EXPIRED})
FINISHED = FINAL | {Status.DEAD}
TO_START = (Status.PENDING, Status.ENQUEUED, Status.RETRYING)  # an attempt of it is still to start


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LEASE_EXPIRED = "lease_expired"
    SNOOZED = "snoozed"
    INTERRUPTED = "interrupted"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


UNCOUNTED = frozenset({Outcome.SNOOZED, Outcome.INTERRUPTED})  # nothing has failed


class Step(StrEnum):
    """The verbs of the protocol, each one kind of conditional write."""

    CLAIM = "claim"
    RELEASE = "release"
    WATCH = "watch"
    LEASE = "lease"
    RENEW = "renew"
    SUCCEED = "succeed"
    RETRY = "retry"
    BURY = "bury"
    STOP = "stop"
    REVIVE = "revive"
    SUPERSEDE = "supersede"
    DISCARD = "discard"
    CANCEL = "cancel"
    REQUEST_CANCEL = "request_cancel"
    REVOKE = "revoke"
    DEFER = "defer"
    HOLD = "hold"
    PROMOTE = "promote"
    EXPIRE = "expire"
    SUSPEND = "suspend"
    RESUME = "resume"
    FOLLOW_UP = "follow_up"


P, E, R, Y, W = Status.PENDING, Status.ENQUEUED, Status.RUNNING, Status.RETRYING, Status.WAITING

Moves = Mapping[Status, frozenset[Status]]


def _one(moves: Mapping[Status, Status]) -> Moves:
    return {before: frozenset({after}) for before, after in moves.items()}


# step → {status before: statuses after}. Every conditional write takes its expectation from here.
# Two have a choice. DEFER, as a submission: what is due within the horizon is sent at once. RESUME:
# a wait that has failed goes through an executor, which buries the task.
TRANSITIONS: Mapping[Step, Moves] = {
    Step.CLAIM: _one({P: E, Y: Y}),
    Step.RELEASE: _one({E: P, Y: Y}),
    Step.WATCH: _one({s: s for s in (P, E, Y, R, W)}),
    Step.LEASE: _one({P: R, E: R, Y: R}),  # P: released after an unknown send that did arrive
    Step.RENEW: _one({R: R}),
    Step.SUCCEED: _one({R: Status.SUCCEEDED}),
    Step.RETRY: _one({R: Y}),
    Step.BURY: _one({R: Status.DEAD}),
    Step.STOP: _one({R: Status.CANCELLED}),
    Step.REVIVE: _one({Status.DEAD: Y}),
    Step.SUPERSEDE: _one({Status.DEAD: Status.DEAD}),
    Step.DISCARD: _one({Status.DEAD: Status.CANCELLED}),
    Step.CANCEL: _one(dict.fromkeys((P, E, Y, W), Status.CANCELLED)),
    Step.REQUEST_CANCEL: _one({R: R}),
    Step.REVOKE: _one({P: P, E: E}),
    Step.DEFER: {P: frozenset({P, E}), E: frozenset({P, E}), Y: frozenset({Y})},
    Step.HOLD: _one({s: s for s in (P, E, Y)}),
    Step.PROMOTE: _one({E: E, Y: Y}),
    Step.EXPIRE: _one(dict.fromkeys((P, E, W), Status.EXPIRED)),  # W: what it waits for is late
    Step.SUSPEND: _one({R: W}),
    Step.RESUME: {W: frozenset({Status.SUCCEEDED, Y, Status.CANCELLED})},
    Step.FOLLOW_UP: _one({s: s for s in FINISHED}),
}


def sources(step: Step) -> frozenset[Status]:
    """Returns the statuses in which a step is allowed."""
    return _SOURCES[step]


def status_after(step: Step, before: Status) -> Status:
    """Returns the status after a step that has no choice."""
    [after] = TRANSITIONS[step][before]
    return after


_SOURCES = {step: frozenset(moves) for step, moves in TRANSITIONS.items()}

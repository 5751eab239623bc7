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


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    LEASE_EXPIRED = "lease_expired"
    SNOOZED = "snoozed"
    CANCELLED = "cancelled"


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
    CANCEL = "cancel"
    REQUEST_CANCEL = "request_cancel"
    REVOKE = "revoke"
    EXPIRE = "expire"
    FOLLOW_UP = "follow_up"


P, E, R, Y, W = Status.PENDING, Status.ENQUEUED, Status.RUNNING, Status.RETRYING, Status.WAITING

# step → {status before: status after}. Every conditional write takes its expectation from here.
TRANSITIONS: Mapping[Step, Mapping[Status, Status]] = {
    Step.CLAIM: {P: E, Y: Y},
    Step.RELEASE: {E: P, Y: Y},
    Step.WATCH: {s: s for s in (P, E, Y, R)},
    Step.LEASE: {P: R, E: R, Y: R},  # P: released after an unknown send that did arrive
    Step.RENEW: {R: R},
    Step.SUCCEED: {R: Status.SUCCEEDED},
    Step.RETRY: {R: Y},
    Step.BURY: {R: Status.DEAD},
    Step.STOP: {R: Status.CANCELLED},
    Step.REVIVE: {Status.DEAD: Y},
    Step.SUPERSEDE: {Status.DEAD: Status.DEAD},
    Step.CANCEL: dict.fromkeys((P, E, Y, W), Status.CANCELLED),
    Step.REQUEST_CANCEL: {R: R},
    Step.REVOKE: {P: P, E: E},
    Step.EXPIRE: {P: Status.EXPIRED, E: Status.EXPIRED},
    Step.FOLLOW_UP: {s: s for s in FINISHED},
}


def sources(step: Step) -> frozenset[Status]:
    """Returns the statuses in which a step is allowed."""
    return _SOURCES[step]


_SOURCES = {step: frozenset(moves) for step, moves in TRANSITIONS.items()}

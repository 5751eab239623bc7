"""A task: what was asked for (its spec) and where it stands."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.occurrence import Occurrence
from lambdas.core.retry import DEFAULT_RETRY, RetryPolicy
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake

LONGEST_TIMEOUT = 7 * 24 * 3600  # seconds; where an executor cannot run so long, less


@value(frozen=True, kw_only=True, slots=True)
class Spec:
    """What the submitter asked for."""

    target: Mapping[str, Any]
    run_at: Millis
    payload: Any = None
    priority: Lane = Lane.MEDIUM
    timeout: float = 60.0
    retry: RetryPolicy = DEFAULT_RETRY
    jitter: float = 0.0
    expires_at: Millis | None = None
    name: str | None = None
    namespace: str = "default"
    ordering_key: str | None = None
    idempotency_key: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    occurrence: Occurrence | None = None  # of a schedule


@value(frozen=True, kw_only=True, slots=True)
class TaskError:
    type: str
    message: str
    traceback: str | None = None  # its end, of a handler that raised


@value(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One leased run. Without an outcome it is still going on."""

    number: int
    started_at: Millis
    drift_ms: Millis
    finished_at: Millis | None = None
    outcome: Outcome | None = None
    error: TaskError | None = None


@value(frozen=True, kw_only=True, slots=True)
class Progress:
    fraction: float
    message: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class Task:
    id: str
    spec: Spec
    status: Status
    token: str  # names the one delivery that may start the next attempt
    due_at: Millis
    wake: Wake | None
    created_at: Millis
    updated_at: Millis
    budget: int  # the attempt number that may not be passed
    attempt: int = 0  # never goes back
    lease_until: Millis | None = None
    holder: str | None = None
    current: Attempt | None = None
    previous: Attempt | None = None  # kept until the attempt has a row of its own
    cancel_requested: bool = False
    # How often a watch has sent this delivery again. Once it was leased: when the message was
    # written that began the attempt, which tells that message from every other sending.
    sends: int = 0
    skips: int = 0  # how often running a watch held back because the lane was backed up
    progress: Progress | None = None
    result: str | None = None  # JSON: see lambdas.core.results
    reason: str | None = None  # why it was cancelled, if nobody asked for that

    @property
    def lane(self) -> Lane:
        return self.spec.priority

    @property
    def finished_at(self) -> Millis | None:
        """Nothing touches a finished task, so its last update is its end."""
        return self.updated_at if self.status.finished else None

    @property
    def last_failure(self) -> Attempt | None:
        """The attempt whose error still says something: none once the task has succeeded."""
        if self.status is Status.SUCCEEDED:
            return None
        tries = (self.current, self.previous)
        return next((a for a in tries if a is not None and a.error is not None), None)

    @property
    def owes(self) -> bool:
        """Whether something is still to follow from its end."""
        return self.status.finished and self.wake is not None

    def expired(self, now: Millis) -> bool:
        """Whether its time passed before it ever started."""
        expires_at = self.spec.expires_at
        return self.attempt == 0 and expires_at is not None and expires_at <= now


def storable(text: str, limit: int) -> str:
    """Text from a handler or a target, made safe to store: bounded, and valid Unicode."""
    return text[:limit].encode(errors="replace").decode()

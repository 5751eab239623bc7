"""A task: the request (its spec), and its state."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from duetime.core.lanes import Lane, Queue, queue_of
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import LimitUse, OnDead
from duetime.core.occurrence import Occurrence
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.step_ref import StepRef
from duetime.core.suspension import Suspension
from duetime.core.times import YEAR, Millis
from duetime.core.unique import Unique
from duetime.core.value import value
from duetime.core.wakes import Wake

WORKFLOW = "workflow"  # the type of the target that starts a run, and waits for its end
SUPERSEDED = "superseded"  # the reason of a dead task that cannot be revived any more
LONGEST_TIMEOUT = 7 * 24 * 3600  # seconds; less where the executor itself is limited
MAX_AHEAD: Millis = 10 * YEAR  # of the time of a task
MAX_JITTER = 3_600  # seconds
MAX_NAME = 256  # characters
PAYLOAD_LIMIT = 256 * 1024  # bytes; a larger one is an object: see duetime.core.large_texts


@value(frozen=True, kw_only=True, slots=True)
class Spec:
    """What the submitter asked for."""

    target: Mapping[str, Any]
    run_at: Millis
    payload: Any = None
    payload_object: str | None = None  # in place of a large payload: see duetime.core.large_texts
    priority: Lane = Lane.MEDIUM
    pool: str | None = None  # whose workers run it; None: the executors of Duetime itself
    timeout: float = 60.0
    retry: RetryPolicy = DEFAULT_RETRY
    jitter: float = 0.0
    expires_at: Millis | None = None
    name: str | None = None
    namespace: str = "default"
    ordering_key: str | None = None
    order_at: Millis | None = None  # its position among tasks with the same ordering key
    on_dead: OnDead = OnDead.CONTINUE  # of the tasks behind it with the same ordering key
    idempotency_key: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    occurrence: Occurrence | None = None  # of a schedule
    unique: Unique | None = None
    parent_id: str | None = None  # the task whose handler has submitted this one
    shifts: tuple[str, ...] = ()  # marks of the latest: see duetime.core.shifts
    limits: tuple[LimitUse, ...] = ()
    fairness_key: str | None = None  # tasks of different keys take turns; None: by namespace
    step: StepRef | None = None  # of a workflow run: its definition has target and payload
    trace: str | None = None  # of the span that created it: see duetime.core.trace_context


@value(frozen=True, kw_only=True, slots=True)
class TaskError:
    type: str
    message: str
    traceback: str | None = None  # its last lines, if a handler raised


@value(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One leased run. It has no outcome while it is running."""

    number: int
    started_at: Millis
    drift_ms: Millis
    finished_at: Millis | None = None
    outcome: Outcome | None = None
    error: TaskError | None = None
    trace: str | None = None  # of its span, once it has ended


@value(frozen=True, kw_only=True, slots=True)
class Progress:
    fraction: float
    message: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class Promotion:
    """A task that has waited too long is moved to the next higher lane."""

    lane: Lane
    at: Millis


ORDERING_KEY = -1  # the value of `Task.held` while the task waits for its ordering key
DEFERRED = -2  # minus n, once the rate of its limit number n has deferred it


@value(frozen=True, kw_only=True, slots=True)
class Task:
    id: str
    spec: Spec
    status: Status
    token: str  # identifies the only delivery that may start the next attempt
    due_at: Millis
    wake: Wake | None
    created_at: Millis
    updated_at: Millis
    budget: int  # the highest allowed attempt number
    attempt: int = 0  # only increases
    lease_until: Millis | None = None
    holder: str | None = None
    current: Attempt | None = None
    previous: Attempt | None = None  # until it has a row of its own
    cancel_requested: bool = False
    sends: int = 0  # one stored column; read `resends` or `message_written_at`
    skips: int = 0  # how often in a row a watch sent nothing, since the lane was backed up
    progress: Progress | None = None
    result: str | None = None  # JSON, or a reference: see duetime.core.results and large_texts
    # Why Duetime cancelled it, None if a person did; DISCARDED; or SUPERSEDED of a dead task.
    reason: str | None = None
    body_hash: str | None = None  # of the request, if its client made the id
    promoted: Promotion | None = None
    held: int | None = None  # for this one of its `limits`, for its ORDERING_KEY, or DEFERRED
    grant: Millis | None = None  # when its rate limit lets it start
    suspended: Suspension | None = None  # what it waits for, or the error that the wait ended with

    @property
    def lane(self) -> Lane:
        return self.promoted.lane if self.promoted else self.spec.priority

    @property
    def queue(self) -> Queue:
        return queue_of(self.lane, self.spec.pool)

    @property
    def in_line(self) -> bool:
        """Whether it waits in the line of a limit or of its ordering key, without a message."""
        return self.held is not None and self.held > DEFERRED

    @property
    def resends(self) -> int:
        """How often a watch has enqueued this delivery again; 0 once the attempt has started."""
        return 0 if self._leased else self.sends

    @property
    def message_written_at(self) -> Millis | None:
        """When the message was written that started the current attempt; None before the lease.
        It distinguishes that message from every other copy of the same delivery."""
        return self.sends if self._leased else None

    @property
    def _leased(self) -> bool:
        """Whether the last write of `sends` was a lease's. A task that was cancelled between two
        attempts counts as leased: its `sends` is a count, which equals no message's time."""
        return self.attempt > 0 and (self.status is Status.RUNNING or self.status.finished)

    @property
    def finished_at(self) -> Millis | None:
        """The time of the last update, since a finished task is not updated."""
        return self.updated_at if self.status.finished else None

    @property
    def last_failure(self) -> Attempt | None:
        """The latest attempt with an error; None once the task has succeeded."""
        if self.status is Status.SUCCEEDED:
            return None
        tries = (self.current, self.previous)
        return next((a for a in tries if a is not None and a.error is not None), None)

    @property
    def has_follow_up(self) -> bool:
        """Whether its follow-up is still to be run: see duetime.engine.followups."""
        return self.wake is not None and self.status.finished

    def expired(self, now: Millis) -> bool:
        """Whether it passed its `expires_at` before its first attempt."""
        expires_at = self.spec.expires_at
        return self.attempt == 0 and expires_at is not None and expires_at <= now


def storable(text: str, limit: int) -> str:
    """Returns text from a handler or target as it can be stored: bounded, valid Unicode."""
    return text[:limit].encode(errors="replace").decode()

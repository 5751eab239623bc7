"""Answers to HTTP workers, and about workers."""

from typing import Annotated, Any, Literal

from pydantic import Field

from duetime.api.openapi.answers import AnswerModel, Problem, Task, Time
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status


class RunningAttempt(AnswerModel):
    """An attempt that a worker runs."""

    task_id: str
    since: Time


class Worker(AnswerModel):
    """A process outside the runner, or outside Lambda, that runs handlers."""

    name: str
    """Unique per process."""
    backend: Literal["http", "aws"]
    """How it gets work: from a runner over HTTP, or from the queues of a pool."""
    pool: str | None
    """The pool that it takes tasks from; null: tasks without a pool."""
    lanes: list[Lane]
    handlers: list[str]
    """The handlers that it runs."""
    concurrency: int | None
    """How many tasks it runs at a time, if it says so."""
    running: list[RunningAttempt]
    draining: bool
    """Whether it takes no more tasks, since it is about to end."""
    since: Time
    """When it was seen first."""
    seen: Time
    """When it was seen last."""
    host: str | None
    version: str | None


class WorkerList(AnswerModel):
    """The workers that were seen within a minute, by name."""

    items: list[Worker]


class PreviousRun(AnswerModel):
    """The run of a schedule before this one."""

    task_id: str
    status: Status
    result: Any
    scheduled_for: Time


class Lease(AnswerModel):
    """A task that the worker runs now."""

    task: Task
    attempt: int
    holder: str
    """The key of the lease: who knows it may renew and end it."""
    lease_until: Time
    schedule_name: str | None
    previous: PreviousRun | None
    """Of a run of a schedule, if it is not the first."""


class LeaseAnswer(AnswerModel):
    """Leases; none if nothing is due."""

    leases: list[Lease]
    leased_after: float
    """Seconds from the arrival of this call until the leases were taken; negative if an earlier
    call with the same `request` took them."""
    lease: int
    """Seconds that a lease is valid."""
    renew_every: int
    """Seconds between two renewals."""
    time: Time
    """The clock of the runner."""


class RenewedLease(AnswerModel):
    """A lease that was renewed."""

    id: str
    status: Literal[200]
    lease_until: Time
    cancel_requested: bool
    """Stop the handler, and report `cancelled`."""


class RefusedItem(AnswerModel):
    """An item of a batch that was refused; the others are not affected."""

    id: str | None
    status: Annotated[int, Field(ge=400, le=599)]
    error: Problem


class RenewAnswer(AnswerModel):
    """One result for each lease, in the same order."""

    results: list[RenewedLease | RefusedItem]


class RecordedOutcome(AnswerModel):
    """An outcome that is recorded."""

    id: str
    status: Literal[200]
    task_status: Status


class OutcomeAnswer(AnswerModel):
    """One result for each outcome, in the same order."""

    results: list[RecordedOutcome | RefusedItem]

"""What HTTP workers ask of the runner, as values: leases, renewals and outcomes.

The API reads them from requests, and the executor carries them out.
"""

from typing import Any

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome
from duetime.core.steps.lease import WORKER_HOLDER
from duetime.core.steps.record import Failure
from duetime.core.task import Progress, Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.value import value

MAX_LEASES = 100  # of one call
LONGEST_POLL = 20  # seconds that a call for leases may wait
ANSWER_LIMIT = 5 * 1024 * 1024  # bytes of payloads in an answer with leases
ANSWERS_KEPT: Millis = 60 * SECOND  # in which a repeated call for leases gets the same answer
OUTCOMES_KEPT: Millis = 10 * MINUTE  # in which a repeated outcome is recognised by its holder


def holder_of(worker: str, nonce: str) -> str:
    """Returns the holder of a lease. Each caller that has it may renew and end the lease, hence the
    random bits."""
    return f"{WORKER_HOLDER}{worker}:{nonce}"


@value(frozen=True, kw_only=True, slots=True)
class LeaseRequest:
    """`request` names the call, so that a repeated one leases nothing new; `body_hash` differs if
    another call has the same name."""

    worker: str
    pool: str | None
    lanes: tuple[Lane, ...]
    handlers: tuple[str, ...]
    most: int
    wait: float  # seconds
    request: str
    body_hash: str
    concurrency: int | None = None
    host: str | None = None
    version: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class Leased:
    """An attempt that a worker runs: its task with everything that the handler needs, and the
    previous run of its schedule, as JSON. `leased_at` is by the monotonic clock of the runner."""

    task: Task
    holder: str
    lease_until: Millis
    leased_at: Millis
    previous: dict[str, Any] | None


@value(frozen=True, kw_only=True, slots=True)
class Renewal:
    task_id: str
    holder: str
    progress: Progress | None = None


@value(frozen=True, kw_only=True, slots=True)
class Renewed:
    task_id: str
    lease_until: Millis
    cancel_requested: bool


@value(frozen=True, kw_only=True, slots=True)
class Report:
    """The outcome of an attempt, as its worker reports it. `failure` is None for a success."""

    task_id: str
    holder: str
    result: str | None = None  # JSON
    failure: Failure | None = None
    started_after: Millis | None = None  # from the lease to the call of the handler

    @property
    def outcome(self) -> Outcome:
        return self.failure.outcome if self.failure else Outcome.SUCCEEDED


@value(frozen=True, kw_only=True, slots=True)
class Recorded:
    task_id: str
    status: str  # of the task

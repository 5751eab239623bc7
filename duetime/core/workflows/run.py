"""A run: one execution of a workflow, as its row stores it.

A row has one character for each step (StepState) and one for its generation. A map is a run, too:
its steps are its items, all of the same kind, and it has a window instead of needs.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from hashlib import blake2b
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.ids import created_at as time_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake

GENERATIONS = digits + ascii_uppercase + ascii_lowercase  # "1" is the first
MAX_RUN_ATTEMPTS = len(GENERATIONS) - 1


class RunStatus(StrEnum):
    RUNNING = "RUNNING"
    CANCELLING = "CANCELLING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def over(self) -> bool:
        return self not in (RunStatus.RUNNING, RunStatus.CANCELLING)

    @property
    def final(self) -> bool:
        """Whether nothing can change it. A FAILED run can be retried."""
        return self in (RunStatus.SUCCEEDED, RunStatus.CANCELLED)


class StopReason(StrEnum):
    """Why a run is CANCELLING, or why steps of a FAILED run did not run."""

    FAIL_FAST = "fail_fast"
    TIMEOUT = "timeout"
    CANCEL = "cancel"
    CANCEL_ALL = "cancel_all"  # `finally` steps, too


class StepState(StrEnum):
    BLOCKED = "w"  # its needs have not ended
    UNDER_WAY = "p"  # its task exists, or is to be created
    SUCCEEDED = "s"
    DEAD = "d"
    CANCELLED = "c"  # or expired
    CONDITION = "x"  # skipped: `when` is false, or `run_if` is not met without a failure
    UPSTREAM = "u"  # skipped: a failure keeps it from running
    STOPPED = "f"  # skipped: the run was cancelled, timed out or failed fast


LIVE = frozenset("wp")
FAILED = frozenset("dc")
ENDED = frozenset("sdc")
STARTED = ENDED | {StepState.UNDER_WAY}  # those that have a task

BLOCKED, UNDER_WAY, SKIPPED = "BLOCKED", "UNDER_WAY", "SKIPPED"
STATUSES: Mapping[StepState, str] = {  # as far as they are known without the tasks
    StepState.BLOCKED: BLOCKED,
    StepState.UNDER_WAY: UNDER_WAY,
    StepState.SUCCEEDED: Status.SUCCEEDED.value,
    StepState.DEAD: Status.DEAD.value,
    StepState.CANCELLED: Status.CANCELLED.value,
    StepState.CONDITION: SKIPPED,
    StepState.UPSTREAM: SKIPPED,
    StepState.STOPPED: SKIPPED,
}


@value(frozen=True, kw_only=True, slots=True)
class RunError:
    """The first failure of a run."""

    step: str | None
    task_id: str | None
    type: str
    message: str
    reason: str | None = None  # `compensated` or `stopped`: why a late success did not resume it


@value(frozen=True, kw_only=True, slots=True)
class MapWindow:
    """What makes the run of a map: its step, and how many items may be under way or fail."""

    run_id: str  # the run whose step is the map
    step: str
    max_concurrency: int
    tolerated_failures: int


@value(frozen=True, kw_only=True, slots=True)
class RunSpec:
    """What never changes in a run."""

    namespace: str
    digest: str  # of its definition; of a map, that of the run it belongs to
    run_at: Millis
    timeout: Millis
    input: Any = None  # of a map: the list of items, or their number
    workflow: str | None = None
    version: int | None = None
    name: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    priority: Lane = Lane.MEDIUM
    fail_fast: bool = False
    idempotency_key: str | None = None
    body_hash: str | None = None
    parent_task_id: str | None = None  # the task that waits for its end
    depth: int = 0  # 1: started by a task of a run
    map: MapWindow | None = None
    trace: str | None = None  # of the span that created it: see duetime.core.trace_context


@value(frozen=True, kw_only=True, slots=True)
class Run:
    id: str
    spec: RunSpec
    status: RunStatus
    states: str  # one StepState for each step of the definition, or for each item
    revision: int  # counts the writes of the row
    created_at: Millis
    updated_at: Millis
    timeout_at: Millis
    generations: str = ""  # one of GENERATIONS for each step; empty: all are the first
    attempt: int = 1  # 1 + the number of retries
    stop: StopReason | None = None
    wake: Wake | None = None
    watches: int = 0  # how often its watch has found it unfinished
    error: RunError | None = None
    finished_at: Millis | None = None

    @property
    def kept_from(self) -> Millis | None:
        """The time from which retention counts; None while the run can change. A nested run and a
        map are read as long as the run that they belong to, which ends within its timeout."""
        if not self.status.final:
            return None
        belongs_to_another = self.spec.map is not None or self.spec.parent_task_id is not None
        return self.updated_at + (self.spec.timeout if belongs_to_another else 0)

    def generation(self, position: int) -> str:
        return self.generations[position] if self.generations else GENERATIONS[1]


def step_task_id(run: Run, step: str, position: int, index: int | None = None) -> str:
    """Returns the id of the task of a step, or of an item of a map, in its current generation: the
    same for every role, so that only one task exists for it. Ids carry the time of the run."""
    parts = (run.id, step, run.generation(position), "" if index is None else str(index))
    digest = blake2b("\n".join(parts).encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(run.created_at, int.from_bytes(digest))


def waited_run_id(task_id: str, created_at: Millis) -> str:
    """Returns the id of the run that a task starts and waits for: the same whenever it is asked, so
    that the run is created only once. Several occurrences of a schedule are created at once: their
    ids carry their fire times, and so do those of their runs, or lists would not be in order."""
    digest = blake2b(f"run\n{task_id}".encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(max(created_at, time_of(task_id)), int.from_bytes(digest))

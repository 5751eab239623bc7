"""Types of the JSON of workflows and runs. They are plain dicts, so a newer server may add
fields."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, Required, TypedDict
from uuid import UUID

from duetime.client.limit_types import LimitUseFields
from duetime.client.types import Json, Moment, Priority, RetryFields, Seconds, Target, TaskError

RunIf = Literal["all_succeeded", "none_failed", "any_failed", "all_finished"]


class MapFields(TypedDict, total=False):
    """A step that runs once for each item."""

    items: Required[Any]  # a list, a number, or a reference such as {{steps.extract.result.urls}}
    max_concurrency: int
    tolerated_failures: int


# `finally` is a keyword, so this one is not a class. A step has one of target, workflow and wait.
StepFields = TypedDict(
    "StepFields",
    {
        "name": Required[str],
        "target": "Target | Json",
        "workflow": "str | Mapping[str, Any]",  # a name, or a definition
        "input": Any,  # of `workflow`
        "wait": "Mapping[str, Any]",  # {"seconds": 60} or {"until": "2027-01-04T09:00:00Z"}
        "payload": Any,
        "retry": RetryFields,
        "timeout": Seconds,
        "priority": Priority,
        "pool": "str | None",
        "limits": Sequence[LimitUseFields],
        "ordering_key": "str | UUID",
        "tags": "dict[str, str]",
        "needs": Sequence[str],
        "run_if": RunIf,
        "when": "Mapping[str, Any]",
        "allow_failure": bool,
        "delay": Seconds,
        "map": MapFields,
        "callback": "Mapping[str, Any]",  # {"timeout": 86400}
        "finally": bool,
    },
    total=False,
)


class WorkflowFields(TypedDict, total=False):
    """A workflow as put, without its steps."""

    fail_fast: bool
    timeout: Seconds
    priority: Priority
    tags: dict[str, str]


class Workflow(TypedDict):
    """A workflow as returned."""

    name: str
    namespace: str
    version: int
    digest: str
    steps: NotRequired[list[Json]]  # a list of workflows leaves them out
    fail_fast: bool
    timeout: float
    priority: Priority
    tags: dict[str, str]
    created_at: str
    updated_at: str


class WorkflowPage(TypedDict):
    """The list ends where `next_cursor` is None."""

    items: list[Workflow]
    next_cursor: str | None


class Checked(TypedDict):
    """The answer to a check. `order` has the names of the steps, level by level: the steps of a
    level may run at the same time."""

    order: list[list[str]]


class RunFields(TypedDict, total=False):
    """A run as submitted: the name of a workflow, such as "etl" or "etl@3", or its steps."""

    workflow: str
    steps: Sequence[StepFields | Json]
    input: Any
    name: str
    namespace: str
    tags: dict[str, str]
    idempotency_key: str | UUID
    run_at: Moment
    delay: Seconds
    timeout: Seconds
    fail_fast: bool
    priority: Priority


class RunError(TypedDict):
    """The first failure of a run."""

    step: str | None
    task_id: str | None
    type: str
    message: str
    reason: str | None


# `finally` is a keyword, so this one is not a class, either.
RunStep = TypedDict(
    "RunStep",
    {
        "name": str,
        "status": str,  # that of its task, BLOCKED or SKIPPED
        "reason": "str | None",  # of a skipped step: condition, upstream or stopped
        "needs": "list[str]",
        "finally": bool,
        "task_id": "str | None",
        "run_id": "str | None",  # that it has started: a nested run, or the items of a map
        "attempt": int,
        "started_at": "str | None",
        "finished_at": "str | None",
        "error": "TaskError | None",
    },
)


class RunOfMap(TypedDict):
    """Which step of which run is the map."""

    run_id: str
    step: str


class Run(TypedDict):
    """A run as returned."""

    id: str
    workflow: str | None
    version: int | None
    digest: str  # of its definition
    name: str | None
    namespace: str
    status: str  # RUNNING, CANCELLING, SUCCEEDED, FAILED or CANCELLED
    attempt: int  # 1 + the number of retries
    stop_reason: str | None  # fail_fast, timeout, cancel or cancel_all
    input: Any
    result: NotRequired[Any]  # a list of runs leaves it out
    error: RunError | None
    tags: dict[str, str]
    priority: Priority
    fail_fast: bool
    run_at: str
    timeout: float
    timeout_at: str
    created_at: str
    updated_at: str
    finished_at: str | None
    counts: dict[str, int]  # of steps, by their status
    parent_task_id: str | None
    map: RunOfMap | None  # of the run of a map
    idempotency_key: str | None
    steps: NotRequired[list[RunStep]]  # a list of runs leaves them out
    not_shown: NotRequired[dict[str, str] | None]  # fields that are null here, and why


class RunPage(TypedDict):
    """Newest first. The list ends where `next_cursor` is None."""

    items: list[Run]
    next_cursor: str | None


class RunFilter(TypedDict, total=False):
    """Selects runs. A field that is None or left out matches every run."""

    status: str | None
    namespace: str | None  # "*": all; left out: "default"
    workflow: str | None
    tag: str | None  # "team" or "team:growth"


class MapItem(TypedDict):
    """An item of a map, which is a task."""

    index: int
    status: str
    reason: str | None  # why it was skipped or cancelled
    task_id: str | None
    attempt: int
    started_at: str | None
    finished_at: str | None
    error: TaskError | None


class SubmittedRun(NamedTuple):
    run: Run
    replayed: bool  # the idempotency key was used before, and this is the run stored then

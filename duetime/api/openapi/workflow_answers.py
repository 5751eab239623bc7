"""Models of the answers about workflows and runs."""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from duetime.api.openapi.answers import (
    AnswerModel,
    LimitUse,
    RetryPolicy,
    Seconds,
    TaskError,
    Time,
    list_of,
)
from duetime.core.workflows.run import RunStatus

Priority = Literal["high", "medium", "low"]


class MapOver(AnswerModel):
    """A step that runs once for each item."""

    items: Any
    max_concurrency: int
    tolerated_failures: int


class CallbackWait(AnswerModel):
    """How long a step waits for its callback."""

    timeout: Seconds


class StepDefinition(AnswerModel):
    """A step of a workflow. It has one of `target`, `workflow` and `wait`."""

    name: str
    target: dict[str, Any] | None
    workflow: str | dict[str, Any] | None
    input: Any
    wait: dict[str, Any] | None
    payload: Any
    retry: RetryPolicy
    timeout: Seconds
    priority: Priority | None
    pool: str | None
    limits: list[LimitUse]
    ordering_key: str | None
    tags: dict[str, str]
    needs: list[str]
    run_if: Literal["all_succeeded", "none_failed", "any_failed", "all_finished"]
    when: dict[str, Any] | None
    allow_failure: bool
    delay: Seconds
    map: MapOver | None
    callback: CallbackWait | None
    last: Annotated[bool, Field(alias="finally")]


class WorkflowSummary(AnswerModel):
    """A workflow without its steps."""

    name: str
    namespace: str
    version: int
    """A changed definition is the next version."""
    digest: str
    """The same definition has the same digest."""
    fail_fast: bool
    timeout: Seconds
    priority: Priority
    tags: dict[str, str]
    created_at: Time
    updated_at: Time


class Workflow(WorkflowSummary):
    """A named definition."""

    steps: list[StepDefinition]
    """The definition may be put again as it is shown, except for masked headers."""


class StepOrder(AnswerModel):
    """What a dry run returns."""

    order: list[list[str]]
    """The names of the steps, level by level: those of a level may run at the same time."""


class RunError(AnswerModel):
    """The first failure of a run."""

    step: str | None
    """The step that failed first."""
    task_id: str | None
    """Its task."""
    type: str
    """The type of its error; `TimedOut` without a step if the run itself timed out."""
    message: str
    """Its message."""
    reason: str | None
    """Why a later success of the step has not resumed the run: `compensated` or `stopped`."""


class RunStep(AnswerModel):
    """A step of a run."""

    name: str
    """The name of the step."""
    status: str
    """That of its task; BLOCKED before its needs have ended, SKIPPED if it does not run."""
    reason: str | None
    """Why it was skipped, `condition`, `upstream` or `stopped`, or why its task was cancelled."""
    needs: list[str]
    """The steps that it waits for."""
    last: Annotated[bool, Field(alias="finally")]
    """Whether it runs after every other step."""
    run_id: str | None
    """The run that it has started: a nested workflow, or the items of a map."""
    task_id: str | None
    """Its task."""
    attempt: int
    """The number of the current or last attempt of its task."""
    started_at: Time | None
    """When that attempt started."""
    finished_at: Time | None
    """When its task ended."""
    error: TaskError | None
    """The last failure of its task."""


class RunItem(AnswerModel):
    """An item of a map."""

    index: int
    """The place of the item, from 0."""
    status: str
    """That of its task; BLOCKED before it starts, SKIPPED if it never does."""
    reason: str | None
    """Why it was skipped or cancelled."""
    task_id: str | None
    """Its task."""
    attempt: int
    """The number of the current or last attempt of its task."""
    started_at: Time | None
    """When that attempt started."""
    finished_at: Time | None
    """When its task ended."""
    error: TaskError | None
    """The last failure of its task."""


class RunOfMap(AnswerModel):
    """Which step of which run is the map."""

    run_id: str
    """The run that has the map as a step."""
    step: str
    """The name of the step."""


class RunSummary(AnswerModel):
    """A run without its steps."""

    id: str
    """Ids sort by the time of their creation."""
    status: RunStatus
    workflow: str | None
    """The workflow; null for a run with steps of its own."""
    version: int | None
    """The version that the run follows to its end."""
    digest: str
    """The digest of its definition."""
    name: str | None
    namespace: str
    input: Any
    """What its steps refer to as `{{input}}`; of a map, the items or their number."""
    priority: Priority
    tags: dict[str, str]
    fail_fast: bool
    run_at: Time
    timeout: Seconds
    timeout_at: Time
    """When it is stopped. A retry counts the timeout anew."""
    idempotency_key: str | None
    attempt: int
    """1 + the number of its retries."""
    stop_reason: Literal["fail_fast", "timeout", "cancel", "cancel_all"] | None
    """Why steps were stopped; `cancel_all` after a second DELETE."""
    created_at: Time
    updated_at: Time
    finished_at: Time | None
    error: RunError | None
    counts: dict[str, int]
    """How many steps, or items, have which status; UNDER_WAY is any status of a live task."""
    parent_task_id: str | None
    """The task that has started this run, and waits for its end."""
    map: RunOfMap | None
    """The run of a map says which step it is."""


class Run(RunSummary):
    """One execution of a workflow."""

    result: Any
    """Of a run that succeeded: the result of its last step, if it has exactly one. Of a map: how
    many items succeeded."""
    steps: list[RunStep]
    not_shown: dict[str, str] | None
    """Which fields are null here although they are stored, and why."""


class WorkflowOrOrder(RootModel[Workflow | StepOrder]):
    """The workflow; of a dry run, the order of the steps."""


class RunOrOrder(RootModel[Run | StepOrder]):
    """The run; of a dry run, the order of the steps."""


class Accepted(AnswerModel):
    """The wait of the step is over."""

    accepted: Literal[True]
    """Always true."""


WorkflowSummaryList = list_of(WorkflowSummary)
RunSummaryList = list_of(RunSummary)
RunItemList = list_of(RunItem)

"""Models of the answers about tasks, of lists and of problems.

The API makes its answers without them (duetime/api/views.py); the document shows them, and
tests/api/test_openapi_answers.py checks that real answers have exactly these fields.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from duetime.api.secret_models import TextOrSecret
from duetime.api.service_target_models import AnyTarget
from duetime.core.lifecycle import Outcome, Status

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Seconds = Annotated[float, Field(ge=0)]


class AnswerModel(BaseModel):
    """The text below a field is its description."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class RetryPolicy(AnswerModel):
    """When a failed attempt is tried again."""

    max_attempts: int
    base_delay: Seconds
    multiplier: float
    max_delay: Seconds
    jitter: Seconds


class Progress(AnswerModel):
    """What a running handler has reported."""

    fraction: float
    message: str | None


class AttemptError(AnswerModel):
    """Why an attempt failed."""

    type: str
    """The name of the exception, `Http503` and the like, or one of Duetime's own: `TimedOut`,
    `LeaseExpired`, `ConnectionFailed` and others."""
    message: str
    traceback: str | None
    """The end of the traceback, if a handler raised."""


class TaskError(AttemptError):
    """The last failure of a task."""

    attempt: int
    """The number of the attempt that failed."""


class Unique(AnswerModel):
    """The key of a task, and what is done if another task holds it."""

    key: str
    held_while: Annotated[Literal["pending", "running"], Field(alias="while")]
    on_conflict: Literal["return_existing", "replace", "reject"]


class LimitUse(AnswerModel):
    """A limit that a task is under."""

    name: str
    key: str | None
    on_full: Literal["queue", "skip", "cancel"]


class WaitingFor(AnswerModel):
    """What a task waits for: a place under a limit, the task before it with its ordering key, a
    worker, or the end of its wait."""

    limit: str | None = None
    """The name of the limit."""
    key: str | None = None
    """The key that the task uses it with."""
    ordering_key: str | None = None
    """The ordering key, if the task waits for that."""
    run: str | None = None
    """The run that a WAITING task has started."""
    callback: bool | None = None
    """Whether a WAITING task waits for its callback."""
    worker: str | None = None
    """The handler that no live worker has."""
    pool: str | None = None
    """The pool of that worker."""


class Task(AnswerModel):
    """One durable piece of work."""

    id: str
    """Ids sort by the time of their submission."""
    status: Status
    name: str | None
    namespace: str
    target: AnyTarget | dict[str, Any] | None
    """What the task does. Headers that hold a secret show `***`; a `$secret` shows its name. Of a
    step of a workflow, its target with the references as they are in the definition; in a list,
    only `step`."""
    payload: Any
    run_at: Time
    """When the task was to run, as submitted."""
    due_at: Time
    """When the coming or last attempt is due."""
    priority: Literal["high", "medium", "low"]
    """As submitted."""
    lane: Literal["high", "medium", "low"]
    """Where the task waits and runs: that of its priority, or a higher one after a promotion."""
    promoted_at: Time | None
    """When the task was moved to a higher lane, since it had waited for too long."""
    pool: str | None
    """Whose workers run the task; null: the executors of Duetime itself."""
    timeout: Seconds
    retry: RetryPolicy
    jitter: Seconds
    expires_at: Time | None
    ordering_key: str | None
    on_dead: Literal["continue", "block"] | None
    limits: list[LimitUse]
    fairness_key: str | None
    waiting_for: WaitingFor | None
    """What the task waits for, if it is due and may not start yet."""
    idempotency_key: str | None
    unique: Unique | None
    tags: dict[str, str]
    attempt: int
    """The number of the current or last attempt; 0 before the first."""
    created_at: Time
    updated_at: Time
    started_at: Time | None
    """When the current or last attempt started."""
    finished_at: Time | None
    drift_ms: int | None
    """Start minus due time of the current or last attempt, in milliseconds."""
    progress: Progress | None
    result: Any
    """What the target returned."""
    error: TaskError | None
    """The last failure, even if a later attempt succeeded."""
    cancel_requested: bool
    reason: str | None
    """Why it was cancelled: by its schedule `overlap`, `misfire`, `paused`, `changed` or `deleted`,
    by a newer task with its unique key `replaced`, by a full limit `limit`."""
    schedule_id: str | None
    """The schedule that this task is a run of."""
    scheduled_for: Time | None
    """The fire time that this task is a run of."""
    parent_id: str | None
    """The task whose handler has submitted this one."""
    run_id: str | None
    """The workflow run that this task is a step of; of an item of a map, the run of the map."""
    step: str | None
    """The name of the step."""
    index: int | None
    """The place of an item of a map, from 0."""
    not_shown: dict[str, str] | None
    """Which fields are null here although they are stored, and why."""


class SummaryTarget(AnswerModel):
    """What a task does, in short."""

    type: str
    """The type of the target, such as `http`."""
    handler: str | None = None
    """Of `python`."""
    method: str | None = None
    """Of `http`."""
    url: TextOrSecret | None = None
    """Of `http`; a `$secret` shows its name."""


class SummaryError(AnswerModel):
    """The last failure of a task, in short."""

    type: str
    message: str
    """Its first 200 characters."""
    attempt: int
    """The number of the attempt that failed."""


class TaskSummary(AnswerModel):
    """What a row of a table shows of a task: nothing of it is long."""

    id: str
    status: Status
    name: str | None
    namespace: str
    target: SummaryTarget
    run_at: Time
    """When the task was to run, as submitted."""
    due_at: Time
    """When the coming or last attempt is due."""
    priority: Literal["high", "medium", "low"]
    """As submitted."""
    lane: Literal["high", "medium", "low"]
    """Where the task waits and runs: that of its priority, or a higher one after a promotion."""
    promoted_at: Time | None
    """When the task was moved to a higher lane, since it had waited for too long."""
    pool: str | None
    """Whose workers run the task; null: the executors of Duetime itself."""
    waiting_for: WaitingFor | None
    """What the task waits for, if it is due and may not start yet."""
    tags: dict[str, str]
    attempt: int
    """The number of the current or last attempt; 0 before the first."""
    max_attempts: int
    """How often the task is tried."""
    created_at: Time
    updated_at: Time
    started_at: Time | None
    """When the current or last attempt started."""
    finished_at: Time | None
    drift_ms: int | None
    """Start minus due time of the current or last attempt, in milliseconds."""
    progress: Progress | None
    error: SummaryError | None
    """The last failure, even if a later attempt succeeded."""
    cancel_requested: bool
    reason: str | None
    """Why it was cancelled; see Task."""
    schedule_id: str | None
    """The schedule that this task is a run of."""
    scheduled_for: Time | None
    """The fire time that this task is a run of."""
    parent_id: str | None
    """The task whose handler has submitted this one."""


class Attempt(AnswerModel):
    """One run of a task."""

    number: Annotated[int, Field(ge=1)]
    started_at: Time
    finished_at: Time | None
    outcome: Outcome | None
    """Null while it runs."""
    error: AttemptError | None
    drift_ms: int
    """Start minus due time, in milliseconds."""


class FieldProblem(AnswerModel):
    """One field that was refused."""

    field: str
    """Such as `retry.max_attempts`."""
    message: str
    position: int | None = None
    """Where in the text of a cron expression the error begins, from 1."""


class Problem(BaseModel):
    """An error, in the format of RFC 9457. A problem may have further fields."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)

    type: str
    """The kind of problem: `urn:duetime:problem:invalid` and others."""
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    """What is wrong with this request, in words."""
    errors: list[FieldProblem] = []
    """The fields that were refused, at most 20."""


class GatewayMessage(BaseModel):
    """A refusal of the gateway in front of a deployed API."""

    message: str | None = None


class FoundTasks(AnswerModel):
    """One page of the list of tasks: whole tasks, or with `fields=summary` summaries."""

    items: list[Task] | list[TaskSummary]
    next_cursor: str | None
    """Send it as `cursor` for the next page; null on the last page."""
    looked_from: Time | None = None
    """With `order=soonest`: the page has read due times from here on."""
    looked_until: Time | None = None
    """With `order=soonest`: the page has read due times up to here; null if nothing is due
    later."""


def list_of(model: type[BaseModel]) -> type[BaseModel]:
    """Returns the model of a page: every list has this shape."""
    cursor = Field(description="Send it as `cursor` for the next page; null on the last page.")
    return create_model(
        f"{model.__name__}List",
        __base__=AnswerModel,
        __doc__=f"One page of a list: `items`, each a {model.__name__}.",
        items=(list[model], ...),  # type: ignore[valid-type]
        next_cursor=(Annotated[str | None, cursor], ...),
    )


TaskList = list_of(Task)
AttemptList = list_of(Attempt)

"""Types of the JSON of tasks. They are plain dicts, so a newer server may add fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, Required, TypedDict
from uuid import UUID

from duetime.client.limit_types import LimitUse, LimitUseFields, OnDead, WaitingFor

Json = dict[str, Any]
Priority = Literal["high", "medium", "low"]
Order = Literal["newest", "soonest"]
Fields = Literal["all", "summary"]

# The client accepts more than the types of JSON: see duetime.core.json_values.
Moment = str | datetime  # RFC 3339 with an offset, or with a time zone
Seconds = float | timedelta


# In place of a text in an `http` target: the name of a secret.
SecretReference = TypedDict("SecretReference", {"$secret": str})


class HttpTarget(TypedDict, total=False):
    type: Required[Literal["http"]]
    url: Required[str | SecretReference]
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    headers: Mapping[str, str | SecretReference]
    sign: SecretReference


class PythonTarget(TypedDict):
    type: Literal["python"]
    handler: str


class DynamoDBTarget(TypedDict, total=False):
    """The payload has `item` for put, `key` for delete, and `key`, `set`, `add`, `remove` for
    update."""

    type: Required[Literal["dynamodb"]]
    table: Required[str]  # ARN
    action: Required[Literal["put", "update", "delete"]]
    if_absent: str  # the table's partition key: a put keeps an item that is there


# "from" is a keyword, so this one is not a class.
EmailTarget = TypedDict(
    "EmailTarget",
    {
        "type": Literal["email"],
        "from": str,
        "to": list[str] | str,
        "cc": NotRequired[list[str] | str],
        "bcc": NotRequired[list[str] | str],
        "reply_to": NotRequired[list[str] | str],
    },
)


class EventBridgeTarget(TypedDict, total=False):
    type: Required[Literal["eventbridge"]]
    bus: Required[str]  # ARN
    source: Required[str]
    detail_type: Required[str]
    resources: list[str]


class LambdaTarget(TypedDict, total=False):
    type: Required[Literal["lambda"]]
    function: Required[str]  # ARN
    invocation: Literal["sync", "async"]
    envelope: bool  # put the task's id and attempt around the payload


class SnsTarget(TypedDict, total=False):
    type: Required[Literal["sns"]]
    topic: Required[str]  # ARN
    subject: str
    group: str
    attributes: dict[str, str]


class SqlTarget(TypedDict):
    """The payload has a value for each parameter of the statement."""

    type: Literal["sql"]
    database: str  # a configured name
    statement: str


class SqsTarget(TypedDict, total=False):
    type: Required[Literal["sqs"]]
    queue: Required[str]  # ARN
    delay: int  # seconds
    group: str
    attributes: dict[str, str]


class StepFunctionsTarget(TypedDict):
    type: Literal["stepfunctions"]
    state_machine: str  # ARN


class WorkflowTarget(TypedDict, total=False):
    type: Required[Literal["workflow"]]
    workflow: Required[str]  # its name, or one version of it: etl@3
    input: Any


Target = (
    HttpTarget
    | PythonTarget
    | DynamoDBTarget
    | EmailTarget
    | EventBridgeTarget
    | LambdaTarget
    | SnsTarget
    | SqlTarget
    | SqsTarget
    | StepFunctionsTarget
    | WorkflowTarget
)


class RetryFields(TypedDict, total=False):
    """A retry policy as submitted."""

    max_attempts: int  # including the first
    base_delay: Seconds
    multiplier: float
    max_delay: Seconds
    jitter: Seconds


class Retry(TypedDict, total=False):
    max_attempts: int  # including the first
    base_delay: float
    multiplier: float
    max_delay: float
    jitter: float


# `while` is no name in Python.
UniqueFields = TypedDict(
    "UniqueFields",
    {
        "key": Required[str | UUID],
        "while": Literal["pending", "running"],
        "on_conflict": Literal["return_existing", "replace", "reject"],
    },
    total=False,
)


Unique = TypedDict("Unique", {"key": str, "while": str, "on_conflict": str})


class TaskFields(TypedDict, total=False):
    """A task as submitted. The payload may hold datetimes with a time zone, UUIDs, dataclasses and
    more: see duetime.core.json_values."""

    target: Required[Target | Json]
    payload: Any
    run_at: Moment
    delay: Seconds
    priority: Priority
    pool: str | None  # whose workers run it
    timeout: Seconds
    retry: RetryFields
    jitter: Seconds
    expires_at: Moment
    name: str
    namespace: str
    ordering_key: str | UUID
    on_dead: OnDead  # only with an ordering key
    limits: Sequence[LimitUseFields]  # at most one with a rate, and one with a concurrency
    fairness_key: str | UUID
    trace: str
    idempotency_key: str | UUID
    id: str  # a ULID; the client makes one if it is left out
    unique: UniqueFields
    tags: dict[str, str]


class ChangeFields(TypedDict, total=False):
    """What may be changed about a task. A field that is left out stays as it is; None removes
    `expires_at` and `fairness_key`, and gives `retry` its defaults. The fields of `retry` change
    one by one, `limits` and `tags` as a whole."""

    payload: Any
    run_at: Moment
    delay: Seconds
    priority: Priority
    timeout: Seconds
    retry: RetryFields | None
    expires_at: Moment | None
    on_dead: OnDead
    limits: Sequence[LimitUseFields]
    fairness_key: str | UUID | None
    tags: dict[str, str]


class Progress(TypedDict):
    fraction: float
    message: str | None


class TaskError(TypedDict):
    type: str
    message: str
    traceback: str | None  # the end of the traceback of a handler that raised
    attempt: NotRequired[int]


class Hint(TypedDict):
    """What would be better about a task that is stored as it is."""

    field: str
    message: str


class Task(TypedDict):
    """A task as returned."""

    id: str
    status: str
    name: str | None
    namespace: str
    target: Json
    payload: Any
    run_at: str
    due_at: str
    priority: Priority  # as submitted
    lane: Priority  # where it runs: a higher one if it was promoted
    promoted_at: str | None
    pool: str | None  # whose workers run it
    timeout: float
    retry: Retry
    jitter: float
    expires_at: str | None
    ordering_key: str | None
    on_dead: OnDead | None  # None without an ordering key
    limits: list[LimitUse]
    fairness_key: str | None
    waiting_for: WaitingFor | None  # of a task that is due and may not start yet
    idempotency_key: str | None
    unique: Unique | None
    tags: dict[str, str]
    attempt: int  # 0 before the first
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None
    drift_ms: int | None
    progress: Progress | None
    result: Any
    error: TaskError | None
    cancel_requested: bool
    # Why Duetime cancelled it: overlap, misfire, paused, changed, deleted, replaced, discarded,
    # limit.
    reason: str | None
    schedule_id: str | None
    scheduled_for: str | None
    parent_id: str | None  # the task whose handler has submitted this one
    run_id: str | None  # the workflow run that this task is a step of
    step: str | None
    index: int | None  # of an item of a map
    not_shown: dict[str, str] | None  # fields that are null because they are nested too deep
    max_attempts: NotRequired[int]  # of a summary, which has no `retry`
    hints: NotRequired[list[Hint]]  # of a task that was stored now, if there are any


@dataclass(frozen=True)
class Submitted:
    task: Task
    replayed: bool  # the key or id was used before, or another task holds the unique key


class LaneState(TypedDict):
    """How busy a lane is. On AWS the numbers are approximate, and those that may be None are."""

    lane: str
    depth: int  # due tasks that wait for an executor
    delayed: int  # tasks that are due within minutes
    in_flight: int  # tasks that an executor has
    oldest_seconds: float | None  # how long the oldest has waited; None also if nothing waits
    weight: int | None  # its share of the starts while every lane has work, in percent
    running: int | None  # attempts that run now
    in_per_minute: int | None  # messages that were sent to it in the last minute
    out_per_minute: int | None  # attempts of it that started in the last minute
    promoted: (
        int | None
    )  # tasks that have left it for the next higher lane since the runner started
    waiting: int | None  # tasks that wait for a limit or for their ordering key


class LanePage(TypedDict):
    items: list[LaneState]
    next_cursor: None


class TaskPage(TypedDict):
    """A page may be short, even empty. The list ends where `next_cursor` is None."""

    items: list[Task]  # with fields="summary", without what is long: see the API reference
    next_cursor: str | None
    looked_from: NotRequired[str | None]  # these two with order="soonest": the due times that
    looked_until: NotRequired[str | None]  # were read; None: without an end


Tags = str | Mapping[str, str] | Sequence[str]  # "team:growth", "team", {"team": "growth"}


class TaskFilter(TypedDict, total=False):
    """Selects tasks. A field that is None or left out matches every task."""

    namespace: str | None  # "*": all; left out: "default"
    status: str | Sequence[str] | None
    schedule_id: str | None
    parent_id: str | None  # tasks that the handler of this task has submitted
    tag: Tags | None  # all of them
    name: str | None  # how it begins
    handler: str | None
    target: str | None  # its type
    lane: str | Sequence[str] | None  # one of these: "low", or "batch/low" of a pool
    error_type: str | None  # of its last failure
    with_key: str | None  # its idempotency key
    run_id: str | None  # of a workflow run: its steps, or the items of a map; not in bulk
    due_since: Moment | None  # then or later
    due_before: Moment | None
    created_since: Moment | None  # then or later
    created_before: Moment | None
    upcoming: bool | None  # False: without future runs of schedules
    q: str | None  # the same in one text: "status:DEAD since:24h"


class Attempt(TypedDict):
    number: int
    started_at: str
    finished_at: str | None
    outcome: str | None  # None while it runs
    error: TaskError | None
    drift_ms: int


class BatchResult(TypedDict):
    """Has `task` if it was stored, or else `error`, a problem; `status` is the HTTP status."""

    status: int
    task: NotRequired[Task]
    error: NotRequired[Json]

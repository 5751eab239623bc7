"""Request bodies: a task, a batch of tasks, and an empty body."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
)

from duetime.api.http import FieldError, Request, invalid
from duetime.api.limit_models import LimitsIn
from duetime.api.target_models import Target
from duetime.api.validation import Moment, Seconds, Word, field_errors
from duetime.core.codec import to_json
from duetime.core.ids import LENGTH, created_at, is_id
from duetime.core.lanes import POOL_NAME, POOL_NAME_RULE, Lane
from duetime.core.limits.definition import OnDead
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.task import (
    LONGEST_TIMEOUT,
    MAX_AHEAD,
    MAX_JITTER,
    MAX_NAME,
    PAYLOAD_LIMIT,
    Spec,
)
from duetime.core.time_limits import TimeLimits
from duetime.core.times import MINUTE, Millis, seconds
from duetime.core.trace_context import is_traceparent, pack
from duetime.core.unique import HeldWhile, OnConflict, Unique

TARGET_LIMIT = 16 * 1024
BATCH_LIMIT = 100
PLAIN_TARGETS = ("http", "python")  # they take any payload; see service_target_models
MAX_ID_AGE: Millis = 5 * MINUTE  # of a client-made id, before or after now

M = TypeVar("M", bound=BaseModel)
TagKey = Annotated[str, StringConstraints(min_length=1, max_length=64)]
TagValue = Annotated[str, StringConstraints(max_length=256)]


def _supported(timeout: float, info: ValidationInfo) -> float:
    """Refuses a timeout that the executors do not support: see read_task."""
    given = (info.context or {}).get("time_limits") if "pool" in info.data else None
    limits: TimeLimits = given or TimeLimits()  # a pool that is refused says nothing of its limit
    if error := limits.timeout_error(timeout, info.data.get("pool")):
        raise ValueError(error)
    return timeout


def _existing(pool: str, info: ValidationInfo) -> str:
    if not POOL_NAME.fullmatch(pool):
        raise ValueError(POOL_NAME_RULE)
    limits: TimeLimits | None = (info.context or {}).get("time_limits")
    if limits and (error := limits.pool_error(pool)):
        raise ValueError(error)
    return pool


def _traceparent(text: str) -> str:
    if not is_traceparent(text):
        raise ValueError("must be a traceparent, such as 00-<32 hex digits>-<16 hex digits>-01")
    return text


Delay = Annotated[float, Field(ge=0, le=MAX_AHEAD // 1_000)]
Priority = Literal["high", "medium", "low"]
Pool = Annotated[
    str,
    AfterValidator(_existing),
    Field(json_schema_extra={"pattern": f"^{POOL_NAME.pattern}$"}),
]
Timeout = Annotated[
    float,
    Field(ge=1, json_schema_extra={"maximum": LONGEST_TIMEOUT}),
    AfterValidator(_supported),
]
OnDeadIn = Literal["continue", "block"]
Tags = Annotated[dict[TagKey, TagValue], Field(max_length=10)]
RUN_AT_OR_DELAY = FieldError("delay", "give run_at or delay, not both")
ON_DEAD_ALONE = FieldError("on_dead", "goes with an ordering_key")
TOO_FAR_AHEAD = FieldError("run_at", "must be at most 10 years ahead")


class RetryIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    max_attempts: Annotated[int, Field(ge=1, le=100)] = DEFAULT_RETRY.max_attempts
    base_delay: Seconds = DEFAULT_RETRY.base_delay
    multiplier: Annotated[float, Field(ge=1, le=100)] = DEFAULT_RETRY.multiplier
    max_delay: Seconds = DEFAULT_RETRY.max_delay
    jitter: Seconds = DEFAULT_RETRY.jitter

    def policy(self) -> RetryPolicy:
        return RetryPolicy(
            max_attempts=self.max_attempts,
            base_delay=self.base_delay,
            multiplier=self.multiplier,
            max_delay=self.max_delay,
            jitter=self.jitter,
        )


class UniqueIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    key: Word
    held_while: Annotated[Literal["pending", "running"], Field(alias="while")] = "running"
    on_conflict: Literal["return_existing", "replace", "reject"] = "return_existing"

    def unique(self) -> Unique:
        held_while, on_conflict = HeldWhile(self.held_while), OnConflict(self.on_conflict)
        return Unique(key=self.key, held_while=held_while, on_conflict=on_conflict)


class TaskIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    target: Target
    payload: Any = None
    run_at: Moment | None = None
    delay: Delay | None = None
    priority: Priority = "medium"
    pool: Pool | None = None  # before the timeout, which it limits
    timeout: Timeout = 60.0
    retry: RetryIn | None = None
    jitter: Annotated[float, Field(ge=0, le=MAX_JITTER)] = 0.0
    expires_at: Moment | None = None
    name: Annotated[str, StringConstraints(max_length=MAX_NAME)] | None = None
    namespace: Word = "default"
    ordering_key: Word | None = None
    on_dead: OnDeadIn | None = None
    limits: LimitsIn = []
    fairness_key: Word | None = None
    idempotency_key: Word | None = None
    id: str | None = None
    unique: UniqueIn | None = None
    tags: Tags = {}
    trace: Annotated[str, AfterValidator(_traceparent)] | None = None

    def spec(self, now: Millis) -> Spec:
        """Returns what is stored, after checking that the fields agree with each other."""
        run_at = self._run_at(now)
        self._check(run_at, now)
        return Spec(
            target=self.target.stored(),
            payload=self.payload,
            run_at=run_at,
            priority=Lane(self.priority),
            pool=self.pool,
            timeout=self.timeout,
            retry=self.retry.policy() if self.retry else DEFAULT_RETRY,
            jitter=self.jitter,
            expires_at=self.expires_at,
            name=self.name,
            namespace=self.namespace,
            ordering_key=self.ordering_key,
            on_dead=OnDead(self.on_dead or OnDead.CONTINUE),
            limits=tuple(limit.use() for limit in self.limits),
            fairness_key=self.fairness_key,
            idempotency_key=self.idempotency_key,
            tags=self.tags,
            unique=self.unique.unique() if self.unique else None,
            trace=pack(self.trace) if self.trace else None,
        )

    def _run_at(self, now: Millis) -> Millis:
        if self.run_at is not None:
            return self.run_at
        return now if self.delay is None else now + seconds(self.delay)

    def _check(self, run_at: Millis, now: Millis) -> None:
        errors = []
        if self.run_at is not None and self.delay is not None:
            errors.append(RUN_AT_OR_DELAY)
        if run_at - now > MAX_AHEAD:
            errors.append(TOO_FAR_AHEAD)
        if self.expires_at is not None and self.expires_at <= max(run_at, now):
            errors.append(FieldError("expires_at", "must be after the task is due"))
        if self.on_dead is not None and self.ordering_key is None:
            errors.append(ON_DEAD_ALONE)
        if self.target.type != "python" and stored_size(self.target.stored()) > TARGET_LIMIT:
            errors.append(FieldError("target", "must be at most 16 KiB"))
        errors += self.target.errors(self.payload)
        if self.id is not None and (wrong := _wrong_id(self.id, now)):
            errors.append(FieldError("id", wrong))
        if errors:
            raise invalid(errors)


def _wrong_id(task_id: str, now: Millis) -> str | None:
    """Returns why a client-made id is refused. Its time decides where a list shows the task."""
    if not is_id(task_id):
        return f"must be a ULID: {LENGTH} digits and capital letters, without I, L, O and U"
    if abs(created_at(task_id) - now) > MAX_ID_AGE:
        return "must have a time within 5 minutes of now: make a new id, or check your clock"
    return None


class BatchIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    tasks: Annotated[list[Any], Field(min_length=1, max_length=BATCH_LIMIT)]


class NothingIn(BaseModel):
    """The body of a call that takes no fields."""

    model_config = ConfigDict(extra="forbid")


def check_no_fields(request: Request) -> None:
    """Refuses a body, unless it is empty or an object without fields."""
    if request.body.strip():
        read_body(NothingIn, request.json())


def read_task(body: Any, time_limits: TimeLimits) -> TaskIn:
    """`time_limits` say which pools there are, and how long an attempt may take."""
    return read_body(_model_for(body), body, time_limits=time_limits)


def _model_for(body: Any) -> type[TaskIn]:
    """Most tasks have an `http` or a `python` target; building the models of all the others would
    delay every cold start."""
    target = body.get("target") if isinstance(body, dict) else None
    if isinstance(target, dict) and target.get("type") in PLAIN_TARGETS:
        return TaskIn
    from duetime.api.service_target_models import AnyTaskIn

    return AnyTaskIn


def read_batch(body: Any) -> list[Any]:
    """Returns the tasks of a batch unread: each is read on its own, and a bad one fails alone."""
    return read_body(BatchIn, body).tasks


def read_body(model: type[M], body: Any, **context: Any) -> M:
    """Validates a body; `context` is for the validators of the model."""
    try:
        return model.model_validate(body, context=context)
    except ValidationError as error:
        raise invalid(field_errors(error)) from None


def is_large(payload: Any) -> bool:
    """Whether a payload is too large for the store: see duetime.engine.large_payloads."""
    return payload is not None and stored_size(payload) > PAYLOAD_LIMIT


def stored_size(payload: Any) -> int:
    try:
        return len(to_json(payload).encode())
    except ValueError:  # 1e999 is read as infinity, which JSON cannot represent
        message = "must hold no number beyond 1.8e308"
        raise invalid([FieldError("payload", message)]) from None

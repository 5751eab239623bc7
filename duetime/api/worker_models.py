"""Request bodies of HTTP workers: leases, renewals, outcomes and children."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from duetime.api.http import FieldError, Request, invalid
from duetime.api.task_models import BATCH_LIMIT, read_body
from duetime.api.validation import Word
from duetime.core.codec import to_json
from duetime.core.errors import AskedForDelay
from duetime.core.ids import LENGTH, is_id
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome
from duetime.core.results import DEPTH_LIMIT, SIZE_LIMIT, is_deeper
from duetime.core.steps.record import INTERRUPTED, LONGEST_RETRY_AFTER, Failure
from duetime.core.task import Progress, TaskError, storable
from duetime.core.times import SECOND, seconds
from duetime.core.worker_calls import LONGEST_POLL, MAX_LEASES, LeaseRequest, Renewal, Report
from duetime.engine.idempotency import body_hash

MAX_HANDLERS = 1_000
MAX_TYPE, MAX_MESSAGE, MAX_TRACEBACK = 256, 1_000, 1_500  # characters that are kept of an error
MAX_LOG = 16 * 1024  # characters
MAX_STEP = 256  # characters of the name of a submission
MAX_ORDINAL = 1_000_000  # of equal submissions


def _ulid(text: str) -> str:
    if not is_id(text):
        raise ValueError(f"must be a ULID: {LENGTH} digits and capital letters, without I, L, O, U")
    return text


def _worker_name(text: str) -> str:
    if not 1 <= len(text) <= 64 or not all(
        c.isascii() and (c.isalnum() or c in "._-") for c in text
    ):
        raise ValueError("must be 1 to 64 letters, digits and ._- only")
    return text


def _each_once(given: list[str]) -> list[str]:
    return list(dict.fromkeys(given))


WorkerName = Annotated[
    str,
    AfterValidator(_worker_name),
    Field(json_schema_extra={"pattern": "^[A-Za-z0-9._-]{1,64}$"}),
]
Ulid = Annotated[
    str,
    AfterValidator(_ulid),
    Field(json_schema_extra={"pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"}),
]
TaskId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Holder = Annotated[str, StringConstraints(min_length=1, max_length=256)]
HandlerName = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Short = Annotated[str, StringConstraints(max_length=128)]
LaneName = Literal["high", "medium", "low"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class LeaseIn(_Body):
    worker: WorkerName
    pool: Annotated[str, StringConstraints(max_length=32)] | None = None
    lanes: Annotated[
        list[LaneName], Field(min_length=1, max_length=len(Lane)), AfterValidator(_each_once)
    ] = ["high", "medium", "low"]
    handlers: Annotated[
        list[HandlerName], Field(min_length=1, max_length=MAX_HANDLERS), AfterValidator(_each_once)
    ]
    max: Annotated[int, Field(ge=1, le=MAX_LEASES)] = 1
    wait: Annotated[float, Field(ge=0, le=LONGEST_POLL)] = 0.0
    request: Ulid
    concurrency: Annotated[int, Field(ge=1, le=100_000)] | None = None
    host: Short | None = None
    version: Short | None = None

    def wanted(self) -> LeaseRequest:
        return LeaseRequest(
            worker=self.worker,
            pool=self.pool,
            lanes=tuple(lane for lane in Lane if lane in self.lanes),
            handlers=tuple(self.handlers),
            most=self.max,
            wait=self.wait,
            request=self.request,
            body_hash=body_hash(self.model_dump()),
            concurrency=self.concurrency,
            host=self.host,
            version=self.version,
        )


class ProgressIn(_Body):
    fraction: Annotated[float, Field(ge=0, le=1)]
    message: Annotated[str, StringConstraints(max_length=256)] | None = None


class RenewalIn(_Body):
    id: TaskId
    holder: Holder
    progress: ProgressIn | None = None

    def renewal(self) -> Renewal:
        given = self.progress
        progress = Progress(fraction=given.fraction, message=given.message) if given else None
        return Renewal(task_id=self.id, holder=self.holder, progress=progress)


class RenewIn(_Body):
    worker: WorkerName
    leases: Annotated[list[Any], Field(min_length=1, max_length=MAX_LEASES)]
    draining: bool = False


class ErrorIn(_Body):
    """What is longer is cut."""

    type: Annotated[str, StringConstraints(min_length=1)]
    message: str = ""
    traceback: str | None = None

    def error(self) -> TaskError:
        return TaskError(
            type=storable(self.type, MAX_TYPE),
            message=storable(self.message, MAX_MESSAGE),
            traceback=self.traceback and storable(self.traceback, MAX_TRACEBACK),
        )


class OutcomeIn(_Body):
    id: TaskId
    holder: Holder
    outcome: Literal["succeeded", "failed", "timed_out", "cancelled", "interrupted", "snoozed"]
    result: Any = None
    error: ErrorIn | None = None
    permanent: bool = False
    retry_after: Annotated[float, Field(ge=0, le=LONGEST_RETRY_AFTER // SECOND)] | None = None
    delay: Annotated[float, Field(ge=0, le=AskedForDelay.LONGEST)] | None = None
    limited: Word | None = None
    started_after: Annotated[float, Field(ge=0, le=86_400)] | None = None
    log: Annotated[str, StringConstraints(max_length=MAX_LOG)] | None = None

    def report(self) -> Report:
        """Raises Problem if the fields do not go together."""
        if errors := [*self._disagreements()]:
            raise invalid(errors)
        outcome = Outcome(self.outcome)
        after = None if self.started_after is None else seconds(self.started_after)
        if outcome is Outcome.SUCCEEDED:
            result = _result_text(self.result)
            return Report(task_id=self.id, holder=self.holder, result=result, started_after=after)
        failure = Failure(
            outcome=outcome,
            error=self.error.error() if self.error else _DEFAULT_ERRORS[outcome],
            permanent=self.permanent,
            retry_after=None if self.retry_after is None else seconds(self.retry_after),
            delay=None if self.delay is None else seconds(self.delay),
            limited=self.limited,
        )
        if outcome is Outcome.INTERRUPTED:
            failure = INTERRUPTED
        return Report(task_id=self.id, holder=self.holder, failure=failure, started_after=after)

    def _disagreements(self) -> "list[FieldError]":
        given = self.outcome
        errors = []
        if self.result is not None and given != "succeeded":
            errors.append(FieldError("result", "goes with the outcome succeeded"))
        if self.error is None and given == "failed":
            errors.append(FieldError("error", "required with the outcome failed"))
        if self.error is not None and given == "succeeded":
            errors.append(FieldError("error", "goes with the other outcomes"))
        if self.permanent and given != "failed":
            errors.append(FieldError("permanent", "goes with the outcome failed"))
        if self.retry_after is not None and given != "failed":
            errors.append(FieldError("retry_after", "goes with the outcome failed"))
        if self.delay is None and given == "snoozed":
            errors.append(FieldError("delay", "required with the outcome snoozed"))
        if self.delay is not None and given not in ("failed", "snoozed"):
            errors.append(FieldError("delay", "goes with the outcomes failed and snoozed"))
        elif self.delay is not None and self.retry_after is not None:
            errors.append(FieldError("delay", "is exact, retry_after is the least: give one"))
        if self.limited is not None and given != "snoozed":
            errors.append(FieldError("limited", "goes with the outcome snoozed"))
        return errors


class ReportIn(_Body):
    worker: WorkerName
    outcomes: Annotated[list[Any], Field(min_length=1, max_length=MAX_LEASES)]


class ChildrenIn(_Body):
    worker: WorkerName
    id: TaskId
    holder: Holder
    tasks: Annotated[list[Any], Field(min_length=1, max_length=BATCH_LIMIT)]


_DEFAULT_ERRORS = {
    Outcome.TIMED_OUT: TaskError(type="TimedOut", message="not done after its timeout"),
    Outcome.CANCELLED: TaskError(type="Cancelled", message="cancelled while it ran"),
    Outcome.SNOOZED: TaskError(type="Snooze", message=""),
    Outcome.INTERRUPTED: INTERRUPTED.error,
}


def read_lease(request: Request) -> LeaseRequest:
    return read_body(LeaseIn, request.json()).wanted()


def _result_text(result: object) -> str | None:
    """Raises Problem if the result cannot be stored."""
    if result is None:
        return None
    try:
        text = to_json(result)
    except ValueError:
        raise invalid([FieldError("result", "must hold no number beyond 1.8e308")]) from None
    if len(text.encode()) > SIZE_LIMIT:
        raise invalid([FieldError("result", "must be at most 64 KiB")])
    if is_deeper(text, DEPTH_LIMIT):
        raise invalid([FieldError("result", f"must be at most {DEPTH_LIMIT} levels deep")])
    return text

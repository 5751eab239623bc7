"""The fields of a task that a handler submits, checked as the API checks those of a request.

The API uses pydantic, which an executor does not load; a test compares the two.
"""

from collections.abc import Callable, Mapping
from typing import Any

from duetime.core.field_values import WORD_RULE, is_word, moment
from duetime.core.lanes import POOL_NAME, POOL_NAME_RULE, Lane
from duetime.core.limits.definition import LimitUse, OnDead
from duetime.core.limits.fields import BadLimits, read_limits
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.task import LONGEST_TIMEOUT, MAX_AHEAD, MAX_JITTER, MAX_NAME, Spec, Task
from duetime.core.time_limits import TimeLimits
from duetime.core.times import SECOND, Millis, seconds
from duetime.engine.refusal import FieldError, invalid
from duetime.handlers.defaults import MAX_TAG_KEY, MAX_TAG_VALUE, MAX_TAGS, RETRY_FIELDS

MAX_STEP = 256  # characters

# Options of a submission that a child cannot have.
NOT_FOR_CHILDREN: Mapping[str, str] = {
    "id": "a task that a handler submits gets its id from its parent: give a step",
    "unique": "a task that a handler submits takes no unique key: it is stored once by its id",
    "trace": "a task that a handler submits continues the trace of its attempt",
}


class _Wrong(ValueError):
    """`path` is the place inside the field, such as `max_attempts`."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def read_spec(
    fields: Mapping[str, Any], *, parent: Task, now: Millis, time_limits: TimeLimits
) -> Spec:
    """Returns the spec of a child. Raises Refusal, with every field that is not valid."""
    errors = [FieldError(name, why) for name, why in NOT_FOR_CHILDREN.items() if name in fields]
    read: dict[str, Any] = {}
    for name, given in fields.items():
        if name in ("target", "payload") or name in NOT_FOR_CHILDREN:
            continue
        try:
            read[name] = _READERS.get(name, _unknown)(given)
        except _Wrong as wrong:
            path = f"{name}.{wrong.path}" if wrong.path else name
            errors.append(FieldError(path, str(wrong)))
    if errors:
        raise invalid(errors)
    delay = read.pop("delay", None)
    run_at = read.pop("run_at", None)
    if errors := [*_disagreements(run_at, delay, read, now, time_limits)]:
        raise invalid(errors)
    read.pop("step", None)
    read["on_dead"] = read.get("on_dead") or OnDead.CONTINUE
    return Spec(
        **{
            "namespace": parent.spec.namespace,
            **read,
            "target": fields["target"],
            "payload": fields.get("payload"),
            "run_at": _due(run_at, delay, now),
            "parent_id": parent.id,
        }
    )


def _disagreements(
    run_at: Millis | None,
    delay: float | None,
    read: Mapping[str, Any],
    now: Millis,
    time_limits: TimeLimits,
) -> list[FieldError]:
    errors = []
    due = _due(run_at, delay, now)
    if run_at is not None and delay is not None:
        errors.append(FieldError("delay", "give run_at or delay, not both"))
    if due - now > MAX_AHEAD:
        errors.append(FieldError("run_at", "must be at most 10 years ahead"))
    expires_at = read.get("expires_at")
    if expires_at is not None and expires_at <= max(due, now):
        errors.append(FieldError("expires_at", "must be after the task is due"))
    if read.get("on_dead") is not None and read.get("ordering_key") is None:
        errors.append(FieldError("on_dead", "goes with an ordering_key"))
    pool = read.get("pool")
    if wrong := time_limits.pool_error(pool):
        errors.append(FieldError("pool", wrong))
    if wrong := time_limits.timeout_error(read.get("timeout", 0), pool):
        errors.append(FieldError("timeout", wrong))
    return errors


def _due(run_at: Millis | None, delay: float | None, now: Millis) -> Millis:
    if run_at is not None:
        return run_at
    return now if delay is None else now + seconds(delay)


def _unknown(_given: Any) -> Any:
    raise _Wrong("unknown field")


def _number(least: float, greatest: float) -> Callable[[Any], float]:
    def read(given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise _Wrong("must be a number")
        if not given >= least:
            raise _Wrong(f"must be at least {least:.0f}")
        if not given <= greatest:
            raise _Wrong(f"must be at most {greatest:.0f}")
        return float(given)

    return read


def _text(most: int, least: int = 0) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if not isinstance(given, str):
            raise _Wrong("must be a string")
        if len(given) < least:
            raise _Wrong("must not be empty")
        if len(given) > most:
            raise _Wrong(f"must have at most {most} characters")
        return given

    return read


def _pool(given: Any) -> str:
    if not isinstance(given, str) or not POOL_NAME.fullmatch(given):
        raise _Wrong(POOL_NAME_RULE)
    return given


def _word(given: Any) -> str:
    if not isinstance(given, str) or not is_word(given):
        raise _Wrong(WORD_RULE)
    return given


def _moment(given: Any) -> Millis:
    try:
        return moment(given)
    except ValueError as error:
        raise _Wrong(str(error)) from None


def _priority(given: Any) -> Lane:
    if not isinstance(given, str) or given not in list(Lane):
        raise _Wrong(f"must be one of {', '.join(Lane)}")
    return Lane(given)


def _on_dead(given: Any) -> OnDead:
    if not isinstance(given, str) or given not in list(OnDead):
        raise _Wrong(f"must be one of {', '.join(OnDead)}")
    return OnDead(given)


def _limits(given: Any) -> tuple[LimitUse, ...]:
    try:
        return read_limits(given)
    except BadLimits as bad:
        raise _Wrong(str(bad), bad.path) from None


def _retry(given: Any) -> RetryPolicy:
    if given is None:
        return DEFAULT_RETRY
    if not isinstance(given, Mapping):
        raise _Wrong("must be an object")
    return RetryPolicy(**{name: _retry_field(name, number) for name, number in given.items()})


def _retry_field(name: str, given: Any) -> Any:
    if name not in RETRY_FIELDS:
        raise _Wrong("unknown field", name)
    if name == "max_attempts" and type(given) is not int:
        raise _Wrong("must be a whole number", name)
    try:
        number = _number(*RETRY_FIELDS[name])(given)
    except _Wrong as wrong:
        raise _Wrong(str(wrong), name) from None
    return given if name == "max_attempts" else number


def _tags(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise _Wrong("must be an object")
    if len(given) > MAX_TAGS:
        raise _Wrong(f"must have at most {MAX_TAGS} entries")
    for key, text in given.items():
        try:
            _text(MAX_TAG_KEY, least=1)(key)
            _text(MAX_TAG_VALUE)(text)
        except _Wrong as wrong:
            raise _Wrong(str(wrong), str(key)) from None
    return dict(given)


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else read(given)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "run_at": _or_none(_moment),
    "delay": _or_none(_number(0, MAX_AHEAD // SECOND)),
    "priority": _priority,
    "pool": _or_none(_pool),
    "timeout": _number(1, LONGEST_TIMEOUT),
    "retry": _retry,
    "jitter": _number(0, MAX_JITTER),
    "expires_at": _or_none(_moment),
    "name": _or_none(_text(MAX_NAME)),
    "namespace": _word,
    "ordering_key": _or_none(_word),
    "on_dead": _or_none(_on_dead),
    "limits": _limits,
    "fairness_key": _or_none(_word),
    "idempotency_key": _or_none(_word),
    "tags": _tags,
    "step": _or_none(_text(MAX_STEP, least=1)),
}

"""The body of a task that waits in an outbox: JSON, as `POST /v1/tasks` takes it."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict
from uuid import UUID

from duetime.client.errors import BadArgument
from duetime.client.limit_types import LimitUseFields, OnDead
from duetime.client.types import Moment, Priority, RetryFields, Seconds, UniqueFields
from duetime.core.json_values import NotJson, to_json_value
from duetime.core.times import SECOND, YEAR, Millis, rfc3339, seconds

MAX_DEPTH = 200  # levels of nesting that the API accepts
MAX_DELAY: Millis = 10 * YEAR


class OutboxOptions(TypedDict, total=False):
    """The fields of a task besides its target and its payload. The drain makes its id."""

    run_at: Moment
    delay: Seconds  # from the time of `add`
    priority: Priority
    pool: str | None
    timeout: Seconds
    retry: RetryFields
    jitter: Seconds
    expires_at: Moment
    name: str
    namespace: str
    ordering_key: str | UUID
    on_dead: OnDead
    limits: Sequence[LimitUseFields]
    fairness_key: str | UUID
    idempotency_key: str | UUID
    unique: UniqueFields
    tags: dict[str, str]


OPTIONS = frozenset(OutboxOptions.__annotations__)


def task_body(target: Any, payload: Any, options: Mapping[str, Any], now: Millis) -> str:
    """A `delay` counts from `now`, however late the task is submitted. Raises BadArgument."""
    if unknown := sorted(options.keys() - OPTIONS):
        raise BadArgument(unknown[0], f"there is no option {unknown[0]!r}")
    fields = {"target": _target(target), **options}
    if payload is not None:
        fields["payload"] = payload
    if "delay" in fields:
        fields["run_at"] = _run_at(fields, now)
        del fields["delay"]
    try:
        plain = to_json_value(fields, levels=MAX_DEPTH, naive_times=False)
    except NotJson as error:
        raise BadArgument(error.path, str(error)) from None
    return json.dumps(plain, separators=(",", ":"))


def _target(given: Any) -> Any:
    """Returns the target for a handler, given by its name or by itself."""
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if isinstance(name, str):
        return {"type": "python", "handler": name}
    if isinstance(given, Mapping):
        return given
    raise BadArgument("target", "must be the name of a handler, or a target like {'type': 'http'}")


def _run_at(fields: Mapping[str, Any], now: Millis) -> str:
    delay = fields["delay"]
    if "run_at" in fields:
        raise BadArgument("delay", "give run_at or delay, not both")
    if isinstance(delay, timedelta):
        delay = delay.total_seconds()
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        raise BadArgument("delay", "must be a number of seconds, or a timedelta")
    if not 0 <= delay * SECOND <= MAX_DELAY:
        raise BadArgument("delay", "must be from 0 s to 10 years")
    return rfc3339(now + seconds(delay))

"""The stored text of a limit: the same in every backend."""

from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.limits.definition import Limit, Rate


def encode_limit(limit: Limit) -> str:
    """Leaves out what the keys and the times of its row say, and defaults."""
    body: dict[str, Any] = {}
    if limit.rate:
        body["rate"] = [limit.rate.count, limit.rate.period, limit.rate.burst]
    if limit.concurrency is not None:
        body["concurrency"] = limit.concurrency
    if limit.draining:
        body["draining"] = True
    return to_json(body)


def decode_limit(text: str, **of_the_row: Any) -> Limit:
    body = from_json(text)
    if "rate" in body:
        count, period, burst = body["rate"]
        body["rate"] = Rate(count=count, period=period, burst=burst)
    return Limit(**body, **of_the_row)


def cursor_after(limit: Limit) -> str:
    """A cursor of a list of limits: the namespace and the name of its last one."""
    return f"{limit.namespace}/{limit.name}"


def after_cursor(cursor: str) -> tuple[str, str]:
    """Returns the namespace and the name in a cursor. Raises ValueError."""
    namespace, slash, name = cursor.partition("/")
    if not (namespace and slash and name):
        raise ValueError("not a cursor of this list")
    return namespace, name

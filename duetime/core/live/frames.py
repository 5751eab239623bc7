"""What the server sends: one JSON object a frame."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from duetime.core.codec import to_json
from duetime.core.live.limits import PING_EVERY, SUBSCRIPTIONS, VERSION
from duetime.core.live.messages import BadMessage, FieldProblem
from duetime.core.task import Progress, storable
from duetime.core.times import Millis, rfc3339

MAX_PROGRESS_TEXT = 1_000  # characters


class Bye(StrEnum):
    """Why the server closes a connection."""

    EXPIRING = "expiring"
    TOO_SLOW = "too_slow"
    SHUTDOWN = "shutdown"


def hello(closes_at: Millis) -> str:
    return to_json(
        {
            "type": "hello",
            "version": VERSION,
            "ping_every": PING_EVERY,
            "closes_at": rfc3339(closes_at),
            "limits": {"subscriptions": SUBSCRIPTIONS},
        }
    )


def subscribed(id: str) -> str:
    return to_json({"type": "subscribed", "id": id})


def changes(id: str, items: Sequence[str]) -> str:
    """`items` are rendered: several subscriptions share them."""
    return f'{{"type":"changes","id":{to_json(id)},"items":[{",".join(items)}]}}'


def progress(id: str, task_id: str, of: Progress, updated_at: Millis) -> str:
    message = None if of.message is None else storable(of.message, MAX_PROGRESS_TEXT)
    return to_json(
        {
            "type": "progress",
            "id": id,
            "task_id": task_id,
            "progress": {"fraction": of.fraction, "message": message},
            "updated_at": rfc3339(updated_at),
        }
    )


def stats(id: str, at: Millis, summary: Mapping[str, Any]) -> str:
    """`summary` has `lanes`, `started`, `failed` and `drift_ms`."""
    return to_json({"type": "stats", "id": id, "at": rfc3339(at), **summary})


PONG = to_json({"type": "pong"})


def reset(id: str) -> str:
    """Changes were dropped: the client reads what it shows again."""
    return to_json({"type": "reset", "id": id, "reason": "lagged"})


def bye(reason: Bye, retry_after: float) -> str:
    """`retry_after` is in seconds; it differs between clients, so that they do not all return at
    the same time."""
    return to_json({"type": "bye", "reason": reason, "retry_after": round(retry_after, 3)})


def error(refused: BadMessage) -> str:
    """The answer to a message that is not valid."""
    problem = _problem("invalid", "The message is not valid", 422, str(refused))
    problem["errors"] = [field._asdict() for field in refused.errors]
    return _error(refused.id, problem)


def hello_first() -> str:
    return error(BadMessage([FieldProblem("op", "must be hello in the first message")]))


def id_in_use(id: str) -> str:
    return error(BadMessage([FieldProblem("id", "is in use: unsubscribe first")], id))


def no_subscription(id: str) -> str:
    return error(BadMessage([FieldProblem("id", "there is no such subscription")], id))


def too_many(id: str, what: str, limit: int) -> str:
    """The answer to a subscription above a limit."""
    detail = f"There are {limit:,} subscriptions {what}, the most. Unsubscribe from one first."
    return _error(id, _problem("too-many-subscriptions", "Too many subscriptions", 429, detail))


def _problem(kind: str, title: str, status: int, detail: str) -> dict[str, Any]:
    kind = f"urn:duetime:problem:{kind}"
    return {"type": kind, "title": title, "status": status, "detail": detail}


def _error(id: str | None, problem: Mapping[str, Any]) -> str:
    return to_json({"type": "error", "id": id, "problem": problem})

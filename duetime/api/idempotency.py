"""Idempotency keys in requests: see duetime.engine.idempotency."""

from collections.abc import Mapping
from typing import Any

from duetime.api.http import FieldError, Request, invalid, problem_of
from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.ports import Ports
from duetime.core.times import Millis
from duetime.engine.idempotency import IdempotencyKey, body_hash, reserve_ids
from duetime.engine.refusal import Refusal

HEADER = "Idempotency-Key"


def key_of(request: Request) -> str | None:
    """Returns the key in the header of a request."""
    key = request.headers.get(HEADER.lower())
    if key is not None and not is_word(key):
        raise invalid([FieldError(HEADER, WORD_RULE)])
    return key


def schedule_key(text: str, namespace: str, body: Mapping[str, Any]) -> IdempotencyKey:
    """Keys of schedules have a namespace of their own: a task may have the same key."""
    return IdempotencyKey(
        text=text,
        namespace=f"{namespace}/schedules",
        body_hash=body_hash(body),
        item="schedule",
        field=HEADER,
    )


def reserve_id(ports: Ports, key: IdempotencyKey | None, now: Millis) -> str:
    """Returns the id for one item. Raises the Problem of a key that names another."""
    (reserved,) = reserve_ids(ports, [key], now)
    if isinstance(reserved, Refusal):
        raise problem_of(reserved)
    return reserved


def with_key(request: Request, body: Any) -> Any:
    """Returns the body of a task or a run with the key that the request has in its header."""
    key = request.headers.get(HEADER.lower())
    if key is None or not isinstance(body, dict):
        return body
    if body.get("idempotency_key") is not None:
        message = "give it in the body or as a header, not both"
        raise invalid([FieldError("idempotency_key", message)])
    return {**body, "idempotency_key": key}

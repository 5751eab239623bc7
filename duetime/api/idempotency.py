"""Idempotency keys of schedules: reserved like those of tasks, in a namespace of their own."""

from collections.abc import Mapping
from typing import Any

from lambdas.api.fields import NO_WORD, is_word
from lambdas.api.http import FieldError, Problem, Request, invalid
from lambdas.api.submission import KEY_LIFE, body_hash
from lambdas.core.ports import Ports, Reservation
from lambdas.core.times import Millis

HEADER = "Idempotency-Key"


def key_of(request: Request) -> str | None:
    key = request.headers.get(HEADER.lower())
    if key is not None and not is_word(key):
        raise invalid([FieldError(HEADER, NO_WORD)])
    return key


def reserved_id(
    ports: Ports, namespace: str, key: str | None, body: Mapping[str, Any], now: Millis
) -> str:
    """A new id, or the one that the key stands for."""
    new = ports.chance.new_id(now)
    if key is None:
        return new
    reservation = Reservation(
        namespace=f"{namespace}/schedules",
        key=key,
        task_id=new,
        body_hash=body_hash(body),
        expires_at=now + KEY_LIFE,
    )
    (standing,) = ports.store.reserve([reservation], now)
    if standing.body_hash != reservation.body_hash:
        error = FieldError(HEADER, f"was used for schedule {standing.task_id} with another body")
        title = "The idempotency key stands for another schedule"
        raise Problem(409, "key-conflict", title, errors=[error])
    return standing.task_id

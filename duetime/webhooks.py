"""Checks the signature of a request that an `http` task with `sign` has sent.

>>> from duetime.webhooks import BadSignature, verify
>>> task_id = verify(request.headers, request.body, secret)  # doctest: +SKIP

The signatures follow Standard Webhooks, so every library for them can check them too.
"""

import hmac
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from duetime.core.errors import DuetimeError
from duetime.core.webhook_signatures import HEADERS, ID, SIGNATURE, TIMESTAMP, key_of, signature

__all__ = ["BadSignature", "verify"]


class BadSignature(DuetimeError):
    """The request is not from Duetime, was changed on its way, or is too old. Answer 401."""


class Headers(Protocol):
    """A dictionary, or the headers of any framework."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify(
    headers: Headers,
    body: bytes | str,
    secret: str | bytes,
    tolerance: float = 300,
    *,
    clock: Callable[[], float] = time.time,
) -> str:
    """Checks the signature of a request. Returns the id of its task, which is the same on every
    try. Raises BadSignature.

    Args:
        headers: All headers of the request; their names in any case.
        body: The body exactly as it was received, before any parsing.
        secret: The value of the secret that `sign` names. Raises ValueError if it begins with
            `whsec_` and is not Base64 after that.
        tolerance: How many seconds the request may be old, or ahead of this machine's clock.
        clock: Returns the time in seconds since the epoch.
    """
    task_id, sent_at, signatures = _read(headers)
    if abs(clock() - sent_at) > tolerance:
        raise BadSignature(f"{TIMESTAMP} is more than {tolerance:g} s away from now")
    data = body.encode() if isinstance(body, str) else body
    expected = signature(key_of(secret), task_id, sent_at, data).encode()
    # Compares all of them, each in constant time.
    matching = [hmac.compare_digest(expected, given.encode()) for given in signatures.split()]
    if not any(matching):
        raise BadSignature(f"{SIGNATURE} does not match the body and the secret")
    return task_id


def _read(headers: Headers) -> tuple[str, int, str]:
    given = {name.lower(): text for name, text in headers.items() if name.lower() in HEADERS}
    if missing := [name for name in HEADERS if not given.get(name)]:
        raise BadSignature(f"the request has no header {missing[0]}")
    timestamp = given[TIMESTAMP]
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 15):
        raise BadSignature(f"{TIMESTAMP} is not a number of seconds")
    return given[ID], int(timestamp), given[SIGNATURE]

"""Idempotency keys: a repeated request gets the task or the schedule of the first one.

A key is reserved before its item is stored. Of two requests with the same key that race, both get
the id of the first reservation: one stores the item and the other finds it, and if the first dies
in between, the second stores it.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from duetime.core.codec import canonical
from duetime.core.ports import Ports, Reservation
from duetime.core.retention import KEY_LIFE
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.refusal import FieldError, Refusal

NAMES = ("id", "idempotency_key", "trace")


@value(frozen=True, kw_only=True, slots=True)
class IdempotencyKey:
    """`body_hash` says whether a repeated key comes with the same body; `field` is where the
    request has the key. A key that already names `own_id` is the caller's, with any body."""

    text: str
    namespace: str
    body_hash: str
    item: str = "task"
    field: str = "idempotency_key"
    own_id: str | None = None

    def names(self, found: Reservation) -> bool:
        return found.body_hash == self.body_hash or found.task_id == self.own_id


def body_hash(body: Mapping[str, Any]) -> str:
    """Returns a hash of the body as sent, without what only names it: two requests with the same
    hash ask for the same task."""
    content = {name: value for name, value in body.items() if name not in NAMES}
    return sha256(canonical(content).encode()).hexdigest()


def reserve_ids(
    ports: Ports,
    keys: Sequence[IdempotencyKey | None],
    now: Millis,
    given_ids: Sequence[str | None] | None = None,
) -> list[str | Refusal]:
    """Returns one id for each item: the given one, or else a new one. If its key was used before,
    returns the id of the item with this key or, if that item had another body, a Refusal."""
    ids: list[str | Refusal] = []
    given: dict[int, IdempotencyKey] = {}
    reservations: list[Reservation] = []
    for place, key in enumerate(keys):
        given_id = given_ids[place] if given_ids else None
        new_id = given_id or ports.chance.new_id(now)
        ids.append(new_id)
        if key is not None:
            given[place] = key
            reservations.append(_reservation(key, new_id, now))
    if not reservations:
        return ids
    stored = ports.store.reserve(reservations, now)
    for (place, key), found in zip(given.items(), stored, strict=True):
        ids[place] = found.task_id if key.names(found) else _conflict(key, found.task_id)
    return ids


def _reservation(key: IdempotencyKey, item_id: str, now: Millis) -> Reservation:
    return Reservation(
        namespace=key.namespace,
        key=key.text,
        task_id=item_id,
        body_hash=key.body_hash,
        expires_at=now + KEY_LIFE,
    )


def _conflict(key: IdempotencyKey, item_id: str) -> Refusal:
    error = FieldError(key.field, f"was used for {key.item} {item_id} with another body")
    title = f"The idempotency key belongs to another {key.item}"
    return Refusal(409, "key-conflict", title, errors=[error])

"""The ids of children: the tasks that a handler submits.

An id is made from the parent and from the call, and from nothing that differs between attempts. So
an attempt that repeats a submission finds the child of the earlier one. The time in the id is the
creation of the parent: the children of a task are next to each other in every list of a day.
"""

from hashlib import blake2b
from typing import Any

from duetime.core.codec import canonical
from duetime.core.ids import RANDOM_BITS, new_id
from duetime.core.task import Task

Call = tuple[str, ...]


def call_of(step: str | None, handler: str, payload: Any) -> Call:
    """Returns what identifies a submission among those of its parent: its step, if it has one, or
    else its handler and its payload."""
    return ("step", step) if step is not None else ("call", handler, canonical(payload))


def child_id(parent: Task, call: Call, ordinal: int) -> str:
    """`ordinal` counts the equal calls of one attempt, from 0."""
    text = canonical([parent.id, *call, ordinal])
    digest = blake2b(text.encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(parent.created_at, int.from_bytes(digest))

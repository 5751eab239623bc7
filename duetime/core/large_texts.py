"""Large payloads and results: JSON texts that are kept as objects beside the store.

A payload over 256 KiB and a result over 64 KiB are objects of their task, named by a digest of the
text. The task holds a reference in place of the text. A reference is not JSON, and a payload's has
a field of its own in the spec, so nothing that a user sends can look like one.

An object is written before the task that refers to it, and deleted after the task. It never
changes, so a repeated write writes the same object. A write of the task that then fails leaves an
object without a reference, which goes with its task.
"""

import zlib
from collections.abc import Mapping
from hashlib import blake2b
from typing import Protocol

from duetime.core.errors import Corrupt
from duetime.core.packing import FAST
from duetime.core.task import Task
from duetime.core.text_sizes import ESCAPED_LIMIT, escaped_size
from duetime.core.value import value

LARGE_LIMIT = 5 * 1024 * 1024  # bytes
_PREFIX = "object:"


class Objects(Protocol):
    """The part of duetime.core.ports.ObjectStore that reads."""

    def get(self, task_id: str, name: str) -> bytes | None: ...


@value(frozen=True, slots=True)
class Reference:
    """Where a large text is, among the objects of its task, and how many bytes it has."""

    name: str
    size: int

    def __str__(self) -> str:
        return f"{_PREFIX}{self.name}:{self.size}"


def reference_to(text: str) -> Reference:
    content = text.encode()
    return Reference(blake2b(content, digest_size=10).hexdigest(), len(content))


def reference_in(stored: str | None) -> Reference | None:
    """Returns the reference that is stored in place of a text; None if it is the text itself."""
    if stored is None or not stored.startswith(_PREFIX):
        return None
    name, _, size = stored.removeprefix(_PREFIX).partition(":")
    return Reference(name, int(size))


def is_too_large(text: str) -> bool:
    """Whether a text is too large to be stored. As a request or an answer it must also fit into
    the JSON documents of Lambda."""
    content = text.encode()
    return len(content) > LARGE_LIMIT or escaped_size(content) > ESCAPED_LIMIT


def pack_object(text: str) -> bytes:
    return zlib.compress(text.encode(), FAST)


def read_object(objects: Objects, task_id: str, reference: Reference, part: str) -> str:
    """Returns the text. Raises Corrupt if its object is missing or damaged."""
    content = objects.get(task_id, reference.name)
    if content is None:
        raise Corrupt(task_id, f"the object of its {part} is missing: {reference.name}")
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        reason = f"the object of its {part} is damaged: {reference.name}: {error}"
        raise Corrupt(task_id, reason) from error


def references_of(task: Task) -> Mapping[str, Reference]:
    """Returns the references of a task by the field that they replace."""
    found = {"payload": task.spec.payload_object, "result": task.result}
    references = {part: reference_in(stored) for part, stored in found.items()}
    return {part: reference for part, reference in references.items() if reference is not None}


def large_texts_of(objects: Objects | None, task: Task) -> dict[str, str]:
    """Reads the large texts of a task, by field."""
    if objects is None:
        return {}
    return {
        part: read_object(objects, task.id, reference, part)
        for part, reference in references_of(task).items()
    }

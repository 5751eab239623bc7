"""Status changes as clients get them: rendered, coalesced, and packed into frames."""

from collections.abc import Iterable, Sequence

from duetime.core.codec import to_json
from duetime.core.events import StatusChange
from duetime.core.live.limits import FRAME_BYTES, FRAME_ITEMS
from duetime.core.masking import masked_url
from duetime.core.task import storable
from duetime.core.times import Millis, rfc3339

MAX_TEXT = 256  # characters of a name, a target or the type of an error
ENVELOPE = 200  # bytes of a frame around its items, at most

Age = tuple[Millis, int]


def age(change: StatusChange) -> Age:
    """What decides which of two states of a task is newer: (`updated_at`, `attempt`)."""
    return change.at, change.attempt


def coalesced(changes: Iterable[StatusChange]) -> list[StatusChange]:
    """Returns the latest change of each task, in the order in which these happened. A stream
    repeats changes: an older one never replaces a newer."""
    latest: dict[str, StatusChange] = {}
    for change in changes:
        known = latest.get(change.task_id)
        if known is None or age(change) >= age(known):
            latest.pop(change.task_id, None)
            latest[change.task_id] = change
    return list(latest.values())


def change_json(change: StatusChange) -> str:
    """Returns an item of a `changes` frame. It has no payload, no result and no message of an
    error: clients read these with their own rights."""
    return to_json(
        {
            "task_id": change.task_id,
            "namespace": change.namespace,
            "name": _cut(change.name),
            "target": _cut(masked_url(change.target)),
            "lane": str(change.queue),
            "before": change.before,
            "status": change.after,
            "attempt": change.attempt,
            "updated_at": rfc3339(change.at),
            "due_at": rfc3339(change.due_at),
            "drift_ms": change.drift_ms,
            "outcome": change.outcome,
            "error_type": _cut(change.error.type) if change.error else None,
            "schedule_id": change.occurrence_of,
            "run_id": change.run_id,
        }
    )


def packed(items: Sequence[str]) -> list[list[str]]:
    """Distributes rendered items to as few frames as possible, in order."""
    frames: list[list[str]] = []
    room = 0
    for item in items:
        size = len(item.encode()) + 1
        if not frames or size > room or len(frames[-1]) == FRAME_ITEMS:
            frames.append([])
            room = FRAME_BYTES - ENVELOPE
        frames[-1].append(item)
        room -= size
    return frames


def _cut(text: str | None) -> str | None:
    return None if text is None else storable(text, MAX_TEXT)

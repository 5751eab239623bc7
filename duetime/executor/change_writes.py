"""Changes written together, of which one that cannot be written blocks no other."""

import logging
from collections.abc import Sequence

from duetime.core.change import Answer, Change, Unwritable
from duetime.core.ports import TaskStore

log = logging.getLogger(__name__)


def write_changes(store: TaskStore, changes: Sequence[Change]) -> list[Answer]:
    """Returns an answer to each. If the store raises, each change is repeated alone; one that was
    already made recognises its own effect."""
    try:
        return store.apply(changes)
    except Exception:
        log.exception("batch not written: repeated one by one", extra={"step": "record"})
    return [_write(store, change) for change in changes]


def _write(store: TaskStore, change: Change) -> Answer:
    try:
        [answer] = store.apply([change])
    except Exception as error:
        attempt = change.sets.get("attempt", change.expect.attempt)
        fields = {"step": change.step.value, "task_id": change.task_id, "attempt": attempt}
        log.exception("change not written", extra=fields)
        return Unwritable(repr(error))
    return answer

"""What follows the removal of a task, by its TTL or by a purge: archive it, delete its other rows.

The stream keeps the image of a removed task until the relay has done both. The relay writes the
records of a batch first and deletes rows after that, so that a crash in between loses nothing: the
batch is repeated. A text that is missing then was deleted after its record was written, so its
task is not archived again. Objects are named by their content: a repeated batch replaces its own
object, and never one with other records.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.archive_bucket import ArchiveBucket
from duetime.aws.event_records import RemovedTask
from duetime.aws.overflow import digest, text_in
from duetime.aws.related_rows import DependentRows, read_attempt
from duetime.aws.task_items import Item, decode_task
from duetime.core.archive import archive_line
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.ports import UniqueKey

log = logging.getLogger(__name__)


class RemovedTasks:
    """Without a bucket, removed tasks are not archived."""

    def __init__(self, rows: DependentRows, bucket: ArchiveBucket | None) -> None:
        self._rows = rows
        self._bucket = bucket

    def archive(self, removed: Sequence[RemovedTask]) -> None:
        """Writes the records of a batch as one object. Idempotent."""
        if self._bucket is None or not removed:
            return
        lines = [line for task in removed if (line := self._line(task)) is not None]
        if lines:
            first = removed[0]
            content = digest("\n".join(lines))
            name = f"{first.sequence_number}-{content}"
            self._bucket.write(lines, name=name, at=first.removed_at)

    def delete_rows(self, removed: RemovedTask) -> None:
        """Deletes the dependent rows of a task. Idempotent. Most tasks have none, so their removal
        costs nothing more."""
        if removed.has_rows:
            self._rows.delete(removed.task_id)

    def free_key(self, key: UniqueKey) -> None:
        self._rows.free_key(key)

    def _line(self, removed: RemovedTask) -> str | None:
        rows = self._rows.read(removed.task_id) if removed.has_rows else []
        try:
            task = decode_task(removed.image, _texts(rows))
            attempts = [read_attempt(row) for row in rows if _is_attempt(row)]
        except (Corrupt, *UNREADABLE) as error:
            fields = {"step": "archive", "task_id": removed.task_id, "reason": str(error)}
            log.warning("task not archived: archived before, or unreadable", extra=fields)
            return None
        return archive_line(task, attempts)


def _texts(rows: Sequence[Item]) -> Mapping[str, Any]:
    return {row[schema.SK]["S"]: text_in(row) for row in rows if schema.TEXT in row}


def _is_attempt(row: Item) -> bool:
    return bool(row[schema.SK]["S"].startswith(schema.ATTEMPT_PREFIX))

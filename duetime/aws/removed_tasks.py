"""What follows the removal of a task, by its TTL or by a purge: archive it, delete its other rows
and its objects.

The stream keeps the image of a removed task until the relay has done both. The relay writes the
records of a batch first and deletes after that, so that a crash in between loses nothing: the
batch is repeated. A text that is missing then was deleted after its record was written, so its
task is not archived again. Records are written under a name made of their content: a repeated batch
replaces its own records, and never others.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.archive_bucket import ArchiveBucket
from duetime.aws.event_records import RemovedTask
from duetime.aws.object_store import S3ObjectStore
from duetime.aws.overflow import digest, text_in
from duetime.aws.related_rows import DependentRows, read_attempt
from duetime.aws.task_items import Item, decode_task
from duetime.core.archive import archive_line, in_batches
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.large_texts import large_texts_of
from duetime.core.ports import UniqueKey

log = logging.getLogger(__name__)


class RemovedTasks:
    """Without a bucket, removed tasks are not archived; without objects, they have none."""

    def __init__(
        self,
        rows: DependentRows,
        bucket: ArchiveBucket | None,
        objects: S3ObjectStore | None = None,
    ) -> None:
        self._rows = rows
        self._bucket = bucket
        self._objects = objects

    def archive(self, removed: Sequence[RemovedTask]) -> None:
        """Writes the records of a batch as one file, or several if they are large. Idempotent."""
        if self._bucket is None or not removed:
            return
        first = removed[0]
        lines = (line for task in removed if (line := self._line(task)) is not None)
        for batch in in_batches(lines):
            content = digest("\n".join(batch))
            name = f"{first.sequence_number}-{content}"
            self._bucket.write(batch, name=name, at=first.removed_at)

    def delete_rows(self, removed: RemovedTask) -> None:
        """Deletes the dependent rows of a task, and its objects. Idempotent. Most tasks have none,
        so their removal costs nothing more."""
        objects = self._objects if removed.has_objects else None
        if not removed.has_rows and objects is None:
            return
        if self._rows.delete(removed.task_id) and objects is not None:
            objects.delete([removed.task_id])

    def delete_input(self, run_id: str) -> None:
        """Deletes the rows that a removed workflow run has left. Idempotent."""
        self._rows.delete_of(schema.run_pk(run_id), schema.RUN)

    def free_key(self, key: UniqueKey) -> None:
        self._rows.free_key(key)

    def _line(self, removed: RemovedTask) -> str | None:
        rows = self._rows.read(removed.task_id) if removed.has_rows else []
        try:
            task = decode_task(removed.image, _texts(rows))
            attempts = [read_attempt(row) for row in rows if _is_attempt(row)]
            large_texts = large_texts_of(self._objects, task)
        except (Corrupt, *UNREADABLE) as error:
            fields = {"step": "archive", "task_id": removed.task_id, "reason": str(error)}
            log.warning("task not archived: archived before, or unreadable", extra=fields)
            return None
        return archive_line(task, attempts, large_texts)


def _texts(rows: Sequence[Item]) -> Mapping[str, Any]:
    return {row[schema.SK]["S"]: text_in(row) for row in rows if schema.TEXT in row}


def _is_attempt(row: Item) -> bool:
    return bool(row[schema.SK]["S"].startswith(schema.ATTEMPT_PREFIX))

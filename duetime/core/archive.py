"""The archive: the record of a removed task, where records are, and how they are searched.

A record is the task as the API shows it, with every attempt. Records are lines of JSON in files
below a folder for each day of removal (UTC), named so that Athena and DuckDB read it as a column:
`dt=2026-11-17/`. A record may be in the archive more than once, if a remover died before it had
removed the task. The copies are close to each other: the next remover begins with the same tasks.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.errors import UNREADABLE
from duetime.core.task import Attempt, Task
from duetime.core.task_json import NOT_SHOWN, attempt_json, task_json
from duetime.core.times import Millis, rfc3339, to_datetime
from duetime.core.value import value

FILE_SUFFIXES = (".jsonl", ".jsonl.gz")
# Far more records than removers that die at the same time can have written twice.
REMEMBERED_IDS = 100_000
_DAY = re.compile(r"(?:^|/)dt=(\d{4}-\d\d-\d\d)/")
BATCH_SIZE = 8 * 1024 * 1024  # characters of records that are written at once
MAY_BE_DEEP = ("target", "payload", "result")


def all_attempts(task: Task, rows: Iterable[Attempt]) -> list[Attempt]:
    """Returns every attempt, oldest first: those with rows of their own, and the latest, which the
    task itself holds."""
    found = {attempt.number: attempt for attempt in rows}
    found |= {a.number: a for a in (task.previous, task.current) if a is not None}
    return [found[number] for number in sorted(found)]


def archive_line(
    task: Task, rows: Iterable[Attempt], large_texts: Mapping[str, str] | None = None
) -> str:
    """Returns the record as one line of JSON. `rows` are the earlier attempts of the task,
    `large_texts` its payload or result, if that is an object."""
    attempts = [attempt_json(attempt) for attempt in all_attempts(task, rows)]
    record = {**task_json(task), "attempts": attempts}
    if not large_texts:
        return _encoded(record)
    # They are JSON already. Parsed, a large text may take twenty times as much memory.
    notes = record[NOT_SHOWN] or {}
    record[NOT_SHOWN] = {name: notes[name] for name in notes if name not in large_texts} or None
    small = {name: shown for name, shown in record.items() if name not in large_texts}
    large = [f'"{name}":{text}' for name, text in large_texts.items()]
    return ",".join([_encoded(small)[:-1], *large]) + "}"


def _encoded(record: dict[str, Any]) -> str:
    try:
        return to_json(record)
    except (RecursionError, ValueError):  # stored by an earlier release, see duetime.api.encoding
        return to_json(_without_deep_values(record))


def in_batches(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yields the lines in batches of about BATCH_SIZE characters. A record with large texts may
    have 10 MiB, so many of them do not fit into memory at once."""
    batch: list[str] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if size >= BATCH_SIZE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _without_deep_values(record: dict[str, Any]) -> dict[str, Any]:
    deep = [name for name in MAY_BE_DEEP if name in record]
    return {**record, **dict.fromkeys(deep), NOT_SHOWN: dict.fromkeys(deep, "cannot be encoded")}


def day_folder(at: Millis) -> str:
    return f"dt={to_datetime(at):%Y-%m-%d}"


def in_days_from(name: str, since: Millis | None) -> bool:
    """Whether a file with this name may hold tasks that ended at `since` or later."""
    found = _DAY.search(name)
    return since is None or found is None or found[1] >= f"{to_datetime(since):%Y-%m-%d}"


@value(frozen=True, kw_only=True, slots=True)
class ArchiveQuery:
    """Which records to show. A field that is None matches every record."""

    id: str | None = None
    name: str | None = None
    namespace: str | None = None
    tag: tuple[str, str] | None = None
    statuses: frozenset[str] | None = None
    since: Millis | None = None  # ended at that time or later
    before: Millis | None = None  # ended before that time

    def wants(self, record: dict[str, Any]) -> bool:
        ended_at = record.get("finished_at") or ""
        tags = record.get("tags") or {}
        return (
            self.id in (None, record.get("id"))
            and self.name in (None, record.get("name"))
            and self.namespace in (None, record.get("namespace"))
            and (self.tag is None or tags.get(self.tag[0]) == self.tag[1])
            and (self.statuses is None or record.get("status") in self.statuses)
            and (self.since is None or ended_at >= rfc3339(self.since))
            and (self.before is None or ended_at < rfc3339(self.before))
        )


@value(slots=True)
class ArchiveSearch:
    """Reads an archive line by line, with a bounded number of ids in memory."""

    query: ArchiveQuery
    unreadable: int = 0  # lines that are no record, such as one that a crash left unfinished

    def records(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """Yields each record that the query wants once."""
        seen: OrderedDict[str, None] = OrderedDict()
        for line in lines:
            if not line.strip():
                continue
            record = self._read(line)
            if record is None or not self.query.wants(record) or record["id"] in seen:
                continue
            seen[record["id"]] = None
            if len(seen) > REMEMBERED_IDS:
                seen.popitem(last=False)
            yield record

    def _read(self, line: bytes) -> dict[str, Any] | None:
        try:
            record = from_json(line)
        except UNREADABLE:
            record = None
        if isinstance(record, dict) and isinstance(record.get("id"), str):
            return record
        self.unreadable += 1
        return None

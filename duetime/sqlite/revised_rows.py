"""Rows that a writer replaces if it has read the stored revision: schedules and runs.

Such a row has a text that seldom or never changes: the plan of a schedule, the spec of a run. A
long one is stored in `bodies` and the row holds its digest, so a step neither writes nor reads it.

The runner is the only writer (see Database), so a conditional write reads the stored row, compares
revisions and writes. A batch of any size is a few statements (see bulk_sql).
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from sqlite3 import Connection
from typing import Any

from duetime.core.codec import to_json
from duetime.core.packing import FAST, pack
from duetime.core.value import value
from duetime.core.wakes import Wake
from duetime.sqlite.bulk_sql import put_rows, update_rows
from duetime.sqlite.task_rows import INLINE_LIMIT, Row

Write = tuple[Row, str]  # a row, and its text in full
Written = tuple[bool, Row | None]  # whether it is stored, and the row that was stored before
Texts = dict[str, tuple[Row, str | bytes | None]]  # id → the row, and its text if it is stored


@value(frozen=True, kw_only=True, slots=True)
class RevisedTable:
    """`cold` and `hot` are the columns; the first is the id, and only a write with another text
    changes a cold one. `text` is the cold column with the text, and its name in `bodies`."""

    name: str
    cold: tuple[str, ...]
    hot: tuple[str, ...]
    text: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.cold + self.hot

    def rows_of(self, connection: Connection, ids: Sequence[str]) -> dict[str, Row]:
        rows = connection.execute(
            f"SELECT {', '.join(self.columns)} FROM {self.name}"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (to_json(ids),),
        ).fetchall()
        return {row[0]: row for row in rows}

    def read(self, connection: Connection, ids: Sequence[str]) -> Texts:
        """Reads with one statement: between two, a text could be replaced."""
        rows = connection.execute(
            f"SELECT body, {', '.join(self.columns)} FROM {self.name}"
            f" LEFT JOIN bodies ON task_id = id AND part = '{self.text}'"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (to_json(ids),),
        ).fetchall()
        return {row[0]: (tuple(row), self._text(row, body)) for body, *row in rows}

    def text_of(self, connection: Connection, row: Row) -> str | bytes | None:
        """Returns the text of a row. Only for the writer: no text changes in its transaction."""
        found = connection.execute(
            "SELECT body FROM bodies WHERE task_id = ? AND part = ?", (row[0], self.text)
        ).fetchone()
        return self._text(row, found[0] if found else None)

    def put(self, connection: Connection, wanted: Sequence[Write]) -> list[Written]:
        """Stores each row whose revision is one more than the stored one. A repeated write finds
        the same row, and is stored."""
        text, revision = self.columns.index(self.text), self.columns.index("revision")
        stored = self.rows_of(connection, [row[0] for row, _ in wanted])
        changed: dict[str, Row] = {}
        with_new_text: set[str] = set()
        written: list[Written] = []
        for row, whole in wanted:
            row_id, existing = row[0], stored.get(row[0])
            seen = existing[revision] if existing else 0
            if row != existing and row[revision] != seen + 1:
                written.append((False, existing))
                continue
            if row != existing:
                stored[row_id] = changed[row_id] = row
            if existing is None or row[text] != existing[text]:
                with_new_text.add(row_id)
                self._store_text(connection, existing, row, whole)
            written.append((True, existing))
        whole_rows = [row for i, row in changed.items() if i in with_new_text]
        hot_parts = [self._hot_part(r) for i, r in changed.items() if i not in with_new_text]
        put_rows(connection, self.name, self.columns, whole_rows)
        update_rows(connection, self.name, self.hot, hot_parts)
        return written

    def set_aside(self, connection: Connection, found: Wake, later: Wake) -> None:
        """Moves a wake, if it has not moved, without reading its row."""
        connection.execute(
            f"UPDATE {self.name} SET wake_bucket = ?, wake_key = ?"
            " WHERE id = ? AND wake_bucket = ? AND wake_key = ?",
            (later.bucket, later.key, found.task_id, found.bucket, found.key),
        )

    def delete(self, connection: Connection, ids: Iterable[str]) -> None:
        for row_id in ids:
            connection.execute(f"DELETE FROM {self.name} WHERE id = ?", (row_id,))
            self._delete_text(connection, row_id)

    def _hot_part(self, row: Row) -> Row:
        """Returns the id, then every hot column."""
        return (row[0], *row[len(self.cold) :])

    def _text(self, row: Sequence[Any], body: str | bytes | None) -> str | bytes | None:
        text: str = row[self.columns.index(self.text)]
        return body if _is_digest(text) else text

    def _store_text(
        self, connection: Connection, before: Row | None, after: Row, text: str
    ) -> None:
        """Stores the text of a row that is new or has a new one, or deletes the one that it
        replaces."""
        column = self.columns.index(self.text)
        if _is_digest(after[column]):
            body = (after[0], self.text, pack(text, FAST))
            connection.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)", body)
        elif before and _is_digest(before[column]):
            self._delete_text(connection, after[0])

    def _delete_text(self, connection: Connection, row_id: str) -> None:
        connection.execute("DELETE FROM bodies WHERE task_id = ? AND part = ?", (row_id, self.text))


def inline_or_digest(text: str) -> str:
    """Returns what the row holds: the text, or the digest of a long one. JSON never begins like a
    digest."""
    if len(text) <= INLINE_LIMIT:
        return text
    return f"@{blake2b(text.encode(), digest_size=16).hexdigest()}"


def _is_digest(text: str) -> bool:
    return text.startswith("@")

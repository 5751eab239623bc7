"""The rows of new tasks, made before they are stored, perhaps in another process."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any, NoReturn

from duetime.core.task import Task
from duetime.core.value import replace, value
from duetime.sqlite.bulk_sql import ID, Columns, columns_of_new, row_by_row
from duetime.sqlite.task_rows import Row, changed_row, new_row, spec_texts, tag_rows

# What a lease sets beside the holder: fields of a task, and columns of the same names.
LEASE = ("status", "attempt", "lease_until", "current", "sends", "updated_at")


@value(frozen=True, kw_only=True, slots=True)
class NewRows:
    columns: Columns
    tags: Sequence[Row] = ()


class TooLong(Exception):
    """The text of a task does not fit into its row."""


def rows_of_new(tasks: Sequence[Task]) -> NewRows:
    """Raises TooLong: a long text is written while its row is made."""
    specs = {id(task.spec): task.spec for task in tasks}
    texts = {key: spec_texts(spec) for key, spec in specs.items()}
    rows = [new_row(_NO_CONNECTION, task, texts[id(task.spec)]) for task in tasks]
    tags = [row for task in tasks if task.spec.tags for row in tag_rows(task)]
    return NewRows(columns=columns_of_new(rows), tags=tags)


def with_leases(rows: NewRows, leased: Sequence[Task]) -> NewRows:
    """Returns the rows of a batch whose first tasks were leased together, so that only the holder
    differs. Column by column: a batch has many more rows than columns."""
    before, width = rows.columns, len(rows.columns.own)
    own = {name: list(before.values[n::width]) for n, name in enumerate(before.own)}
    shared, others = dict(before.shared), len(own[ID]) - len(leased)
    _, *lease = changed_row(_NO_CONNECTION, leased[0], LEASE)
    for name, given in zip(LEASE, lease, strict=True):
        later = own.pop(name, [shared.pop(name, None)] * others)[-others:] if others else []
        if later:
            own[name] = [given] * len(leased) + later
        else:
            own.pop(name, None)
            shared[name] = given
    own["holder"] = [task.holder for task in leased] + [None] * others
    columns = Columns(shared=shared, own=tuple(own), values=row_by_row(own.values()))
    return replace(rows, columns=columns)


class _NoConnection(Connection):
    def execute(self, *_: Any) -> NoReturn:
        raise TooLong


_NO_CONNECTION = _NoConnection(":memory:")

"""The rows of new tasks, made before they are stored, perhaps in another process."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any, NoReturn

from duetime.core.task import Task
from duetime.core.value import value
from duetime.sqlite.bulk_sql import given_columns
from duetime.sqlite.task_rows import Row, new_row, tag_rows


@value(frozen=True, kw_only=True, slots=True)
class NewRows:
    """`values` are those of all rows, one after another, in these columns."""

    columns: tuple[str, ...]
    values: tuple[Any, ...]
    tags: Sequence[Row] = ()


class TooLong(Exception):
    """The text of a task does not fit into its row."""


def rows_of_new(tasks: Sequence[Task]) -> NewRows:
    """Raises TooLong: a long text is written while its row is made."""
    columns, values = given_columns([new_row(_NO_CONNECTION, task) for task in tasks])
    tags = [row for task in tasks for row in tag_rows(task)]
    return NewRows(columns=columns, values=values, tags=tags)


class _NoConnection(Connection):
    def execute(self, *_: Any) -> NoReturn:
        raise TooLong


_NO_CONNECTION = _NoConnection(":memory:")

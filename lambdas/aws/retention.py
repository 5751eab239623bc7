"""Retention: DynamoDB removes a task by itself, at no charge; the rows beside it go after it.

Those rows have no time of their own, since that would be one more write for each of them when
the task ends.
"""

from typing import TYPE_CHECKING, Any

from lambdas.aws import schema
from lambdas.aws.items import is_task
from lambdas.aws.table import Table
from lambdas.core.retention import LEDGER, kept_for, kept_until
from lambdas.core.task import Task
from lambdas.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def removal_attributes(task: Task, retention: Millis) -> dict[str, dict[str, Any]]:
    """When a task may go that is stored finished; how long it is to be kept from its end, if that
    is not the same for all."""
    until = kept_until(task.status, task.updated_at, kept_for(task.spec, retention))
    attributes = {} if until is None else {schema.REMOVE_AFTER: _seconds(until + SECOND)}
    if task.spec.occurrence:
        attributes[schema.KEPT_FOR] = _seconds(kept_for(task.spec, 0))
    return attributes


def removal_clause(ended_at: Millis, retention: Millis) -> tuple[str, dict[str, dict[str, Any]]]:
    """The same in the very write that ends a task, which does not know whose it is: later it
    would be a write of its own."""
    kept = ":kept" if retention >= LEDGER else f"if_not_exists({schema.KEPT_FOR}, :kept)"
    values = {":kept": _seconds(retention), ":over": _seconds(ended_at + SECOND)}
    return f"{schema.REMOVE_AFTER} = {kept} + :over", values


def _seconds(span: Millis) -> dict[str, Any]:
    return {"N": str(span // SECOND)}


class RowsBeside:
    """The long texts and earlier attempts of tasks."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._table = Table(client, table)

    def forget(self, task_id: str) -> None:
        """Delete what a removed task has left behind; repeating it changes nothing. A task that
        stands there keeps all that it has: whoever asked was wrong."""
        rows = list(
            self._table.query(
                f"{schema.PK} = :task",
                {":task": schema.task_pk(task_id)},
                ProjectionExpression=f"{schema.PK}, {schema.SK}",
                ConsistentRead=True,
            )
        )
        if not any(is_task(row) for row in rows):
            self._table.delete(rows)

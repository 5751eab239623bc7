"""Retention: DynamoDB removes a task by itself, at no charge; the rows beside it go after it.

Those rows have no time of their own, since that would be one more write for each of them when
the task ends.
"""

from typing import TYPE_CHECKING, Any

from lambdas.aws import schema
from lambdas.aws.items import is_task
from lambdas.aws.table import Table
from lambdas.core.lifecycle import Status
from lambdas.core.retention import kept_until
from lambdas.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def removal_attributes(status: Status, at: Millis, retention: Millis) -> dict[str, dict[str, Any]]:
    until = kept_until(status, at, retention)
    return {} if until is None else {schema.REMOVE_AFTER: {"N": str(until // SECOND + 1)}}


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

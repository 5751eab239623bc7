"""The rows beside a task (earlier attempts, idempotency and unique keys), and when they are
removed."""

from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core import codec
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.ports import Reservation, UniqueKey
from duetime.core.retention import LEDGER_RETENTION, kept_for, kept_until
from duetime.core.task import Attempt, Task
from duetime.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


Row = dict[str, dict[str, Any]]


def attempt_row(task_id: str, attempt: Attempt) -> Row:
    return {
        schema.PK: {"S": schema.task_pk(task_id)},
        schema.SK: {"S": schema.attempt_sk(attempt.number)},
        schema.TEXT: {"S": codec.encode_attempt(attempt)},
    }


def read_attempt(row: Item) -> Attempt:
    try:
        return codec.decode_attempt(row[schema.TEXT]["S"])
    except UNREADABLE as error:
        raise Corrupt(f"{row[schema.PK]['S']} {row[schema.SK]['S']}", repr(error)) from error


def key_row(reservation: Reservation) -> Row:
    """DynamoDB removes an expired row within days; until then readers ignore it."""
    return {
        schema.PK: {"S": schema.key_pk(reservation.namespace, reservation.key)},
        schema.SK: {"S": schema.KEY},
        schema.TASK_ID: {"S": reservation.task_id},
        schema.BODY_HASH: {"S": reservation.body_hash},
        schema.EXPIRES_AT: {"N": str(reservation.expires_at)},
        schema.REMOVE_AFTER: {"N": str(reservation.expires_at // SECOND + 1)},
    }


def read_reservation(namespace: str, key: str, row: Item) -> Reservation:
    return Reservation(
        namespace=namespace,
        key=key,
        task_id=row[schema.TASK_ID]["S"],
        body_hash=row[schema.BODY_HASH]["S"],
        expires_at=int(row[schema.EXPIRES_AT]["N"]),
    )


def unique_row(key: UniqueKey) -> Row:
    """The relay deletes the row when the task that it names is removed."""
    return {
        schema.PK: {"S": schema.unique_pk(key.namespace, key.key)},
        schema.SK: {"S": schema.UNIQUE},
        schema.TASK_ID: {"S": key.task_id},
    }


def removal_attributes(task: Task, retention: Millis) -> dict[str, dict[str, Any]]:
    """Returns when to remove a task that is stored in a final status, and its own retention if it
    has one."""
    until = kept_until(task.status, task.updated_at, kept_for(task.spec, retention))
    attributes = {} if until is None else {schema.REMOVE_AFTER: _seconds(until + SECOND)}
    if task.spec.occurrence or task.spec.step:
        own = kept_for(task.spec, retention if task.spec.step else 0)
        attributes[schema.KEPT_FOR] = _seconds(own)
    return attributes


def removal_clause(ended_at: Millis, retention: Millis) -> tuple[str, dict[str, dict[str, Any]]]:
    """Returns the same for the update that ends a task. The update does not know whether the task
    has its own retention, so DynamoDB reads it. A later update would cost a write of its own."""
    kept = ":kept" if retention >= LEDGER_RETENTION else f"if_not_exists({schema.KEPT_FOR}, :kept)"
    values = {":kept": _seconds(retention), ":over": _seconds(ended_at + SECOND)}
    return f"{schema.REMOVE_AFTER} = {kept} + :over", values


class DependentRows:
    """The long texts and earlier attempts of tasks."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._table = Table(client, table)

    def read(self, task_id: str) -> list[Item]:
        return list(
            self._table.query(
                f"{schema.PK} = :task", {":task": schema.task_pk(task_id)}, ConsistentRead=True
            )
        )

    def delete(self, task_id: str) -> bool:
        """Delete the rows of a removed task. Idempotent. If the task still exists, the call was a
        mistake: nothing is deleted, and this returns False."""
        return self.delete_of(schema.task_pk(task_id), schema.TASK)

    def delete_of(self, pk: str, owner: str) -> bool:
        """Delete the rows of a partition, as `delete` does, unless the row `owner` is there."""
        rows = list(
            self._table.query(
                f"{schema.PK} = :owner",
                {":owner": pk},
                ProjectionExpression=f"{schema.PK}, {schema.SK}",
                ConsistentRead=True,
            )
        )
        if any(row[schema.SK]["S"] == owner for row in rows):
            return False
        self._table.delete(rows)
        return True

    def free_key(self, key: UniqueKey) -> None:
        """Deletes a unique key if it still names its task. A submission that has taken it over
        keeps it."""
        pk = schema.unique_pk(key.namespace, key.key)
        self._table.delete_if(
            {
                "Key": {schema.PK: {"S": pk}, schema.SK: {"S": schema.UNIQUE}},
                "ConditionExpression": f"{schema.TASK_ID} = :named",
                "ExpressionAttributeValues": {":named": {"S": key.task_id}},
            }
        )


def _seconds(span: Millis) -> dict[str, Any]:
    return {"N": str(span // SECOND)}

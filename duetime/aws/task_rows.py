"""The rows beside the tasks: earlier attempts and idempotency keys."""

from typing import Any

from lambdas.aws import schema
from lambdas.aws.items import Item
from lambdas.core import codec
from lambdas.core.errors import UNREADABLE, Corrupt
from lambdas.core.ports import Reservation
from lambdas.core.task import Attempt
from lambdas.core.times import SECOND

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
    """DynamoDB removes an expired row within days; until then it is ignored."""
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

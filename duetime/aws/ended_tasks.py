"""Tasks that have ended, for a purge, and their removal.

There is no index by the time of their end: it would cost a write for each task, and DynamoDB's TTL
removes tasks without one. A purge, which is rare, scans the table in bounded pages.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.core.listings import EndedListing, Page
from duetime.core.steps.remove import Removal
from duetime.core.task import Task

SCANNED_ROWS = 1_000  # in one request; a row has less than 1 KB
MAX_SCANS = 8  # for one page

Key = tuple[str, str]
Load = Callable[[Sequence[str]], Mapping[str, Task]]


def ended_page(table: Table, listing: EndedListing, load: Load) -> Page:
    start = _parse_cursor(listing.cursor) if listing.cursor else None
    found: list[Task] = []
    for _ in range(MAX_SCANS):
        keys, last = _scan(table, listing, start)
        wanted = keys[: listing.limit - len(found)]
        tasks = load([schema.task_id_of(pk) for pk, _ in wanted])
        found += [task for task in tasks.values() if listing.wants(task)]
        start = last if len(wanted) == len(keys) else wanted[-1]
        if start is None:
            return Page(tasks=found, cursor=None)
        if len(found) == listing.limit:
            break
    return Page(tasks=found, cursor=_cursor(start) if start else None)


def removal_parameters(removal: Removal) -> dict[str, Any]:
    """Returns the parameters of the conditional DeleteItem."""
    task = removal.task
    unchanged = f"{schema.STATUS} = :status AND {schema.TOKEN} = :token"
    return {
        "Key": {schema.PK: {"S": schema.task_pk(task.id)}, schema.SK: {"S": schema.TASK}},
        "ConditionExpression": f"{unchanged} AND {schema.UPDATED_AT} = :ended"
        f" AND attribute_not_exists({schema.WAKE_BUCKET})",
        "ExpressionAttributeValues": {
            ":status": {"S": task.status.value},
            ":token": {"S": task.token},
            ":ended": {"N": str(task.updated_at)},
        },
    }


def _scan(table: Table, listing: EndedListing, start: Key | None) -> tuple[list[Key], Key | None]:
    """Returns the keys of the tasks in one part of the table that may be wanted, and where the next
    part begins; None at the end of the table."""
    named: dict[str, Any] = {f":s{n}": {"S": s} for n, s in enumerate(sorted(listing.statuses))}
    statuses = ", ".join(named)
    from_here = {"ExclusiveStartKey": _key(start)} if start else {}
    with translate_errors():
        answer = table.client.scan(
            TableName=table.name,
            Limit=SCANNED_ROWS,
            FilterExpression=f"{schema.SK} = :task AND {schema.STATUS} IN ({statuses})"
            f" AND {schema.UPDATED_AT} <= :before AND attribute_not_exists({schema.WAKE_BUCKET})",
            ExpressionAttributeValues={
                ":task": {"S": schema.TASK},
                ":before": {"N": str(listing.as_of - listing.kept_for)},
                **named,
            },
            ProjectionExpression=f"{schema.PK}, {schema.SK}",
            **from_here,  # type: ignore[arg-type]
        )
    last = answer.get("LastEvaluatedKey")
    return [_key_of(item) for item in answer["Items"]], _key_of(last) if last else None


def _key_of(item: Item) -> Key:
    return item[schema.PK]["S"], item[schema.SK]["S"]


def _key(key: Key) -> dict[str, dict[str, str]]:
    return {schema.PK: {"S": key[0]}, schema.SK: {"S": key[1]}}


def _cursor(key: Key) -> str:
    return urlsafe_b64encode("\n".join(key).encode()).decode()


def _parse_cursor(cursor: str) -> Key:
    try:
        pk, sk = urlsafe_b64decode(cursor.encode()).decode().split("\n")
    except ValueError:
        raise ValueError("not a cursor of this list") from None
    if not pk or not sk or _cursor((pk, sk)) != cursor:
        raise ValueError("not a cursor of this list")
    return pk, sk

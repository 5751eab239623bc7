"""One DynamoDB table: conditional writes that return the conflicting item, queries, deletions."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from duetime.aws import schema
from duetime.aws.clients import (
    CONFLICT,
    FAILED_CHECK,
    cancellation_codes,
    conflicting_item,
    translate_errors,
)
from duetime.aws.task_items import Item
from duetime.core.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryOutputTypeDef

DELETES_PER_CALL = 25
MAX_EMPTY_RESPONSES = 4  # in a row
FIRST_BACKOFF = 0.05  # seconds; doubles with each empty response
KEY_IS_FREE = f"attribute_not_exists({schema.PK})"


class CheckFailed(Exception):
    """The check beside a write failed, so the write was not made."""


class Table:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self.client = client
        self.name = name

    def get(self, pk: str, sk: str) -> Item | None:
        with translate_errors():
            answer = self.client.get_item(
                TableName=self.name,
                Key={schema.PK: {"S": pk}, schema.SK: {"S": sk}},
                ConsistentRead=True,
            )
        return answer.get("Item")

    def put(self, item: Item) -> None:
        with translate_errors():
            self.client.put_item(TableName=self.name, Item=item)

    def put_if(
        self, item: Item, condition: str, values: dict[str, Any]
    ) -> tuple[Item | None, bool]:
        """Returns the item that is stored now, and whether this call has put it."""
        given = {"ExpressionAttributeValues": values} if values else {}
        try:
            with translate_errors():
                self.client.put_item(
                    TableName=self.name,
                    Item=item,
                    ConditionExpression=condition,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **given,  # type: ignore[arg-type]
                )
        except ClientError as error:
            return self._conflicting(error, item), False
        return item, True

    def update_if(self, parameters: dict[str, Any]) -> tuple[Item | None, bool]:
        """Returns the item that is stored now, and whether this call has updated it."""
        try:
            with translate_errors():
                answer = self.client.update_item(
                    TableName=self.name,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **parameters,
                )
        except ClientError as error:
            return self._conflicting(error, parameters["Key"]), False
        return answer["Attributes"], True

    def delete_if(self, parameters: dict[str, Any]) -> tuple[Item | None, bool]:
        """Returns the item that is stored now, and whether this call has deleted it."""
        try:
            with translate_errors():
                self.client.delete_item(
                    TableName=self.name,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **parameters,
                )
        except ClientError as error:
            return self._conflicting(error, parameters["Key"]), False
        return None, True

    def transact(
        self, beside: dict[str, Any], verb: str, parameters: dict[str, Any]
    ) -> tuple[Item | None, bool]:
        """Makes a conditional write (`Put` or `Delete`) together with another action: a
        `ConditionCheck` of another item, or a `Put`. Returns the item that is stored now, and
        whether this call has written it. Raises CheckFailed if the check failed. A transaction
        that meets another writer is repeated."""
        items: Any = [
            *({action: {"TableName": self.name, **given}} for action, given in beside.items()),
            {verb: {"TableName": self.name, **parameters}},
        ]
        conflicts = 0
        while True:
            try:
                with translate_errors():
                    self.client.transact_write_items(TransactItems=items)
            except ClientError as error:
                first, second = cancellation_codes(error)
                if first == FAILED_CHECK:
                    raise CheckFailed from error
                if CONFLICT in (first, second):
                    conflicts += 1
                    back_off("TransactWriteItems", conflicts)
                    continue
                if not {first, second} <= {"None", FAILED_CHECK}:
                    raise Unavailable(str(error)) from error
                key = parameters.get("Key") or parameters["Item"]
                return self.get(key[schema.PK]["S"], key[schema.SK]["S"]), False
            return parameters.get("Item"), True

    def query(self, condition: str, values: dict[str, str], **options: Any) -> Iterator[Item]:
        """Yields the items of every page of a query; reads a page when it is needed."""
        for page in self._pages(condition, values, options):
            yield from page["Items"]

    def count(
        self, condition: str, values: dict[str, str], pages: int | None = None, **options: Any
    ) -> int:
        """Returns how many items a query finds, without returning them; at most those of so many
        `pages`."""
        found = self._pages(condition, values, {**options, "Select": "COUNT"})
        return sum(page["Count"] for page in islice(found, pages))

    def _pages(
        self, condition: str, values: dict[str, str], options: dict[str, Any]
    ) -> Iterator["QueryOutputTypeDef"]:
        start: dict[str, Any] = {}
        while True:
            with translate_errors():
                answer = self.client.query(
                    TableName=self.name,
                    KeyConditionExpression=condition,
                    ExpressionAttributeValues={k: {"S": v} for k, v in values.items()},
                    **options,
                    **start,
                )
            yield answer
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def scan(self, index: str, limit: int, **options: Any) -> tuple[Sequence[Item], bool]:
        """Returns the first rows of an index, unordered, and whether there may be more."""
        with translate_errors():
            answer = self.client.scan(TableName=self.name, IndexName=index, Limit=limit, **options)
        return answer["Items"], "LastEvaluatedKey" in answer

    def delete(self, keys: Sequence[Item]) -> None:
        """Deletes the items unconditionally; a key without an item is ignored."""
        for start in range(0, len(keys), DELETES_PER_CALL):
            batch = keys[start : start + DELETES_PER_CALL]
            self._delete([{"DeleteRequest": {"Key": key}} for key in batch])

    def _delete(self, requests: Sequence[Any]) -> None:
        empty = 0
        while requests:
            with translate_errors():
                answer = self.client.batch_write_item(RequestItems={self.name: requests})
            unprocessed = answer["UnprocessedItems"].get(self.name, [])
            empty = 0 if len(unprocessed) < len(requests) else empty + 1
            if empty:
                back_off("BatchWriteItem", empty)
            requests = unprocessed

    def _conflicting(self, error: ClientError, key: Item) -> Item | None:
        return conflicting_item(error) or self.get(key[schema.PK]["S"], key[schema.SK]["S"])


def back_off(call: str, empty_responses: int) -> None:
    """Sleep after responses in a row that processed nothing; raise Unavailable after too many."""
    if empty_responses > MAX_EMPTY_RESPONSES:
        raise Unavailable(f"{call}: every key stays unprocessed")
    time.sleep(FIRST_BACKOFF * 2**empty_responses)

"""One table: conditional writes that tell what stood in their way, paged queries, deletions."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from lambdas.aws import schema
from lambdas.aws.clients import reached, standing_item
from lambdas.aws.items import Item
from lambdas.aws.unprocessed import pause

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DELETES_PER_CALL = 25
IS_FREE = f"attribute_not_exists({schema.PK})"


class Table:
    def __init__(self, client: "DynamoDBClient", name: str) -> None:
        self.client = client
        self.name = name

    def get(self, pk: str, sk: str) -> Item | None:
        with reached():
            answer = self.client.get_item(
                TableName=self.name,
                Key={schema.PK: {"S": pk}, schema.SK: {"S": sk}},
                ConsistentRead=True,
            )
        return answer.get("Item")

    def put(self, item: Item) -> None:
        with reached():
            self.client.put_item(TableName=self.name, Item=item)

    def put_if(
        self, item: Item, condition: str, values: dict[str, Any]
    ) -> tuple[Item | None, bool]:
        """The item that stands there now, and whether it is the one given."""
        given = {"ExpressionAttributeValues": values} if values else {}
        try:
            with reached():
                self.client.put_item(
                    TableName=self.name,
                    Item=item,
                    ConditionExpression=condition,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **given,  # type: ignore[arg-type]
                )
        except ClientError as error:
            return self._standing(error, item), False
        return item, True

    def update_if(self, parameters: dict[str, Any]) -> tuple[Item | None, bool]:
        """The item as it stands now, and whether the update was made."""
        try:
            with reached():
                answer = self.client.update_item(
                    TableName=self.name,
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **parameters,
                )
        except ClientError as error:
            return self._standing(error, parameters["Key"]), False
        return answer["Attributes"], True

    def query(self, condition: str, values: dict[str, str], **options: Any) -> Iterator[Item]:
        """Every page of a query, one after the other, as they are asked for."""
        start: dict[str, Any] = {}
        while True:
            with reached():
                answer = self.client.query(
                    TableName=self.name,
                    KeyConditionExpression=condition,
                    ExpressionAttributeValues={k: {"S": v} for k, v in values.items()},
                    **options,
                    **start,
                )
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    def scan(self, index: str, limit: int, **options: Any) -> tuple[Sequence[Item], bool]:
        """The first rows of an index, in no order, and whether there may be more."""
        with reached():
            answer = self.client.scan(TableName=self.name, IndexName=index, Limit=limit, **options)
        return answer["Items"], "LastEvaluatedKey" in answer

    def delete(self, keys: Sequence[Item]) -> None:
        """Whatever stands there; a key of nothing is none the worse."""
        for start in range(0, len(keys), DELETES_PER_CALL):
            few = keys[start : start + DELETES_PER_CALL]
            self._delete([{"DeleteRequest": {"Key": key}} for key in few])

    def _delete(self, asked: Sequence[Any]) -> None:
        empty = 0
        while asked:
            with reached():
                answer = self.client.batch_write_item(RequestItems={self.name: asked})
            left = answer["UnprocessedItems"].get(self.name, [])
            empty = 0 if len(left) < len(asked) else empty + 1
            if empty:
                pause("BatchWriteItem", empty)
            asked = left

    def _standing(self, error: ClientError, key: Item) -> Item | None:
        return standing_item(error) or self.get(key[schema.PK]["S"], key[schema.SK]["S"])

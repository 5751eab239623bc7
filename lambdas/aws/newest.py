"""What an index holds in several shards, newest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from lambdas.aws.clients import reached
from lambdas.aws.items import Item
from lambdas.aws.table import Table

Keys = tuple[list[str], bool]  # newest first; whether there are more


def newest_rows(
    table: Table, index: str, condition: str, values: Mapping[str, str], limit: int
) -> tuple[Sequence[Item], bool]:
    """The last rows that meet a condition, and whether there may be more."""
    named: Any = {name: {"S": value} for name, value in values.items()}
    with reached():
        answer = table.client.query(
            TableName=table.name,
            IndexName=index,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=named,
            ScanIndexForward=False,
            Limit=limit,
        )
    return answer["Items"], "LastEvaluatedKey" in answer


def merged(shards: Sequence[Keys]) -> Keys:
    # Below the last key of a shard that has more, keys of that shard may be missing.
    floor = max((keys[-1] for keys, more in shards if more and keys), default="")
    keys = sorted((key for keys, _ in shards for key in keys if key >= floor), reverse=True)
    return keys, any(more for _, more in shards)

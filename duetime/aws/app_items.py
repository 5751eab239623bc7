"""The apps that declare schedules, as one DynamoDB item, and the check that fences out old ones.

The current generation of each app is also in a second item. Every write of a sync checks it, and a
check costs as much as the item is long.
"""

from typing import Any

from duetime.aws import schema
from duetime.aws.task_items import Item
from duetime.core.schedules.apps import Apps, decode_apps, encode_apps
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class Fence:
    """A generation that must be the current one of its app."""

    app: str
    generation: int

    @property
    def check(self) -> dict[str, Any]:
        check = {
            "Key": _key(schema.GENERATIONS_OF_APPS),
            "ConditionExpression": f"{schema.GENERATIONS}.#app = :generation",
            "ExpressionAttributeNames": {"#app": self.app},
            "ExpressionAttributeValues": {":generation": {"N": str(self.generation)}},
        }
        return {"ConditionCheck": check}


def apps_item(apps: Apps) -> Item:
    return _key(schema.APPS) | {
        schema.REVISION: {"N": str(apps.revision)},
        schema.TEXT: {"S": encode_apps(apps)},
    }


def generations_item(apps: Apps) -> Item:
    generations = {name: {"N": str(app.current)} for name, app in apps.by_name.items()}
    return _key(schema.GENERATIONS_OF_APPS) | {schema.GENERATIONS: {"M": generations}}


def apps_in(item: Item) -> Apps:
    return decode_apps(item[schema.TEXT]["S"], int(item[schema.REVISION]["N"]))


def _key(row: tuple[str, str]) -> dict[str, dict[str, Any]]:
    pk, sk = row
    return {schema.PK: {"S": pk}, schema.SK: {"S": sk}}

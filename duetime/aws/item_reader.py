"""Reading items, and the long texts beside them."""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lambdas.aws import schema
from lambdas.aws.clients import reached
from lambdas.aws.items import Item, decode_task, task_references
from lambdas.aws.unprocessed import pause
from lambdas.core.errors import Corrupt
from lambdas.core.task import Task

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

Key = tuple[str, str]

KEYS_PER_CALL = 100
TEXTS_KEPT = 64  # at most 256 KB each


class Reader:
    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._texts: dict[Key, str] = {}
        self._turn = threading.Lock()

    def remember(self, pk: str, texts: Mapping[str, str]) -> None:
        """A text never changes, so one that was read or written need not be read again. An
        executor sees the same task at its lease, at each heartbeat and at its end."""
        with self._turn:  # side by side writes come here in threads of their own
            for sk, text in texts.items():
                self._texts[pk, sk] = text
            for key in list(islice(self._texts, max(len(self._texts) - TEXTS_KEPT, 0))):
                del self._texts[key]

    def texts(self, keys: Iterable[Key]) -> dict[Key, str]:
        texts = {key: text for key in keys if (text := self._texts.get(key)) is not None}
        # It was written before whatever refers to it: the cheaper read nearly always finds it.
        for consistent in (False, True):
            missing = [key for key in keys if key not in texts]
            for item in self.items(missing, consistent=consistent):
                key = (pk_of(item), item[schema.SK]["S"])
                texts[key] = item[schema.TEXT]["S"]
                self.remember(key[0], {key[1]: texts[key]})
        return texts

    def items(self, keys: Sequence[Key], *, consistent: bool) -> Iterator[Item]:
        for start in range(0, len(keys), KEYS_PER_CALL):
            wanted = [
                {schema.PK: {"S": pk}, schema.SK: {"S": sk}}
                for pk, sk in keys[start : start + KEYS_PER_CALL]
            ]
            yield from self._batch(wanted, consistent=consistent)

    def _batch(self, wanted: Any, *, consistent: bool) -> Iterator[Item]:
        """An answer holds up to 16 MB; what it leaves out is asked for again."""
        empty = 0
        while wanted:
            asked: Any = {self._table: {"Keys": wanted, "ConsistentRead": consistent}}
            with reached():
                answer = self._client.batch_get_item(RequestItems=asked)
            items = answer["Responses"].get(self._table, [])
            yield from items
            left: Any = answer["UnprocessedKeys"].get(self._table, {})
            wanted = left.get("Keys")
            empty = 0 if items else empty + 1
            if wanted and empty:
                pause("BatchGetItem", empty)


class TaskReader(Reader):
    def tasks(self, task_ids: Iterable[str]) -> dict[str, Task]:
        keys = [(schema.task_pk(task_id), schema.TASK) for task_id in dict.fromkeys(task_ids)]
        return {task.id: task for task in self.decode(list(self.items(keys, consistent=True)))}

    def readable(self, task_ids: Iterable[str]) -> dict[str, Task]:
        """For a list, which one task that cannot be read must not take down."""
        ids = list(task_ids)
        try:
            return self.tasks(ids)
        except Corrupt as error:
            if len(ids) == 1:
                log.error("left out: %s", error)
                return {}
        middle = len(ids) // 2
        return self.readable(ids[:middle]) | self.readable(ids[middle:])

    def decode(self, items: Sequence[Item]) -> list[Task]:
        keys = [(pk_of(item), sk) for item in items for sk in task_references(item)]
        if not keys:
            return [decode_task(item, {}) for item in items]
        texts = self.texts(dict.fromkeys(keys))
        return [decode_task(item, texts_of(item, task_references(item), texts)) for item in items]


def pk_of(item: Item) -> str:
    pk: str = item[schema.PK]["S"]
    return pk


def texts_of(item: Item, sort_keys: Iterable[str], texts: Mapping[Key, str]) -> dict[str, str]:
    """Those of the texts that an item refers to."""
    pk = pk_of(item)
    return {sk: texts[pk, sk] for sk in sort_keys if (pk, sk) in texts}

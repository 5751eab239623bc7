"""Batch reads of items and of the long texts that they refer to."""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.clients import translate_errors
from duetime.aws.overflow import text_in
from duetime.aws.table import back_off
from duetime.aws.task_items import Item, decode_task, task_references
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.task import Task

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

log = logging.getLogger(__name__)

Key = tuple[str, str]

KEYS_PER_CALL = 100
TEXT_CACHE_SIZE = 64  # texts, of up to 256 KB each


class ItemReader:
    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        self._client = client
        self._table = table
        self._texts: dict[Key, str] = {}
        self._lock = threading.Lock()

    def remember(self, pk: str, texts: Mapping[str, str]) -> None:
        """Cache texts that were read or written. A text never changes, so it is read only once. An
        executor reads the same task at its lease, at each heartbeat and at its end."""
        with self._lock:  # parallel writes call this from several threads
            for sk, text in texts.items():
                self._texts[pk, sk] = text
            for key in list(islice(self._texts, max(len(self._texts) - TEXT_CACHE_SIZE, 0))):
                del self._texts[key]

    def texts(self, keys: Iterable[Key]) -> dict[Key, str]:
        texts = {key: text for key in keys if (text := self._texts.get(key)) is not None}
        # A text is written before the item that refers to it: the cheaper, eventually consistent
        # read nearly always finds it.
        for consistent in (False, True):
            missing = [key for key in keys if key not in texts]
            for item in self.items(missing, consistent=consistent):
                key = (pk_of(item), item[schema.SK]["S"])
                texts[key] = _text(item)
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
        """Repeats the call for the keys that a response leaves out: it holds up to 16 MB."""
        empty = 0
        while wanted:
            asked: Any = {self._table: {"Keys": wanted, "ConsistentRead": consistent}}
            with translate_errors():
                answer = self._client.batch_get_item(RequestItems=asked)
            items = answer["Responses"].get(self._table, [])
            yield from items
            unprocessed: Any = answer["UnprocessedKeys"].get(self._table, {})
            wanted = unprocessed.get("Keys")
            empty = 0 if items else empty + 1
            if wanted and empty:
                back_off("BatchGetItem", empty)


class TaskReader(ItemReader):
    def tasks(self, task_ids: Iterable[str], *, summary: bool = False) -> dict[str, Task]:
        keys = [(schema.task_pk(task_id), schema.TASK) for task_id in dict.fromkeys(task_ids)]
        items = [*self.items(keys, consistent=True)]
        if summary:
            items = [{n: v for n, v in item.items() if n != schema.RESULT} for item in items]
        return {task.id: task for task in self.decode(items)}

    def readable(self, task_ids: Iterable[str], *, summary: bool = False) -> dict[str, Task]:
        """Returns the tasks that can be read, and logs the others, so that a list never fails. A
        summary has no results, and does not read the long ones."""
        ids = list(task_ids)
        try:
            return self.tasks(ids, summary=summary)
        except Corrupt as error:
            if len(ids) == 1:
                log.error(
                    "task skipped: unreadable", extra={"task_id": ids[0], "reason": str(error)}
                )
                return {}
        middle = len(ids) // 2
        first, rest = ids[:middle], ids[middle:]
        return self.readable(first, summary=summary) | self.readable(rest, summary=summary)

    def decode(self, items: Sequence[Item]) -> list[Task]:
        keys = [(pk_of(item), sk) for item in items for sk in task_references(item)]
        if not keys:
            return [decode_task(item, {}) for item in items]
        texts = self.texts(dict.fromkeys(keys))
        return [decode_task(item, texts_of(item, task_references(item), texts)) for item in items]


def _text(row: Item) -> str:
    try:
        return text_in(row)
    except UNREADABLE as error:
        raise Corrupt(pk_of(row), repr(error)) from error


def pk_of(item: Item) -> str:
    pk: str = item[schema.PK]["S"]
    return pk


def texts_of(item: Item, sort_keys: Iterable[str], texts: Mapping[Key, str]) -> dict[str, str]:
    """Returns the texts that an item refers to."""
    pk = pk_of(item)
    return {sk: texts[pk, sk] for sk in sort_keys if (pk, sk) in texts}

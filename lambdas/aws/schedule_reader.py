"""Reading schedules: their items, and the long plans beside them."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lambdas.aws import schema
from lambdas.aws.items import Item
from lambdas.aws.reader import Reader, pk_of, texts_of
from lambdas.aws.schedule_items import decode_schedule, plan_references, status_of
from lambdas.core.errors import Corrupt
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus

log = logging.getLogger(__name__)


class ScheduleReader(Reader):
    def readable(
        self, schedule_ids: Iterable[str], status: ScheduleStatus | None = None
    ) -> dict[str, Schedule]:
        """Those in one status, or in any."""
        found = self._read(dict.fromkeys(schedule_ids), status)
        for schedule in found.values():
            if isinstance(schedule, Corrupt):
                log.error("left out: %s", schedule)
        return {i: s for i, s in found.items() if isinstance(s, Schedule)}

    def existing(self, schedule_ids: Iterable[str]) -> set[str]:
        return {schema.schedule_id_of(pk_of(item)) for item in self._items(schedule_ids)}

    def decoded(self, item: Item) -> Schedule | Corrupt | None:
        """What an item stands for, or what has taken its place since."""
        [(schedule_id, found)] = self._decode([item]).items()
        if isinstance(found, Corrupt) and plan_references(item):
            return self._read([schedule_id]).get(schedule_id)
        return found

    def _read(
        self, ids: Iterable[str], status: ScheduleStatus | None = None
    ) -> dict[str, Schedule | Corrupt]:
        """A plan may be replaced after its schedule was read and before it is itself: so what
        seems to lack one is looked at once more."""
        found = self._read_once(ids, status)
        broken = [i for i, schedule in found.items() if isinstance(schedule, Corrupt)]
        again = self._read_once(broken, status)
        return {i: s for i, s in found.items() if i not in broken} | again

    def _read_once(
        self, ids: Iterable[str], status: ScheduleStatus | None
    ) -> dict[str, Schedule | Corrupt]:
        items = self._items(ids)
        return self._decode([item for item in items if status in (None, status_of(item))])

    def _items(self, ids: Iterable[str]) -> Iterator[Item]:
        keys = [(schema.schedule_pk(i), schema.SCHEDULE) for i in dict.fromkeys(ids)]
        return self.items(keys, consistent=True)

    def _decode(self, items: Sequence[Item]) -> dict[str, Schedule | Corrupt]:
        keys = [(pk_of(item), sk) for item in items for sk in plan_references(item)]
        texts = self.texts(dict.fromkeys(keys)) if keys else {}
        return {
            schema.schedule_id_of(pk_of(item)): _try_decoding(
                item, texts_of(item, plan_references(item), texts)
            )
            for item in items
        }


def _try_decoding(item: Item, texts: Mapping[str, str]) -> Schedule | Corrupt:
    try:
        return decode_schedule(item, texts)
    except Corrupt as error:
        return error

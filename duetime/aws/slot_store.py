"""Slots and lines in DynamoDB: the AWS backend's SlotStore.

All rows of a line are in one partition, the slots before the places, so one query reads both.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from duetime.aws import schema
from duetime.aws.parallel import ParallelCalls
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item, wake_attributes, wake_in
from duetime.core.limits.slots import HEADS, Line, LineState, Place, Slot, SlotWrite
from duetime.core.wakes import Wake

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = 3 * HEADS  # rows in one response: most lines have few slots

_NAMES = f"({schema.TASK_ID} = :{{0}}_task AND {schema.TOKEN} = :{{0}}_token)"
_BEFORE, _AFTER = _NAMES.format("before"), _NAMES.format("after")
_STILL_THERE = f"{schema.WAKE_BUCKET} = :bucket AND {schema.WAKE_KEY} = :key"


class DynamoSlotStore:
    def __init__(
        self, client: "DynamoDBClient", table: str, parallel: ParallelCalls | None = None
    ) -> None:
        self._table = Table(client, table)
        self._parallel = parallel or ParallelCalls()

    def read(self, lines: Sequence[Line]) -> list[LineState]:
        return self._parallel.each(self._read, lines)

    def replace(self, writes: Sequence[SlotWrite]) -> list[bool]:
        return self._parallel.each(self._replace, writes)

    def join(self, places: Sequence[tuple[Line, Place]]) -> None:
        self._parallel.each(lambda pair: self._table.put(_place_item(*pair)), places)

    def leave(self, places: Sequence[tuple[Line, Place]]) -> None:
        keys = [_place_key(*pair) for pair in dict.fromkeys(places)]
        self._parallel.each(lambda key: self._table.delete_if({"Key": key}), keys)

    def waiting(self, places: Sequence[tuple[Line, Place]]) -> list[bool]:
        return self._parallel.each(self._waits, places)

    def count_waiting(self, line: Line) -> int:
        return self._table.count(
            f"{schema.PK} = :line AND begins_with({schema.SK}, :places)",
            {":line": schema.line_pk(line.id), ":places": schema.PLACE_PREFIX},
            ConsistentRead=True,
        )

    def in_use(self, namespace: str, limit: str) -> bool:
        line = Line(namespace=namespace, limit=limit, key="")
        state = self._read(line)
        return bool(state.slots or state.places)

    def watch_of(self, line: Line) -> Wake | None:
        item = self._table.get(schema.line_pk(line.id), schema.LINE_WATCH)
        return wake_in(item) if item else None

    def move_watch(self, line: Line, before: Wake | None, after: Wake | None) -> bool:
        key = _key(line, schema.LINE_WATCH)
        values: dict[str, Any] = {}
        if before is not None:
            values = {":bucket": {"S": before.bucket}, ":key": {"S": before.key}}
        condition = KEY_IS_FREE if before is None else _STILL_THERE
        if after is None:
            parameters = {"Key": key, "ConditionExpression": condition}
            given = {"ExpressionAttributeValues": values} if values else {}
            stored, made = self._table.delete_if(parameters | given)
            return made or stored is None
        item = {**key, **_present(wake_attributes(after))}
        stored, made = self._table.put_if(item, condition, values)
        return made or (stored is not None and wake_in(stored) == after)

    def _read(self, line: Line) -> LineState:
        rows = self._table.query(
            f"{schema.PK} = :line AND {schema.SK} < :watch",
            {":line": schema.line_pk(line.id), ":watch": schema.LINE_WATCH},
            ConsistentRead=True,
            Limit=PAGE,
        )
        slots: list[Slot] = []
        places: list[Place] = []
        for row in rows:
            if row[schema.SK]["S"].startswith(schema.SLOT_PREFIX):
                slots.append(_slot_in(row))
                continue
            places.append(_place_in(row))
            if len(places) == HEADS:
                break
        return LineState(slots=slots, places=places)

    def _replace(self, write: SlotWrite) -> bool:
        """A condition that also accepts what is wanted makes a write repeatable."""
        before, after = write.before, write.after
        if after is None:
            return before is None or self._free(write.line, before)
        condition = KEY_IS_FREE if before is None else _BEFORE
        values = _values("after", after) | (_values("before", before) if before else {})
        item = {**_key(write.line, schema.slot_sk(after.number)), **_attributes(after)}
        _, made = self._table.put_if(item, f"{condition} OR {_AFTER}", values)
        return made

    def _free(self, line: Line, slot: Slot) -> bool:
        stored, made = self._table.delete_if(
            {
                "Key": _key(line, schema.slot_sk(slot.number)),
                "ConditionExpression": _BEFORE,
                "ExpressionAttributeValues": _values("before", slot),
            }
        )
        return made or stored is None

    def _waits(self, pair: tuple[Line, Place]) -> bool:
        line, place = pair
        return self._table.get(schema.line_pk(line.id), _place_sk(place)) is not None


def _key(line: Line, sk: str) -> dict[str, Any]:
    return {schema.PK: {"S": schema.line_pk(line.id)}, schema.SK: {"S": sk}}


def _values(prefix: str, slot: Slot) -> dict[str, Any]:
    return {f":{prefix}_task": {"S": slot.task_id}, f":{prefix}_token": {"S": slot.token}}


def _attributes(slot: Slot) -> dict[str, Any]:
    return {
        schema.TASK_ID: {"S": slot.task_id},
        schema.TOKEN: {"S": slot.token},
        schema.SINCE: {"N": str(slot.since)},
    }


def _slot_in(row: Item) -> Slot:
    return Slot(
        number=int(row[schema.SK]["S"].removeprefix(schema.SLOT_PREFIX)),
        task_id=row[schema.TASK_ID]["S"],
        token=row[schema.TOKEN]["S"],
        since=int(row[schema.SINCE]["N"]),
    )


def _place_sk(place: Place) -> str:
    return schema.place_sk(place.position, place.task_id)


def _place_key(line: Line, place: Place) -> Item:
    return _key(line, _place_sk(place))


def _place_item(line: Line, place: Place) -> Item:
    return {**_key(line, _place_sk(place)), schema.SINCE: {"N": str(place.since)}}


def _place_in(row: Item) -> Place:
    _, position, task_id = row[schema.SK]["S"].split("#")
    return Place(position=int(position), task_id=task_id, since=int(row[schema.SINCE]["N"]))


def _present(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}

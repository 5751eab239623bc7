"""Request units of DynamoDB, as AWS bills them on demand.

Sizes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
Units: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
Indexes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from duetime.aws import schema

Item = Mapping[str, Mapping[str, Any]]

WRITE_UNIT = 1024  # bytes
READ_UNIT = 4096
PER_ITEM = 100  # bytes that storage adds to every item and index entry
# A new table on demand takes 4,000 write units a second, and a partition 1,000. A scan pays for
# each partition that it searches, even if it finds nothing there.
PARTITIONS = 4

TABLE = "table"
_KEYS = (schema.PK, schema.SK)
_INDEXES = {
    index["IndexName"]: {key["AttributeName"] for key in index["KeySchema"]}
    for index in schema.create_table("any")["GlobalSecondaryIndexes"]
}


def size_of(item: Item) -> int:
    """Returns the size of an item: names and values in UTF-8, numbers by their digits."""
    return sum(len(name.encode()) + _size_of_value(value) for name, value in item.items())


def write_units(before: Item | None, after: Item | None) -> dict[str, int]:
    """Returns the units by place: the table, and each index that the write changes. The table
    bills the larger of the two items, even for a small change."""
    largest = max(size_of(before or {}), size_of(after or {}), 1)
    units = {TABLE: ceil(largest / WRITE_UNIT)}
    for index in _INDEXES:
        if written := _index_units(_entry(index, before), _entry(index, after)):
            units[index] = written
    return units


def read_units(size: int, *, consistent: bool) -> float:
    """Returns the units of a read. A missing item is billed like the smallest one."""
    return max(ceil(size / READ_UNIT), 1) * (1.0 if consistent else 0.5)


def stored_bytes(items: Iterable[Item]) -> int:
    """Returns the billed bytes: the items and their index entries, with the overhead of each."""
    entries = [entry for item in items for entry in (item, *_entries(item))]
    return sum(size_of(entry) + PER_ITEM for entry in entries)


def _entries(item: Item) -> list[Item]:
    return [entry for index in _INDEXES if (entry := _entry(index, item)) is not None]


def _entry(index: str, item: Item | None) -> Item | None:
    """Returns the index entry of an item: keys only. None if a key of the index is missing."""
    if item is None or not _INDEXES[index] <= item.keys():
        return None
    return {name: item[name] for name in (*_KEYS, *_INDEXES[index])}


def _index_units(before: Item | None, after: Item | None) -> int:
    """Returns the units of an index. An entry that moves is deleted and put: two writes."""
    if before == after:
        return 0
    return sum(ceil(size_of(entry) / WRITE_UNIT) for entry in (before, after) if entry)


def _size_of_value(value: Mapping[str, Any]) -> int:
    [(kind, content)] = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content)
        case "N":
            return _size_of_number(content)
        case "NS":
            return sum(map(_size_of_number, content))
        case "BOOL" | "NULL":
            return 1
    raise NotImplementedError(f"no item of ours has an attribute of type {kind}")


def _size_of_number(text: str) -> int:
    """Returns the size of a number: a byte for two significant digits, one more, and one for a
    sign. AWS calls that approximate: its code pairs the digits from the decimal point on, so that
    12340 takes three pairs and 1234 two."""
    whole, _, fraction = text.lstrip("-").partition(".")
    digits = "0" * (len(whole) % 2) + whole + fraction + "0" * (len(fraction) % 2)
    pairs = [digits[start : start + 2] != "00" for start in range(0, len(digits), 2)]
    significant = len(pairs) - pairs.index(True) - pairs[::-1].index(True) if any(pairs) else 0
    return significant + 1 + text.startswith("-")

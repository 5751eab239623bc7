"""The same moto in less time: most of a call to it, and of making a client, went into these five.

`python -m tests.quick_moto` is moto's server.
"""

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader
from moto.core import responses, serialize, utils
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table

# As they are in an answer. Others hold further values, or bytes to encode.
PLAIN = {"S", "N", "BOOL", "NULL", "SS", "NS"}

_structure = serialize.ResponseSerializer._serialize_type_structure
_cast_value: Any = DynamoType.cast_value
_load_file = JSONFileLoader._load_file  # type: ignore[attr-defined]


def _serialize_structure(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
    """moto looks for each of the ten types of an attribute under every name that it may have."""
    if shape.name == "AttributeValue" and type(value) is dict and PLAIN.issuperset(value):
        self._default_serialize(serialized, value, shape, key)
    else:
        _structure(self, serialized, value, shape, key)


def _all_items(self: Table) -> list[Item]:
    """moto sorts the table for each query, and casts both keys for each comparison."""
    found: list[Any] = list(self.items.values())
    if self.range_key_attr:
        found = [item for partition in found for item in partition.values()]
    return sorted(found, key=_keys)


def _keys(item: Item) -> Any:
    key = item.hash_key.cast_value
    return (key, item.range_key.cast_value) if item.range_key else key


@cache
def _load_once(path: str, open_method: Any) -> Any:
    """A session keeps what it has loaded, and each of our clients has a session of its own."""
    return _load_file(JSONFileLoader(), path, open_method)


def install() -> None:
    patched: list[tuple[Any, str, Any]] = [
        (serialize.ResponseSerializer, "_serialize_type_structure", _serialize_structure),
        (responses, "method_names_from_class", cache(utils.method_names_from_class)),
        (Table, "all_items", _all_items),
        (JSONFileLoader, "_load_file", lambda _, path, opened: _load_once(path, opened)),
        (
            DynamoType,
            "cast_value",
            property(lambda self: self.value if self.type == "S" else _cast_value.fget(self)),
        ),
    ]
    for where, name, quick in patched:
        setattr(where, name, quick)


if __name__ == "__main__":
    from moto.server import main

    install()
    main()

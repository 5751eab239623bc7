"""Python values become JSON values as usual, or are refused with a path and a hint."""

import json
import re
from array import array
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from duetime.core.json_values import NotJson, to_json_value
from tests.strategies import json_values

ID = UUID("12345678-1234-5678-1234-567812345678")
Pair = namedtuple("Pair", "a b")


class Color(Enum):
    RED = "red"
    OPAQUE = object()


class Size(IntEnum):
    LARGE = 3


class Word(StrEnum):
    YES = "yes"


@dataclass
class Row:
    at: datetime
    tags: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Slotted:
    inner: Row


class Model(BaseModel):
    id: UUID
    at: datetime
    amount: Decimal


class Socket:
    pass


NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def converted(value: Any, **options: Any) -> Any:
    return to_json_value(value, **{"levels": 100} | options)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (NOON, "2026-11-16T12:00:00+00:00"),
        (datetime(2026, 11, 16, 12), "2026-11-16T12:00:00"),
        (NOON.astimezone(timezone(timedelta(hours=-3))), "2026-11-16T09:00:00-03:00"),
        (date(2026, 11, 16), "2026-11-16"),
        (time(9, 30), "09:30:00"),
        (timedelta(minutes=5), 300),
        (timedelta(milliseconds=1_500), 1.5),
        (ID, str(ID)),
        (Decimal("1.10"), "1.10"),
        (ip_address("192.0.2.1"), "192.0.2.1"),
        (Path("/tmp/x"), "/tmp/x"),
        (PurePosixPath("a/b"), "a/b"),
        (Color.RED, "red"),
        (Size.LARGE, 3),
        (Word.YES, "yes"),
        ({1}, [1]),
        (frozenset({"a"}), ["a"]),
        ((1, (2,)), [1, [2]]),
        (deque([1, 2]), [1, 2]),
        (Pair(1, ID), [1, str(ID)]),
        (OrderedDict(a=ID), {"a": str(ID)}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Row(NOON, {"x"}), {"at": "2026-11-16T12:00:00+00:00", "tags": ["x"]}),
        (Slotted(Row(NOON)), {"inner": {"at": "2026-11-16T12:00:00+00:00", "tags": []}}),
        (
            Model(id=ID, at=NOON, amount=Decimal("1.10")),
            {"id": str(ID), "at": "2026-11-16T12:00:00Z", "amount": "1.10"},
        ),
        ({"rows": [{"at": NOON}]}, {"rows": [{"at": "2026-11-16T12:00:00+00:00"}]}),
    ],
    ids=repr,
)
def test_value_is_converted_in_the_usual_way(value: Any, plain: Any):
    assert converted(value) == plain
    assert json.loads(json.dumps(converted(value))) == plain


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("a", "a"),
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        (ID, str(ID)),
        (date(2026, 11, 16), "2026-11-16"),
        (NOON, "2026-11-16T12:00:00+00:00"),
        (Decimal("1.10"), "1.10"),
        (Color.RED, "red"),
        (Size.LARGE, "3"),
    ],
    ids=repr,
)
def test_key_becomes_text(key: Any, text: str):
    assert json.loads(json.dumps(converted({key: 1}))) == {text: 1}


def without_address(value: Any) -> str:
    """Test ids must be the same in every test process."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        (Socket(), "", "a value of type Socket is not JSON; use its id, or str() of it"),
        ([1, {"a": Socket()}], "1.a", "a value of type Socket is not JSON; use its id, or str()"),
        ({"rows": (n for n in [1])}, "rows", "a value of type generator is not JSON; use list()"),
        (range(3), "", "a value of type range is not JSON; use list() of it"),
        (array("i", [1]), "", "a value of type array is not JSON; use its tolist()"),
        ({"a": {}.values()}, "a", "a value of type dict_values is not JSON; use list() of it"),
        ({"raw": b"x"}, "raw", "bytes are not JSON; use decode() of them, or base64 text"),
        ({"raw": bytearray(b"x")}, "raw", "bytes are not JSON"),
        ([float("nan")], "0", "nan is not JSON; use None or text"),
        ([float("-inf")], "0", "-inf is not JSON; use None or text"),
        ({"a": "\ud800"}, "a", "text with half a surrogate pair is not JSON"),
        ({"\ud800": 1}, "", "text with half a surrogate pair is not JSON"),
        ({"a": {(1, 2): 3}}, "a", "a key of type tuple is not JSON; use text, a number, a date or"),
        ({b"a": 3}, "", "a key of type bytes is not JSON"),
        ({float("nan"): 3}, "", "nan is not JSON"),
        ([Color.OPAQUE], "0", "a value of type object is not JSON"),
        (Row, "", "a value of type type is not JSON"),
        (Model, "", "is not JSON"),
        ({"x" * 100: Socket()}, "x" * 60, "a value of type Socket is not JSON"),
    ],
    ids=without_address,
)
def test_value_that_json_has_no_type_for_is_refused_with_a_hint(value: Any, path: str, reason: str):
    with pytest.raises(NotJson) as caught:
        converted(value)

    assert caught.value.path == path
    assert reason in caught.value.reason
    assert str(caught.value) == f"{path}: {caught.value.reason}".removeprefix(": ")


def test_model_that_cannot_dump_itself_is_refused():
    class Broken(BaseModel):
        held: Any

    with pytest.raises(NotJson, match=r"^rows.0: model_dump\(\) of Broken failed: "):
        converted({"rows": [Broken(held=Socket())]})


def test_numpy_style_numbers_get_a_hint():
    class int64:
        def tolist(self) -> int:
            return 7

    with pytest.raises(NotJson, match="use its tolist"):
        converted(int64())


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def test_depth_is_limited():
    assert converted(nested(100)) == nested(100)
    for value in (nested(101), nested(100_000)):
        with pytest.raises(NotJson, match="nested more than 100 levels deep, or within itself"):
            converted(value)


def test_scalar_may_be_at_the_deepest_level():
    assert converted([[ID]], levels=2) == [[str(ID)]]


def test_value_within_itself_is_refused():
    value: list[Any] = []
    value.append(value)

    with pytest.raises(NotJson, match="or within itself"):
        converted(value)


def test_times_without_a_zone_can_be_refused():
    assert converted({"at": NOON, "day": NOON.date()}, naive_times=False)
    with pytest.raises(NotJson, match=r"^at: a datetime needs a time zone"):
        converted({"at": datetime(2026, 11, 16)}, naive_times=False)


@given(json_values)
def test_json_value_is_not_changed(value):
    assert converted(value) == value


pythonic = st.recursive(
    st.none()
    | st.integers()
    | st.text()
    | st.floats()
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.uuids()
    | st.decimals()
    | st.binary()
    | st.complex_numbers()
    | st.sampled_from([*Color, *Size])
    | st.ip_addresses(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.uuids() | st.floats(), inner, max_size=3)
        | st.builds(Row, at=inner)
    ),
    max_leaves=8,
)


@given(pythonic)
def test_any_value_becomes_json_or_is_refused(value):
    try:
        plain = converted(value)
    except NotJson:
        return
    text = json.dumps(plain, allow_nan=False, ensure_ascii=False)
    assert text.encode()
    assert converted(plain) == plain

"""Sizes and units, compared with the examples and rules on AWS's pages."""

from typing import Any

import pytest

from bench.billing.units import Item, read_units, size_of, stored_bytes, write_units
from duetime.aws import schema

KB = 1024


def an_item(**attributes: str) -> Item:
    named = {"pk": "task#1", "sk": "task", **attributes}
    return {name: {"S": text} for name, text in named.items()}


WAKING = {schema.WAKE_BUCKET: "20261116T0907#03", schema.WAKE_KEY: "d#1#1794819600000#1"}
WATCHED = {schema.WAKE_BUCKET: "20261116T0909#03", schema.WAKE_KEY: "w#1#1794819720000#1"}
LISTED = {schema.LISTING_BUCKET: "default#20261116#03"}
DEAD = {schema.DEAD_BUCKET: "dead#03", schema.DEATH: "1794819600000#1"}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "task"}, 4),
        ({"S": "Zoë"}, 4),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "27"}, 2),
        ({"N": "-27"}, 3),
        ({"N": "461"}, 3),
        ({"N": "100"}, 2),
        ({"N": "1000"}, 2),
        ({"N": "1010"}, 3),
        ({"N": "1794819600000"}, 6),
        ({"N": "1794819600001"}, 8),
        ({"N": "0.05"}, 2),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
    ],
)
def test_the_size_of_a_value_is_as_aws_documents_it(value: Any, size: int):
    assert size_of({"é": value}) == len("é".encode()) + size


def test_the_size_of_an_unknown_type_raises():
    with pytest.raises(NotImplementedError):
        size_of({"a": {"L": []}})


@pytest.mark.parametrize(("size", "units"), [(1, 1), (KB, 1), (KB + 1, 2), (20 * KB, 20)])
def test_a_write_is_billed_by_the_larger_item(size: int, units: int):
    names = size_of(an_item(tx=""))
    long = an_item(tx="x" * max(size - names, 0))

    for before, after in [(None, long), (an_item(), long), (long, an_item()), (long, long)]:
        assert write_units(before, after) == {"table": units}


@pytest.mark.parametrize(
    ("before", "after", "index"),
    [
        (None, WAKING, {"wake": 1}),
        ({}, WAKING, {"wake": 1}),
        (WAKING, {}, {"wake": 1}),
        (WAKING, WAKING, {}),
        (WAKING, WATCHED, {"wake": 2}),
        (WAKING, WAKING | {schema.WAKE_KEY: "w#1#1"}, {"wake": 2}),
        (WAKING, WAKING | {schema.STATUS: "RUNNING"}, {}),
        ({}, {schema.WAKE_BUCKET: "half a key"}, {}),
        (None, WAKING | LISTED, {"wake": 1, "listing": 1}),
        (WAKING | LISTED, LISTED | DEAD, {"wake": 1, "dead": 1}),
    ],
)
def test_an_index_is_billed_for_entries_that_come_go_or_move(
    before: dict[str, str] | None, after: dict[str, str], index: dict[str, int]
):
    old = None if before is None else an_item(**before)

    assert write_units(old, an_item(**after)) == {"table": 1} | index


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [
        (0, False, 0.5),
        (0, True, 1),
        (4 * KB, False, 0.5),
        (4 * KB + 1, False, 1),
        (5 * KB, True, 2),
    ],
)
def test_a_read_is_billed_by_four_kilobytes(size: int, consistent: bool, units: float):
    assert read_units(size, consistent=consistent) == units


def test_storage_counts_index_entries_and_the_overhead_of_each():
    plain, listed = an_item(), an_item(**LISTED)

    assert stored_bytes([plain]) == size_of(plain) + 100
    assert stored_bytes([listed]) == 2 * (size_of(listed) + 100)

"""The payloads of the cost benchmark: of their size, and as compressible as ordinary JSON."""

import json

import pytest

from bench.billing.flows import SIZES, count_flow
from bench.billing.meter import units_written
from bench.billing.payloads import order_of, text_of
from duetime.core.packing import SMALL, pack


@pytest.mark.parametrize("size", SIZES)
def test_order_has_exactly_its_size_and_is_always_the_same(size: int):
    order = order_of(size)

    assert len(json.dumps(order, separators=(",", ":"))) == size
    assert order == order_of(size)


@pytest.mark.parametrize("size", SIZES[1:])
def test_order_shrinks_as_ordinary_json_does_and_random_text_hardly(size: int):
    order = json.dumps(order_of(size), separators=(",", ":"))

    assert size / 5 < len(pack(order, SMALL)) < size / 2
    assert len(pack(text_of(size), SMALL)) > 0.8 * size


def test_task_with_an_order_takes_fewer_write_units_than_one_with_random_text():
    ordinary, random = (
        units_written(count_flow("immediate", SIZES[-1], 2, payload_of=payload_of))
        for payload_of in (order_of, text_of)
    )

    assert (ordinary, random) == (18, 40)

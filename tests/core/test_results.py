"""Results are text, bounded in size and depth; the depth is checked without parsing."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime.core.errors import BadResult
from duetime.core.results import (
    DEPTH_LIMIT,
    READABLE_DEPTH,
    SIZE_LIMIT,
    Decoded,
    Encoded,
    decode_result,
    encode_result,
    is_deeper,
)
from tests.strategies import json_values


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def arrays(depth: int) -> str:
    return "[" * depth + "]" * depth


@given(json_values)
def test_result_reads_as_it_was_written(value):
    text = encode_result(value)

    assert decode_result(text) == Decoded(value)


@given(json_values, st.integers(0, 12))
@example(["[", '"[', "\\", '\\"{'], 1)
@example({'"[{\\': {}}, 1)
def test_depth_is_counted_without_parsing(value, levels):
    assert is_deeper(json.dumps(value), levels) == (depth_of(value) > levels)
    assert is_deeper(json.dumps(value, indent=1), levels) == (depth_of(value) > levels)


@given(st.text(alphabet='[]{}"\\:,1a\n', max_size=400))
@example('"' * 100_000)
@example('"\\' * 50_000)
def test_depth_of_any_text_is_counted(text):
    assert is_deeper(text, 0) in (True, False)


def test_none_is_no_result():
    assert encode_result(None) is None
    assert decode_result(None) == Decoded(None)


@pytest.mark.parametrize("opens", ["[", '{"a":'], ids=["arrays", "objects"])
def test_result_may_be_nested_100_deep(opens):
    closes = "]" if opens == "[" else "}"
    fits = opens * (DEPTH_LIMIT - 1) + f"{opens[0]}{closes}" + closes * (DEPTH_LIMIT - 1)

    assert encode_result(json.loads(fits)) == fits
    with pytest.raises(BadResult, match="nested more than 100 levels deep"):
        encode_result([json.loads(fits)])


def test_result_deeper_than_the_stack_is_refused():
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(BadResult):
        encode_result(value)


def test_size_of_a_result_is_counted_in_bytes():
    assert encode_result("ü" * (SIZE_LIMIT // 2 - 1)) is not None
    with pytest.raises(BadResult, match="over 64 KiB"):
        encode_result("ü" * (SIZE_LIMIT // 2))


def test_result_that_is_already_encoded_is_not_changed():
    assert encode_result(Encoded('{"a": 1}')) == '{"a": 1}'
    assert type(encode_result(Encoded("1"))) is str


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (arrays(READABLE_DEPTH + 1), "nested more than 200 levels deep"),
        (arrays(5_000), "nested more than 200 levels deep"),
        ("{", "not JSON"),
        ("", "not JSON"),
    ],
    ids=["deep", "very deep", "broken", "empty"],
)
def test_stored_text_that_cannot_be_read_has_a_note_instead_of_a_value(text, note):
    assert decode_result(text) == Decoded(None, note)


def test_stored_result_of_200_levels_is_still_read():
    assert depth_of(decode_result(arrays(READABLE_DEPTH)).value) == READABLE_DEPTH

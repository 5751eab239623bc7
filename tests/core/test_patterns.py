"""Patterns, by examples and against a naive matcher."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.patterns import MAX_DEPTH, MAX_LEAVES, check_pattern, matches
from tests.traced_lines import count_lines


def naive(pattern: dict[str, Any], value: Any) -> bool:
    """The same language, over every combination of items of the lists in the value."""
    return any(
        all(naive_key(inner, one, key) for key, inner in pattern.items()) for one in objects(value)
    )


def flat(value: Any) -> list[Any]:
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


def objects(value: Any) -> list[dict[str, Any]]:
    return [x for x in flat(value) if isinstance(x, dict)] or [{}]


def naive_key(pattern: Any, value: dict[str, Any], key: str) -> bool:
    if isinstance(pattern, dict):
        return naive(pattern, value.get(key, []))
    found = flat(value.get(key, []))
    return any(
        entry == {"exists": False} if not found else any(naive_entry(entry, x) for x in found)
        for entry in pattern
    )


def naive_entry(entry: Any, value: Any) -> bool:
    match entry:
        case {"exists": wanted}:
            return wanted
        case {"prefix": prefix}:
            return isinstance(value, str) and value[: len(prefix)] == prefix
        case {"wildcard": wildcard}:
            parts = map(re.escape, wildcard.split("*"))
            return isinstance(value, str) and re.fullmatch(".*".join(parts), value) is not None
        case {"anything-but": [*entries]}:
            return not isinstance(value, dict) and not any(naive_entry(e, value) for e in entries)
        case {"anything-but": one}:
            return not isinstance(value, dict) and not naive_entry(one, value)
        case {"numeric": [">", number]}:
            return type(value) is int and value > number
        case {"numeric": [">=", low, "<", high]}:
            return type(value) is int and low <= value < high
    return type(value) is type(entry) and value == entry


keys = st.sampled_from("ab")
texts = st.text("xy", max_size=3)
scalars = st.none() | st.booleans() | st.integers(0, 2) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=8,
)
wildcards = st.text("x*", max_size=4).filter(lambda text: "**" not in text)
operators = st.one_of(
    st.fixed_dictionaries({"exists": st.booleans()}),
    st.fixed_dictionaries({"prefix": texts}),
    st.fixed_dictionaries({"wildcard": wildcards}),
    st.fixed_dictionaries({"anything-but": scalars | st.lists(scalars, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"anything-but": st.fixed_dictionaries({"wildcard": wildcards})}),
    st.fixed_dictionaries({"numeric": st.sampled_from([[">", 0], [">=", 0, "<", 2]])}),
)
patterns = st.dictionaries(
    keys,
    st.recursive(
        st.lists(scalars | operators, min_size=1, max_size=2),
        lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=2),
        max_leaves=3,
    ),
    min_size=1,
)


@given(patterns, values)
def test_pattern_matches_what_the_naive_matcher_matches(pattern, value):
    assert check_pattern(pattern) == []
    assert matches(pattern, value) is naive(pattern, value)


@pytest.mark.parametrize(
    ("entry", "value", "expected"),
    [
        ("x", "x", True),
        ("x", ["y", "x"], True),
        ("x", ["y"], False),
        (1, 1.0, True),
        (1, True, False),
        (None, None, True),
        ({"exists": True}, None, True),
        ({"exists": True}, {"below": 1}, True),
        ({"exists": False}, [], True),
        ({"numeric": [">", 0, "<=", 5]}, 5, True),
        ({"numeric": [">", 0, "<=", 5]}, 5.1, False),
        ({"numeric": ["=", 1]}, True, False),
        ({"numeric": [">", 0]}, "7", False),
        ({"anything-but": ["a", "b"]}, "c", True),
        ({"anything-but": ["a", "b"]}, "b", False),
        ({"anything-but": {"prefix": "a"}}, "ab", False),
        ({"anything-but": "a"}, {"below": 1}, False),
        ({"wildcard": "a*b*c"}, "a-b-b-c", True),
        ({"wildcard": "a*a"}, "a", False),
        ({"wildcard": r"a\*\\*"}, r"a*\z", True),
        ({"wildcard": r"a\*"}, "ab", False),
    ],
)
def test_entry_of_a_pattern_matches(entry, value, expected):
    assert check_pattern({"a": [entry]}) == []
    assert matches({"a": [entry]}, {"a": value}) is expected


def test_missing_key_matches_nothing_but_exists_false():
    assert matches({"a": [{"exists": False}]}, {})
    assert not matches({"a": [{"anything-but": "x"}, None]}, {})


@pytest.mark.parametrize("value", [{}, {"a": None}, {"a": 1}, {"a": []}, {"a": {"c": 1}}, None])
def test_key_inside_of_what_is_no_object_is_missing(value):
    assert matches({"a": {"b": [{"exists": False}]}}, value)
    assert not matches({"a": {"b": [{"exists": True}]}}, value)


def test_pattern_asks_all_of_the_same_object_in_a_list():
    pattern = {"items": {"a": [1], "b": [2]}}
    assert matches(pattern, {"items": [{"a": 0}, {"a": 1, "b": 2}]})
    assert not matches(pattern, {"items": [{"a": 1}, {"b": 2}]})


def nested(depth: int) -> dict[str, Any]:
    pattern: Any = ["x"]
    for _ in range(depth):
        pattern = {"a": pattern}
    return pattern


@pytest.mark.parametrize(
    ("pattern", "path", "message"),
    [
        ([], "", "must be an object"),
        ({}, "", "must have at least one key"),
        ({"a": 1}, "a", "must be a list of values, or an object"),
        ({"a": []}, "a", "must have at least one value"),
        ({"a": {"b": [1, [2]]}}, "a.b.1", "must be a value or an operator, not a list"),
        ({"a": [{"suffix": "x"}]}, "a.0", "there is no operator 'suffix'"),
        ({"a": [{"prefix": "x", "exists": True}]}, "a.0", "must have one operator"),
        ({"$or": [{"a": [1]}]}, "$or", "is not supported"),
        ({"a": [{"prefix": 1}]}, "a.0", "prefix must be a string"),
        ({"a": [{"wildcard": "a**"}]}, "a.0", "wildcard must not have two * side by side"),
        ({"a": [{"wildcard": r"a\b"}]}, "a.0", r"wildcard must have \ only before * and \ "[:-1]),
        ({"a": [{"anything-but": []}]}, "a.0", "anything-but must have at least one value"),
        ({"a": [{"anything-but": {"exists": True}}]}, "a.0", "anything-but takes values"),
        ({"a": [{"numeric": [">"]}]}, "a.0", "numeric must be such as"),
        ({"a": [{"numeric": ["!", 1]}]}, "a.0", "numeric must compare with one of"),
        ({"a": [{"numeric": [">", True]}]}, "a.0", "numeric must be such as"),
        ({"a": [{"exists": 1}]}, "a.0", "exists must be true or false"),
        ({"a": [float("inf")]}, "a.0", "must hold no number beyond"),
        ({f"k{n}": [1] for n in range(MAX_LEAVES + 1)}, "", "must have at most 64 lists"),
        ({"a": ["x" * 9_000]}, "", "must be at most 8 KiB"),
        (nested(MAX_DEPTH + 1), ".".join("a" * MAX_DEPTH), "must be at most 10 objects deep"),
    ],
)
def test_wrong_pattern_is_refused_with_its_place(pattern, path, message):
    ((found, text),) = check_pattern(pattern)
    assert found == path
    assert text.startswith(message)


def test_pattern_at_its_limits_is_accepted():
    assert check_pattern(nested(MAX_DEPTH)) == []
    assert check_pattern({f"k{n}": [1] for n in range(MAX_LEAVES)}) == []


def test_stars_around_an_escaped_backslash_are_not_side_by_side():
    assert check_pattern({"a": [{"wildcard": "*\\\\*"}]}) == []


def test_wildcard_looks_for_each_of_its_parts_once():
    parts = 400
    pattern, value = {"a": [{"wildcard": "*a" * parts + "b"}]}, {"a": "a" * 2_000 + "b"}
    assert not matches(pattern, {"a": "a" * 2_000})
    assert matches(pattern, value)
    assert count_lines(lambda: matches(pattern, value)) < 20 * parts

"""The text of a definition."""

import json

import pytest
from hypothesis import given

from duetime.core.workflows.codec import decode_definition, digest_of, encode_definition
from tests.core.workflows.strategies import definition, definitions, step


@given(definitions())
def test_definition_is_the_same_after_a_round_trip(given_definition):
    text = encode_definition(given_definition)
    assert decode_definition(text) == given_definition
    assert encode_definition(decode_definition(text)) == text


def test_text_of_a_definition_has_no_defaults():
    assert json.loads(encode_definition(definition(step("a"), step("b", "a")))) == {
        "steps": [
            {"name": "a", "target": {"type": "pass"}},
            {"name": "b", "target": {"type": "pass"}, "needs": ["a"]},
        ]
    }


def test_text_of_a_definition_does_not_depend_on_the_order_of_keys():
    one = definition(step("a", payload={"x": 1, "y": 2}))
    other = definition(step("a", payload={"y": 2, "x": 1}))
    assert encode_definition(one) == encode_definition(other)


def test_digest_has_16_bytes_and_differs_with_the_text():
    assert len(bytes.fromhex(digest_of("{}"))) == 16
    assert digest_of("{}") != digest_of("{ }")


def test_number_that_json_cannot_represent_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        encode_definition(definition(step("a", payload=float("inf"))))

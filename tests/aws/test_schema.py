from importlib.resources import files

import pytest

from duetime.aws import schema

ATTRIBUTES = {
    name: value
    for name, value in vars(schema).items()
    if name.isupper() and isinstance(value, str) and len(value) == 2
}


def test_no_attribute_name_is_reserved():
    words = files("moto.dynamodb.parsing").joinpath("reserved_keywords.txt").read_text()
    reserved = {word.lower() for word in words.split()}

    assert {"status", "ttl"} <= reserved
    assert not reserved & set(ATTRIBUTES.values())


def test_every_attribute_has_a_name_of_its_own():
    assert len(ATTRIBUTES) > 20
    assert len(set(ATTRIBUTES.values())) == len(ATTRIBUTES)


@pytest.mark.parametrize("index", schema.create_table("t")["GlobalSecondaryIndexes"])
def test_an_index_holds_keys_only(index: dict):
    """Any other attribute would be written again with every step."""
    assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_the_stream_shows_both_images():
    stream = schema.create_table("t")["StreamSpecification"]
    assert stream == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}

"""What is kept of a call has no value of a secret in any usual form."""

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.secret_masks import Masks
from duetime.core.secrets import read_secret

VALUE = 'p/ss "wörd"&<7>'


def masks_of(value: str, previous: str | None = None) -> Masks:
    masks = Masks()
    fields = {"value": value, "previous": previous, "hosts": ["a.b"]}
    masks.add(read_secret("s", fields))
    return masks


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        json.dumps(VALUE),
        json.dumps(VALUE, ensure_ascii=False),
        json.dumps(VALUE).replace("/", "\\/"),
        html.escape(VALUE),
        quote(VALUE),
        quote(VALUE, safe=""),
        base64.b64encode(VALUE.encode()).decode(),
        VALUE.encode("latin-1").decode(errors="replace"),
    ],
)
def test_value_is_masked_in_every_form(form: str):
    masked = masks_of(VALUE).text(f"you sent {form}, didn't you?")

    assert masked.startswith("you sent ")
    assert "***" in masked
    assert masked.endswith("didn't you?")
    assert form.strip('"=') not in masked


@pytest.mark.parametrize(
    ("value", "echoed"),
    [
        ("Bearer abcdef123", "abcdef123"),
        ("Token  abcdef123", "abcdef123"),
        ("whsec_abcdef123", "abcdef123"),
        ("  padded-secret ", "padded-secret"),
        ("Basic " + base64.b64encode(b"ada:hunter2").decode(), "hunter2"),
        ("Basic " + base64.b64encode(b"ada:hunter2").decode(), "ada:hunter2"),
    ],
)
def test_credentials_inside_a_value_are_masked(value: str, echoed: str):
    assert masks_of(value).text(f"hello {echoed}!") == "hello ***!"


def test_both_values_of_a_rotated_secret_are_masked():
    assert masks_of("new-value", "old-value").text("new-value, old-value") == "***, ***"


def test_json_is_masked_in_texts_keys_and_numbers():
    masked = masks_of("4711471").json(
        {"a": ["x4711471", 4711471, 5, None, True], "4711471": {"b": 4711471.5}}
    )

    assert masked == {"a": ["x***", "***", 5, None, True], "***": {"b": 4711471.5}}


def test_beginning_of_a_value_at_the_end_of_a_cut_text_is_masked():
    masks = masks_of("sk_live_hunter2")

    assert masks.text("header: sk_live_hun") == "header: ***"
    assert masks.text("header: sk_") == "header: sk_"


def test_other_text_is_left_alone():
    assert masks_of("Bearer abcdef123").text("Bearer of good news") == "Bearer of good news"
    assert Masks().text("nothing to hide") == "nothing to hide"


@given(st.text(min_size=8, max_size=40), st.text(), st.text())
def test_no_text_keeps_a_value(value: str, before: str, after: str):
    masked = masks_of(value).text(before + value + after)

    assert value not in masked or value in "***"


@pytest.mark.parametrize(
    "echoed",
    [
        "https://hooks.example/services/B00/tok%2Ben?sig=abc%2Fdef&v=1",
        "/services/B00/tok%2Ben?sig=abc%2Fdef&v=1",
        "/services/B00/tok%2Ben",
        "sig=abc%2Fdef&v=1",
        "sig=abc%2Fdef",
        "abc%2Fdef",
        "abc/def",
        "tok+en",
    ],
)
def test_parts_of_a_url_are_masked_without_its_host(echoed: str):
    masks = masks_of("https://hooks.example/services/B00/tok%2Ben?sig=abc%2Fdef&v=1")

    assert masks.text(f"{echoed}, hooks.example, B00") == "***, hooks.example, B00"


def test_text_that_only_looks_like_a_url_is_masked_as_a_whole():
    assert masks_of("https://[hunter2").text("so https://[hunter2 it is") == "so *** it is"

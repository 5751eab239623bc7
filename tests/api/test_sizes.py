import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.api.http import BODY_LIMIT, NESTING_LIMIT
from duetime.core.text_sizes import ESCAPED_LIMIT, escaped_size
from tests.api.service import PYTHON, Service

escaped = st.sampled_from('"\\\n\x01')
texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), escaped))
TASK = json.dumps({"target": PYTHON}).encode()


@given(texts)
def test_size_is_that_of_the_text_as_a_json_string(text: str):
    assert escaped_size(text.encode()) == len(json.dumps(text, ensure_ascii=False).encode())


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/tasks/batch", "/v1/schedules"])
def test_body_that_is_too_large_as_a_json_string_is_a_413(service: Service, path: str):
    body = TASK + b"\n" * (ESCAPED_LIMIT // 2)
    assert len(body) < BODY_LIMIT < ESCAPED_LIMIT < escaped_size(body)

    response = service.call("POST", path, body)

    assert response.body == {
        "type": "urn:duetime:problem:too-large",
        "title": "The body is too large",
        "status": 413,
        "detail": "The limit is 5 MiB, and 6,029,312 bytes as a JSON string, in which a quote,"
        f" a backslash or a line break takes two: {escaped_size(body):,}.",
    }
    assert service.store.writes == []


def test_body_that_just_fits_as_a_json_string_is_read(service: Service):
    room = (ESCAPED_LIMIT - escaped_size(TASK)) // 2

    assert service.post(TASK + b"\n" * room).status == 201
    assert service.post(TASK + b"\n" * (room + 1)).status == 413


def nested(levels: int) -> bytes:
    payload = b"[" * levels + b"]" * levels
    return TASK[:-1] + b', "payload": ' + payload + b"}"


def test_body_that_is_nested_too_deep_says_so(service: Service):
    response = service.call("POST", "/v1/tasks", nested(NESTING_LIMIT))

    assert (response.status, response.body["title"]) == (400, "The body is nested too deep")
    assert response.body["detail"] == "At most 201 levels of objects and arrays."


def test_body_that_is_nested_as_deep_as_may_be_is_stored(service: Service):
    assert service.call("POST", "/v1/tasks", nested(NESTING_LIMIT - 1)).status == 201

"""gzip of request bodies and of answers."""

import gzip
import json
from typing import Any

import pytest

from duetime.api.http import BODY_LIMIT
from tests.api.service import PYTHON, Service, as_sent

BODY = json.dumps({"target": PYTHON, "payload": "x" * 3_000}).encode()


def post(service: Service, body: bytes, encoding: str) -> Any:
    return service.call("POST", "/v1/tasks", body, headers={"content-encoding": encoding})


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_compressed_body_is_read(service: Service, encoding: str):
    response = post(service, gzip.compress(BODY), encoding)

    assert response.status == 201
    assert response.body["payload"] == "x" * 3_000


def test_identity_is_no_compression(service: Service):
    assert post(service, BODY, "identity").status == 201


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", BODY, gzip.compress(BODY)[:-9], gzip.compress(BODY) + b"x"],
    ids=["empty", "short", "plain", "cut", "followed"],
)
def test_body_that_is_not_gzip_is_malformed(service: Service, body: bytes):
    response = post(service, body, "gzip")

    assert (response.status, response.body["title"]) == (400, "The body is not gzip")
    assert service.store.writes == []


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip"])
def test_other_encoding_is_not_supported(service: Service, encoding: str):
    response = post(service, BODY, encoding)

    assert response.status == 415
    assert response.headers["accept-encoding"] == "gzip"
    assert encoding in response.body["detail"]


def test_body_that_inflates_beyond_the_limit_is_too_large(service: Service):
    bomb = gzip.compress(b" " * (400 * BODY_LIMIT // 10), compresslevel=1)
    assert len(bomb) < BODY_LIMIT

    response = post(service, bomb, "gzip")

    assert response.status == 413
    assert service.store.writes == []


def test_body_of_the_limit_may_be_compressed(service: Service):
    body = BODY + b" " * (BODY_LIMIT - len(BODY))

    assert post(service, gzip.compress(body, compresslevel=1), "gzip").status == 201
    assert post(service, gzip.compress(body + b" ", compresslevel=1), "gzip").status == 413


def answer(service: Service, accepted: str | None, size: int = 3_000) -> Any:
    task_id = service.submit(payload="x" * size).body["id"]
    headers = {} if accepted is None else {"accept-encoding": accepted}
    return service.call("GET", f"/v1/tasks/{task_id}/payload", b"", headers=headers)


@pytest.mark.parametrize("accepted", ["gzip", "deflate, gzip;q=0.5", "br, *", "x-gzip", "GZIP;q=1"])
def test_long_answer_is_compressed(service: Service, accepted: str):
    response = answer(service, accepted)

    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["vary"] == "accept-encoding"
    assert json.loads(gzip.decompress(response.encoded())) == "x" * 3_000
    assert len(response.encoded()) < 100


@pytest.mark.parametrize(
    "accepted", [None, "", "identity", "br", "gzip;q=0", "gzip; q=0.0", "*;q=0, br"]
)
def test_answer_is_not_compressed_for_a_client_that_does_not_take_it(
    service: Service, accepted: str | None
):
    response = answer(service, accepted)

    assert "content-encoding" not in response.headers
    assert response.headers["vary"] == "accept-encoding"
    assert as_sent(response) == "x" * 3_000


def test_short_answer_is_not_compressed(service: Service):
    response = answer(service, "gzip", size=10)

    assert not {"content-encoding", "vary"} & set(response.headers)


def test_tag_of_a_task_does_not_depend_on_its_encoding(service: Service):
    task_id = service.submit(payload="x" * 3_000).body["id"]
    path = f"/v1/tasks/{task_id}"
    plain = service.get(path)
    packed = service.call("GET", path, b"", headers={"accept-encoding": "gzip"})

    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["etag"] == plain.headers["etag"]

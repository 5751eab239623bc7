"""Submissions of several clients in one write: each gets the answer that it would get alone."""

import json
from typing import Any

from duetime.api.http import Request, Response
from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from tests.api.service import PYTHON, Service

GOOD: dict[str, Any] = {"target": PYTHON}


def request_of(body: Any, **headers: str) -> Request:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {"content-type": "application/json"}
    return Request(method="POST", path="/v1/tasks", headers=kind | headers, body=raw)


REQUESTS = [
    request_of(GOOD),
    request_of(b"{"),
    request_of({"target": {"type": "python", "handler": "no.such"}}),
    request_of({**GOOD, "idempotency_key": "order-1"}),
    request_of({**GOOD, "idempotency_key": "order-1"}),
    request_of({**GOOD, "idempotency_key": "order-1", "priority": "low"}),
    request_of(GOOD, **{"content-type": "text/plain"}),
    Request(method="POST", path="/v1/tasks", query={"x": "1"}),
    request_of({**GOOD, "payload": "x" * 300_000}),
    request_of({**GOOD, "delay": 3_600}),
]


def gist(response: Response) -> tuple[int, Any, Any]:
    body = json.loads(response.encoded())
    return response.status, body.get("status"), body.get("errors")


def test_each_submission_gets_the_answer_that_it_would_get_alone(any_service: Service):
    together = any_service.api.submit_together(REQUESTS)

    statuses = [response.status for response in together]
    assert statuses == [201, 400, 422, 201, 200, 409, 415, 422, 413, 201]
    again = [any_service.api.call(request) for request in REQUESTS]
    replayed = {3, 4, 5}  # their key is used by now
    for place in set(range(len(REQUESTS))) - replayed:
        assert gist(again[place]) == gist(together[place])


def test_submissions_together_are_one_write(service: Service):
    service.api.submit_together([request_of(GOOD) for _ in range(10)])

    assert service.store.writes == ["put"]
    assert len(service.lanes.sent) == 10


def test_submission_without_an_answer_fails_alone(service: Service):
    refused = iter([None, Unknown("timed out"), None])
    service.store.put_answer = lambda task: next(refused)

    answers = service.api.submit_together([request_of(GOOD) for _ in range(3)])

    assert [answer.status for answer in answers] == [201, 503, 201]


def test_store_that_is_unavailable_is_a_503_for_each(service: Service):
    def lost(*_: Any) -> Any:
        raise Unavailable("the disk does not answer")

    service.store.reserve = lost  # type: ignore[method-assign]
    keyed = {**GOOD, "idempotency_key": "order-1"}

    answers = service.api.submit_together([request_of(GOOD), request_of(b"{"), request_of(keyed)])

    assert [answer.status for answer in answers] == [503, 400, 503]
    assert "the disk does not answer" in json.loads(answers[0].encoded())["detail"]

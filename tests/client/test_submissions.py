"""Submissions that get no answer are sent again, with the same id."""

import json
from typing import Any

import httpx
import pytest

from duetime.client import ApiError, BadArgument, Client, Unreachable, submissions
from duetime.core.ids import is_id
from tests.client.scripted_server import Script, ok

HELLO = {"type": "python", "handler": "demo.hello"}
REFUSED = httpx.ConnectError("refused")
BUSY = httpx.Response(503, json={"title": "Try again", "status": 503})
OWN = "the id of the request"


class Echo(Script):
    """Gives the id of each request back where an answer has OWN."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        answer = super().__call__(request)
        sent = json.loads(request.content)
        text = answer.text
        for task in sent.get("tasks", [sent]):
            text = text.replace(OWN, task["id"], 1) if "id" in task else text
        return httpx.Response(answer.status_code, headers=answer.headers, text=text)


def client_of(script: Script, slept: list[float] | None = None, **options: Any) -> Client:
    sleep = [].append if slept is None else slept.append
    return script.client(**{"retries": 3, "sleep": sleep, "chance": lambda: 1.0, **options})


def ids_sent(script: Script) -> list[str | None]:
    return [json.loads(request.content).get("id") for request in script.asked]


@pytest.mark.parametrize(
    "failure",
    [
        REFUSED,
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("closed"),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        httpx.Response(502, json={"message": "Bad Gateway"}),
        BUSY,
        httpx.Response(504, json={"message": "Endpoint request timed out"}),
    ],
    ids=str,
)
def test_submission_without_an_answer_is_sent_again_with_its_id(failure: Any) -> None:
    script = Echo(failure, failure, ok({"id": OWN}, 201))

    task = client_of(script).submit(target=HELLO)

    assert is_id(task["id"])
    assert ids_sent(script) == [task["id"]] * 3


def test_pause_doubles_and_is_drawn_at_random() -> None:
    slept: list[float] = []
    draws = iter([1.0, 0.5, 0.25])
    script = Script(REFUSED)

    with pytest.raises(Unreachable):
        client_of(script, slept, chance=lambda: next(draws)).submit(target=HELLO)

    assert slept == pytest.approx([0.2, 0.2, 0.2])
    assert len(script.asked) == 4


def test_pause_is_as_long_as_the_answer_asks_for() -> None:
    slept: list[float] = []
    busy = httpx.Response(503, json={"title": "Try again"}, headers={"retry-after": "7"})

    client_of(Script(busy, ok({"id": "t"}, 201)), slept).submit(target=HELLO)

    assert slept == [7.0]


@pytest.mark.parametrize("after", ["61", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_pause_of_more_than_a_minute_is_left_to_the_caller(after: str) -> None:
    slept: list[float] = []
    busy = httpx.Response(429, json={"title": "Slow"}, headers={"retry-after": after})

    with pytest.raises(ApiError):
        client_of(Script(busy), slept).submit(target=HELLO)

    assert slept == ([] if after == "61" else pytest.approx([0.2, 0.4, 0.8]))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500])
def test_submission_that_is_refused_is_not_sent_again(status: int) -> None:
    script = Script(httpx.Response(status, json={"title": "No", "status": status}))

    with pytest.raises(ApiError):
        client_of(script).submit(target=HELLO)

    assert len(script.asked) == 1


def test_submission_is_sent_once_without_retries() -> None:
    script = Script(REFUSED)

    with pytest.raises(Unreachable):
        client_of(script, retries=0).submit(target=HELLO)

    assert len(script.asked) == 1


def test_other_calls_are_sent_once() -> None:
    script = Script(REFUSED)

    with pytest.raises(Unreachable):
        client_of(script).retry("t1")

    assert len(script.asked) == 1


def test_task_that_an_earlier_try_has_stored_is_no_replay() -> None:
    script = Echo(REFUSED, ok({"id": OWN}, 200))

    assert client_of(script).submit_once(target=HELLO).replayed is False


def test_task_of_another_submission_is_a_replay() -> None:
    script = Script(ok({"id": "another"}, 200))
    unique = {"key": "k", "while": "pending"}

    assert client_of(script).submit_once(target=HELLO, unique=unique).replayed is True
    assert json.loads(script.asked[0].content)["unique"] == unique


def test_id_of_the_caller_is_sent_as_it_is() -> None:
    script = Echo(ok({"id": OWN}, 200))

    assert client_of(script).submit_once(target=HELLO, id="mine").replayed is True
    assert ids_sent(script) == ["mine"]


def test_wrong_clock_sends_the_task_without_an_id() -> None:
    problem = {"title": "Invalid", "status": 422, "errors": [{"field": "id", "message": "old"}]}
    script = Script(httpx.Response(422, json=problem), ok({"id": "t1"}, 201))

    assert client_of(script).submit(target=HELLO) == {"id": "t1"}
    assert ids_sent(script)[1] is None


def test_refused_id_of_the_caller_is_an_error() -> None:
    problem = {"title": "Invalid", "status": 422, "errors": [{"field": "id", "message": "old"}]}
    script = Script(httpx.Response(422, json=problem))

    with pytest.raises(ApiError):
        client_of(script).submit(target=HELLO, id="old")
    assert len(script.asked) == 1


def test_batch_without_an_answer_is_sent_again_with_its_ids() -> None:
    stored = [{"status": 200, "task": {"id": OWN}}, {"status": 201, "task": {"id": OWN}}]
    script = Echo(REFUSED, ok({"results": stored}))

    results = client_of(script).submit_batch([{"target": HELLO}, {"target": HELLO}])

    first, second = (json.loads(request.content)["tasks"] for request in script.asked)
    assert first == second
    assert [result["status"] for result in results] == [201, 201]


def test_tasks_of_a_batch_that_the_store_did_not_answer_for_are_sent_again() -> None:
    done = {"status": 201, "task": {"id": OWN}}
    lost = {"status": 503, "error": {"title": "Try again", "status": 503}}
    script = Echo(ok({"results": [lost, {"status": 422, "error": {}}]}), ok({"results": [done]}))

    results = client_of(script).submit_batch([{"target": HELLO}, "no task"])

    assert [result["status"] for result in results] == [201, 422]
    assert len(json.loads(script.asked[1].content)["tasks"]) == 1


def test_batch_with_a_wrong_clock_is_sent_without_ids() -> None:
    error = {"status": 422, "errors": [{"field": "id", "message": "old"}]}
    script = Script(
        ok({"results": [{"status": 422, "error": error}]}),
        ok({"results": [{"status": 201, "task": {"id": "t1"}}]}),
    )

    assert client_of(script).submit_batch([{"target": HELLO}])[0]["status"] == 201
    assert "id" not in json.loads(script.asked[1].content)["tasks"][0]


def over_quota(retry_after: int) -> dict[str, Any]:
    error = {"title": "Over the quota", "status": 429, "retry_after": retry_after}
    return {"status": 429, "error": error}


def test_task_of_a_batch_over_its_quota_is_sent_again_when_its_error_says() -> None:
    slept: list[float] = []
    stored = {"status": 201, "task": {"id": "t"}}
    first = ok({"results": [stored, over_quota(2), over_quota(3)]})

    results = client_of(Echo(first, ok({"results": [stored, stored]})), slept).submit_batch(
        [{"target": HELLO}] * 3
    )

    assert [result["status"] for result in results] == [201, 201, 201]
    assert slept == [3.0]


def test_task_of_a_batch_for_a_full_namespace_is_not_sent_again() -> None:
    slept: list[float] = []
    script = Echo(ok({"results": [over_quota(300)]}))

    [result] = client_of(script, slept).submit_batch([{"target": HELLO}])

    assert (result["status"], len(script.asked), slept) == (429, 1, [])


def test_many_tasks_are_sent_in_batches_of_a_hundred() -> None:
    script = ByName()

    results = client_of(script).submit_many(
        {"target": HELLO, "name": str(n)}
        for n in range(250)  # type: ignore[arg-type]
    )

    assert [result["task"]["id"] for result in results] == [str(n) for n in range(250)]
    assert [len(json.loads(request.content)["tasks"]) for request in script.asked] == [100, 100, 50]


def test_many_large_tasks_are_sent_in_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "BATCH_BYTES", 1_000)
    script = ByName()
    tasks: Any = [{"target": HELLO, "name": str(n), "payload": "x" * 300} for n in range(5)]

    results = client_of(script).submit_many(tasks)

    assert [result["task"]["id"] for result in results] == list("01234")
    assert [len(json.loads(request.content)["tasks"]) for request in script.asked] == [2, 2, 1]


def test_task_among_many_that_json_lacks_is_named_by_its_place() -> None:
    tasks: Any = [{"target": HELLO}, {"target": HELLO, "payload": {"raw": b"x"}}]

    with pytest.raises(BadArgument, match=r"^tasks\.1\.payload\.raw: bytes are not JSON"):
        client_of(Script(ok({}))).submit_many(tasks)


class ByName(Script):
    """Stores every task, under its name."""

    def __init__(self) -> None:
        super().__init__(ok({}))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        super().__call__(request)
        tasks = json.loads(request.content)["tasks"]
        return ok({"results": [{"status": 201, "task": {"id": task["name"]}} for task in tasks]})

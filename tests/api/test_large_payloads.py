"""Payloads over 256 KiB: accepted, kept as objects, returned by their own route."""

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from duetime.api.http import BODY_LIMIT
from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.large_texts import LARGE_LIMIT, reference_in, reference_to
from duetime.core.lifecycle import Status
from duetime.sqlite.object_store import MemoryObjectStore
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import PYTHON, Service
from tests.backends import dynamo_stores
from tests.factories import SteppedClock, a_task

LARGE = {"rows": ["n" * 1_000] * 300}
SHORT = f"[{','.join(['1e15'] * 400_000)}]"
EVENTS = {
    "type": "eventbridge",
    "bus": "arn:aws:events:eu-central-1:123456789012:event-bus/ours",
    "source": "ours",
    "detail_type": "x",
}
FORGED = "object:00112233445566778899:300000"


class Objects(MemoryObjectStore):
    fails = False

    def put(self, task_id: str, name: str, content: bytes) -> None:
        if self.fails:
            raise Unavailable("S3 is slow")
        super().put(task_id, name, content)

    @property
    def tasks(self) -> list[str]:
        return list(self._objects)


@pytest.fixture
def objects() -> Objects:
    return Objects()


@pytest.fixture(params=["sqlite", "moto"])
def roomy(request: pytest.FixtureRequest, objects: Objects) -> Iterator[Service]:
    """A service with an object store."""
    if request.param == "sqlite":
        with closing(SqliteTaskStore(None, objects=objects)) as store:
            yield Service(store, SteppedClock(), objects=objects)
        return
    with dynamo_stores(request.getfixturevalue("moto_dynamodb")) as stores:
        yield Service(stores.tasks, stores.clock, stores.schedules, objects=objects)


def test_large_payload_is_null_in_answers_and_has_its_own_route(roomy: Service):
    answer = roomy.submit(payload=LARGE)
    task_id = answer.body["id"]
    text = json.dumps(LARGE, separators=(",", ":"))

    assert answer.status == 201
    for shown in (
        answer.body,
        roomy.get(f"/v1/tasks/{task_id}").body,
        roomy.get("/v1/tasks").body["items"][0],
    ):
        assert shown["payload"] is None
        note = f"{len(text):,} bytes: GET /v1/tasks/{task_id}/payload"
        assert shown["not_shown"] == {"payload": note}
    assert roomy.get(f"/v1/tasks/{task_id}/payload").encoded() == text.encode()


def test_small_payload_makes_no_object(roomy: Service, objects: Objects):
    roomy.submit(payload="x" * (256 * 1024 - 2))

    assert objects.tasks == []


def test_payload_that_looks_like_a_reference_stays_a_payload(roomy: Service):
    for payload in (FORGED, {"payload_object": FORGED}):
        shown = roomy.submit(payload=payload).body

        assert (shown["payload"], shown["not_shown"]) == (payload, None)
        assert json.loads(roomy.get(f"/v1/tasks/{shown['id']}/payload").encoded()) == payload
    assert roomy.submit(payload_object=FORGED).status == 422


def test_large_payload_beside_other_tasks_of_a_batch(roomy: Service, objects: Objects):
    bodies = [{"target": PYTHON, "payload": payload} for payload in (1, LARGE, "x" * 300_000, 2)]
    answer = roomy.call("POST", "/v1/tasks/batch", {"tasks": bodies})

    assert [result["status"] for result in answer.body["results"]] == [201] * 4
    ids = [result["task"]["id"] for result in answer.body["results"]]
    assert objects.tasks == ids[1:3]
    found = [json.loads(roomy.get(f"/v1/tasks/{i}/payload").encoded()) for i in ids]
    assert found == [body["payload"] for body in bodies]


@pytest.mark.parametrize("unique", [None, {"key": "k"}])
def test_submission_without_its_object_is_503_and_stores_nothing(
    roomy: Service, objects: Objects, unique: Any
):
    objects.fails = True
    fields = {"idempotency_key": "once", "unique": unique}

    answer = roomy.submit(payload=LARGE, **fields)
    assert (answer.status, "S3 is slow" in answer.body["detail"]) == (503, True)
    assert roomy.get("/v1/tasks").body["items"] == []

    objects.fails = False
    again = roomy.submit(payload=LARGE, **fields)
    assert again.status == 201
    replayed = roomy.submit(payload=LARGE, **fields)
    assert (replayed.status, replayed.body["id"]) == (200, again.body["id"])
    assert roomy.submit(payload=[*LARGE["rows"]], idempotency_key="once").status == 409


def test_object_store_that_fails_leaves_small_tasks_of_a_batch_alone(
    roomy: Service, objects: Objects
):
    objects.fails = True
    bodies = [{"target": PYTHON, "payload": payload} for payload in (1, LARGE)]
    answer = roomy.call("POST", "/v1/tasks/batch", {"tasks": bodies})

    assert [result["status"] for result in answer.body["results"]] == [201, 503]


def test_task_is_stored_after_its_object(roomy: Service, objects: Objects):
    seen = []

    def note(task: Any) -> Any:
        reference = reference_in(task.spec.payload_object)
        seen.append(reference is not None and objects.get(task.id, reference.name) is not None)
        return Unknown("cut here")

    roomy.store.put_answer = note
    roomy.submit(payload=LARGE)

    assert seen == [True]


def test_change_of_a_payload_from_small_to_large_and_back(roomy: Service, objects: Objects):
    path = f"/v1/tasks/{roomy.submit(payload=1, delay=900).body['id']}"

    changed = roomy.call("PATCH", path, {"payload": LARGE})
    assert (changed.status, changed.body["payload"]) == (200, None)
    assert json.loads(roomy.get(f"{path}/payload").encoded()) == LARGE

    assert roomy.call("PATCH", path, {"priority": "low"}).body["not_shown"]
    assert json.loads(roomy.get(f"{path}/payload").encoded()) == LARGE

    small = roomy.call("PATCH", path, {"payload": 2}).body
    assert (small["payload"], small["not_shown"]) == (2, None)
    assert roomy.get(f"{path}/payload").encoded() == b"2"


def test_change_that_is_refused_stores_no_object(roomy: Service, objects: Objects):
    task = a_task(status=Status.SUCCEEDED, wake=None)
    roomy.store.put([task])
    answer = roomy.call("PATCH", f"/v1/tasks/{task.id}", {"payload": LARGE})

    assert (answer.status, objects.tasks) == (409, [])


def test_change_without_its_object_is_503(roomy: Service, objects: Objects):
    path = f"/v1/tasks/{roomy.submit(payload=1, delay=900).body['id']}"
    objects.fails = True

    assert roomy.call("PATCH", path, {"payload": LARGE}).status == 503
    assert roomy.get(path).body["payload"] == 1


@pytest.mark.parametrize(
    ("target", "payload", "reason"),
    [
        # 1e15 is stored with all its digits.
        (PYTHON, SHORT, "must be at most 5 MiB, and 5.75 MiB as a JSON string"),
        (EVENTS, LARGE, "must be at most 256 KiB; only http and python targets take more"),
    ],
    ids=["longer when stored", "target with its own limit"],
)
def test_payload_that_is_too_large_is_413_and_names_the_field(
    roomy: Service, objects: Objects, target: Any, payload: Any, reason: str
):
    text = payload if payload is SHORT else json.dumps(payload)
    body = f'{{"target": {json.dumps(target)}, "payload": {text}}}'
    answer = roomy.call("POST", "/v1/tasks", body.encode())

    assert answer.status == 413, answer.body
    assert answer.body["errors"] == [{"field": "payload", "message": reason}]
    assert (objects.tasks, roomy.get("/v1/tasks").body["items"]) == ([], [])


def test_payload_as_large_as_a_body_may_be_comes_back_plain_and_gzipped(
    roomy: Service, objects: Objects
):
    around = len(json.dumps({"target": PYTHON, "payload": ""}, separators=(",", ":")))
    payload = "x" * (BODY_LIMIT - around)
    body = json.dumps({"target": PYTHON, "payload": payload}, separators=(",", ":")).encode()
    assert len(body) == BODY_LIMIT == LARGE_LIMIT
    answer = roomy.call("POST", "/v1/tasks", body)
    assert answer.status == 201, answer.body

    path = f"/v1/tasks/{answer.body['id']}/payload"
    assert roomy.get(path).encoded() == f'"{payload}"'.encode()
    packed = roomy.call("GET", path, headers={"accept-encoding": "gzip"})
    assert gzip.decompress(packed.encoded()) == f'"{payload}"'.encode()


@pytest.mark.parametrize("part", ["payload", "result"])
def test_text_whose_object_is_lost_is_not_found(roomy: Service, objects: Objects, part: str):
    task = a_task(status=Status.SUCCEEDED, wake=None, result=str(reference_to("x" * 70_000)))
    task_id = task.id if part == "result" else roomy.submit(payload=LARGE).body["id"]
    roomy.store.put([task])
    objects.delete([task_id])
    answer = roomy.get(f"/v1/tasks/{task_id}/{part}")

    assert answer.status == 404
    assert "is missing" in answer.body["detail"]


def test_large_payload_of_a_schedule_is_refused(roomy: Service):
    task = {"target": PYTHON, "payload": LARGE}
    body = {"rule": {"type": "rate", "every": 3600}, "task": task}
    answer = roomy.call("POST", "/v1/schedules", body)

    assert (answer.status, answer.body["errors"][0]["field"]) == (413, "task.payload")

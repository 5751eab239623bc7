"""/v1/workers over HTTP: what workers send, what is refused, and that a refusal changes nothing."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import BODY_LIMIT, Request, Response
from duetime.core.lifecycle import Status
from duetime.core.results import SIZE_LIMIT
from duetime.core.shares import DEFAULT_WEIGHTS
from duetime.executor.remote_attempts import RemoteAttempts
from tests.api.service import refusal
from tests.world import World, sqlite_world

HANDLER = "shop.restock"
PYTHON = {"type": "python", "handler": HANDLER}
POOL, LONGEST = "gpu", 3_600
REQUEST = "01KA8Q9V7M3W5N4T2R6Y8Z0B1C"
LEASE = {"worker": "w1", "pool": POOL, "handlers": [HANDLER], "request": REQUEST}
LOST = "urn:duetime:problem:lease-lost"
MANY = 101


class Runner:
    """The API of a runner with a pool, in a stepped world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.workers = workers = RemoteAttempts(world.ports, world.lanes.port, DEFAULT_WEIGHTS)
        self.api = Api(
            replace(world.ports, pools={POOL: LONGEST}),
            handlers=lambda: {HANDLER},
            version="9.9.9",
            workers=workers,
            worker_calls=workers,
        )

    def post(self, path: str, body: Any, **headers: str) -> Response:
        """Bytes are sent as they are, anything else as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} | headers
        return self.api.call(Request(method="POST", path=path, headers=sent, body=data))

    def worker(self, call: str, **fields: Any) -> Response:
        return self.post(f"/v1/workers/{call}", {"worker": "w1", **fields})

    def submit(self, **fields: Any) -> str:
        answer = self.post("/v1/tasks", {"target": PYTHON, "pool": POOL, **fields})
        assert answer.status == 201, answer.body
        return str(answer.body["id"])

    def lease(self, **fields: Any) -> dict[str, str]:
        """Submits a task and leases it. Returns what names the lease."""
        task_id = self.submit(**fields)
        request = self.world.chance.new_id(self.world.clock.now())
        answer = self.worker("lease", **(LEASE | {"request": request}))
        [lease] = answer.body["leases"]
        assert lease["task"]["id"] == task_id
        return {"id": task_id, "holder": lease["holder"]}

    def outcome(self, *outcomes: Any) -> list[dict[str, Any]]:
        answer = self.worker("outcome", outcomes=outcomes)
        assert answer.status == 200, answer.body
        return list(answer.body["results"])

    def children(self, lease: dict[str, str], *tasks: Any) -> list[dict[str, Any]]:
        answer = self.worker("submit", **lease, tasks=tasks)
        assert answer.status == 200, answer.body
        return list(answer.body["results"])


@pytest.fixture
def runner() -> Iterator[Runner]:
    with sqlite_world() as world:
        yield Runner(world)


def reasons(result: dict[str, Any]) -> dict[str, str]:
    """The refused fields of an item."""
    assert result["status"] == 422, result
    return {error["field"]: error["message"] for error in result["error"].get("errors", [])}


def test_lease_has_what_a_worker_needs(runner: Runner):
    task_id = runner.submit(payload={"sku": 7}, timeout=1_200)

    answer = runner.worker("lease", **LEASE)

    assert answer.status == 200
    assert (answer.body["lease"], answer.body["renew_every"]) == (45, 10)
    [lease] = answer.body["leases"]
    assert (lease["task"]["id"], lease["attempt"]) == (task_id, 1)
    assert (lease["task"]["payload"], lease["task"]["timeout"]) == ({"sku": 7}, 1_200)
    worker, bits = lease["holder"].removeprefix("w:").split(":")
    assert (worker, len(bits)) == ("w1", 32)  # hexadecimal digits: 128 bits
    assert runner.world.task(task_id).holder == lease["holder"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"pool": "nope"}, "pool"),
        ({"pool": ""}, "pool"),
        ({"pool": None, "handlers": ["other.code"]}, "handlers.0"),
        ({"handlers": []}, "handlers"),
        ({"handlers": HANDLER}, "handlers"),
        ({"handlers": [1]}, "handlers.0"),
        ({"lanes": ["nope"]}, "lanes.0"),
        ({"lanes": ["gpu/high"]}, "lanes.0"),
        ({"lanes": []}, "lanes"),
        ({"wait": 21}, "wait"),
        ({"wait": -1}, "wait"),
        ({"wait": True}, "wait"),
        ({"max": 0}, "max"),
        ({"max": MANY}, "max"),
        ({"max": 1.5}, "max"),
        ({"request": "abc"}, "request"),
        ({"request": REQUEST.lower()}, "request"),
        ({"request": None}, "request"),
        ({"worker": "a:b"}, "worker"),
        ({"worker": ""}, "worker"),
        ({"worker": "w" * 65}, "worker"),
        ({"worker": "wörk"}, "worker"),
        ({"concurrency": 0}, "concurrency"),
        ({"color": "red"}, "color"),
    ],
)
def test_bad_call_for_leases_names_its_field_and_leases_nothing(
    runner: Runner, fields: dict[str, Any], field: str
):
    task_id = runner.submit()

    answer = runner.worker("lease", **(LEASE | fields))

    assert list(refusal(answer)) == [field]
    assert runner.world.status(task_id) is Status.ENQUEUED


@pytest.mark.parametrize("call", ["lease", "renew", "outcome", "submit"])
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff", 400),
        (json.dumps({"wait": float("nan")}).encode(), 400),
        (b"[" * 300 + b"]" * 300, 400),
        (b'"' + b"a" * BODY_LIMIT + b'"', 413),
        ([], 422),
        (None, 422),
    ],
    ids=["empty", "cut", "not_utf8", "nan", "deep", "huge", "list", "null"],
)
def test_body_that_is_none_is_refused(runner: Runner, call: str, body: Any, status: int):
    assert runner.post(f"/v1/workers/{call}", body).status == status


@pytest.mark.parametrize("call", ["lease", "renew", "outcome", "submit"])
def test_body_of_another_type_is_refused(runner: Runner, call: str):
    answer = runner.post(f"/v1/workers/{call}", {}, **{"content-type": "text/plain"})

    assert answer.status == 415


@pytest.mark.parametrize(
    ("call", "fields", "field"),
    [
        ("renew", {"leases": []}, "leases"),
        ("renew", {"leases": [{}] * MANY}, "leases"),
        ("renew", {"leases": [{}], "draining": "yes"}, "draining"),
        ("outcome", {"outcomes": []}, "outcomes"),
        ("outcome", {"outcomes": [{}] * MANY}, "outcomes"),
        ("submit", {"id": "a", "holder": "b", "tasks": [{}] * MANY}, "tasks"),
        ("submit", {"id": "a", "holder": "", "tasks": [{}]}, "holder"),
    ],
)
def test_batch_that_is_not_valid_is_refused_as_a_whole(
    runner: Runner, call: str, fields: dict[str, Any], field: str
):
    assert list(refusal(runner.worker(call, **fields))) == [field]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"outcome": "nope"}, "outcome"),
        ({"outcome": "lease_expired"}, "outcome"),
        ({"outcome": "suspended"}, "outcome"),
        ({"outcome": "succeeded", "result": "x" * SIZE_LIMIT}, "result"),
        ({"outcome": "succeeded", "result": json.loads("[" * 101 + "]" * 101)}, "result"),
        ({"outcome": "succeeded", "error": {"type": "E"}}, "error"),
        ({"outcome": "succeeded", "permanent": True}, "permanent"),
        ({"outcome": "succeeded", "started_after": -1}, "started_after"),
        ({"outcome": "succeeded", "log": "x" * 16_385}, "log"),
        ({"outcome": "failed"}, "error"),
        ({"outcome": "failed", "error": {"type": ""}}, "error.type"),
        ({"outcome": "failed", "error": {"type": "E"}, "retry_after": -1}, "retry_after"),
        ({"outcome": "failed", "error": {"type": "E"}, "result": 1}, "result"),
        ({"outcome": "failed", "error": {"type": "E"}, "limited": "a"}, "limited"),
        ({"outcome": "failed", "error": {"type": "E"}, "retry_after": 1, "delay": 1}, "delay"),
        ({"outcome": "snoozed"}, "delay"),
        ({"outcome": "snoozed", "delay": -1}, "delay"),
        ({"outcome": "snoozed", "delay": 1e12}, "delay"),
        ({"outcome": "interrupted", "delay": 1}, "delay"),
        ({"outcome": "succeeded", "color": "red"}, "color"),
    ],
)
def test_outcome_that_is_not_valid_leaves_the_attempt_as_it_is(
    runner: Runner, fields: dict[str, Any], field: str
):
    lease = runner.lease()
    before = runner.world.task(lease["id"])

    [result] = runner.outcome(lease | fields)

    assert list(reasons(result)) == [field]
    assert runner.world.task(lease["id"]) == before


def test_number_that_json_has_no_place_for_is_no_result(runner: Runner):
    lease = runner.lease()
    body = json.dumps(
        {"worker": "w1", "outcomes": [{**lease, "outcome": "succeeded", "result": 0}]}
    )

    answer = runner.post(
        "/v1/workers/outcome", body.replace('"result": 0', '"result": 1e999').encode()
    )

    assert list(reasons(answer.body["results"][0])) == ["result"]
    assert runner.world.status(lease["id"]) is Status.RUNNING


def test_task_is_cancelled_only_if_somebody_has_asked(runner: Runner):
    lease = runner.lease()
    cancelled = {**lease, "outcome": "cancelled"}
    [refused] = runner.outcome(cancelled)
    assert refused["status"] == 422
    assert "no cancel request" in refused["error"]["detail"]

    cancel = Request(method="DELETE", path=f"/v1/tasks/{lease['id']}")
    assert runner.api.call(cancel).status == 202
    [renewed] = runner.worker("renew", leases=[lease]).body["results"]
    [result] = runner.outcome(cancelled)

    assert renewed["cancel_requested"]
    assert (result["status"], result["task_status"]) == (200, "CANCELLED")


def test_lease_of_another_worker_is_lost_in_every_call(runner: Runner):
    lease = runner.lease()
    before = runner.world.task(lease["id"])
    theirs = {"worker": "w2", **lease}

    [renewed] = runner.post("/v1/workers/renew", {"worker": "w2", "leases": [lease]}).body[
        "results"
    ]
    [ended] = runner.post(
        "/v1/workers/outcome",
        {"worker": "w2", "outcomes": [{**lease, "outcome": "succeeded"}]},
    ).body["results"]
    children = runner.post("/v1/workers/submit", {**theirs, "tasks": [{"target": PYTHON}]})

    assert (renewed["error"]["type"], ended["error"]["type"]) == (LOST, LOST)
    assert (children.status, children.body["type"]) == (409, LOST)
    assert runner.world.task(lease["id"]) == before


def test_items_are_answered_in_order_and_one_that_is_refused_affects_no_other(runner: Runner):
    first, last = runner.lease(), runner.lease()
    made_up = {"id": first["id"], "holder": "w:w1:0"}
    outcomes = [{**first, "outcome": "succeeded"}, 7, {**made_up, "outcome": "succeeded"}]

    results = runner.outcome(*outcomes, {**last, "outcome": "succeeded", "result": [1]})

    assert [result["status"] for result in results] == [200, 422, 409, 200]
    assert [result["id"] for result in results] == [first["id"], None, first["id"], last["id"]]
    assert runner.world.status(last["id"]) is Status.SUCCEEDED


def test_child_is_stored_once_and_belongs_to_its_parent(runner: Runner):
    lease = runner.lease()
    child = {"target": PYTHON, "pool": POOL, "step": "mail"}

    [first] = runner.children(lease, child)
    [again] = runner.children(lease, child)

    assert (first["status"], again["status"]) == (201, 200)
    assert first["task"]["id"] == again["task"]["id"]
    assert runner.world.task(first["task"]["id"]).spec.parent_id == lease["id"]


def test_equal_children_of_one_call_are_several_and_an_ordinal_names_each(runner: Runner):
    lease = runner.lease()
    child = {"target": PYTHON, "pool": POOL}

    one, two = runner.children(lease, child, child)
    [second] = runner.children(lease, {**child, "ordinal": 1})

    assert one["task"]["id"] != two["task"]["id"] == second["task"]["id"]


@pytest.mark.parametrize(
    ("child", "field"),
    [
        (7, "body"),
        ({}, "target"),
        ({"target": PYTHON, "id": REQUEST}, "id"),
        ({"target": PYTHON, "unique": {"key": "a"}}, "unique"),
        ({"target": PYTHON, "step": ""}, "step"),
        ({"target": PYTHON, "step": "s" * 257}, "step"),
        ({"target": PYTHON, "step": 1}, "step"),
        ({"target": PYTHON, "ordinal": -1}, "ordinal"),
        ({"target": PYTHON, "ordinal": True}, "ordinal"),
        ({"target": PYTHON, "pool": "nope"}, "pool"),
        ({"target": PYTHON, "pool": POOL, "timeout": LONGEST + 1}, "timeout"),
        ({"target": {"type": "python", "handler": "other.code"}}, "target.handler"),
    ],
)
def test_child_that_is_not_valid_is_refused(runner: Runner, child: Any, field: str):
    lease = runner.lease()

    [result] = runner.children(lease, child)

    assert list(reasons(result)) == [field]


def test_task_may_not_run_for_longer_than_its_pool_allows(runner: Runner):
    body = {"target": PYTHON, "pool": POOL, "timeout": LONGEST + 1}

    assert refusal(runner.post("/v1/tasks", body)) == {
        "timeout": "must be at most 3600 seconds in pool gpu"
    }


def test_deployed_api_has_no_such_calls(runner: Runner):
    api = Api(runner.world.ports, handlers=lambda: {HANDLER}, version="9.9.9")
    for call in ("lease", "renew", "outcome", "submit"):
        request = Request(method="POST", path=f"/v1/workers/{call}", body=b"{}")
        assert api.call(request).status == 404

"""/v1/limits, and the limits that tasks and schedules name."""

from typing import Any

import pytest

from duetime.api import limits as resource
from duetime.core.limits.definition import LimitUse, OnDead, OnFull
from duetime.core.limits.ports import RECENT
from duetime.core.task import ORDERING_KEY
from duetime.core.times import SECOND, rfc3339
from tests.api.service import NOON, PYTHON, Service, as_sent, refusal
from tests.factories import a_spec, a_task

RATE = {"count": 5, "period": 1, "burst": 2}


def put(service: Service, name: str = "stripe", *, namespace: str = "", **fields: Any) -> Any:
    query = {"namespace": namespace} if namespace else {}
    response = service.call("PUT", f"/v1/limits/{name}", fields, query=query)
    assert response.status == 200, response.body
    return as_sent(response)


def delete(service: Service, name: str = "stripe", **query: str) -> int:
    return service.call("DELETE", f"/v1/limits/{name}", b"", query=query).status


@pytest.fixture
def in_use(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the limits that tasks hold or wait for."""
    names: list[str] = []
    monkeypatch.setattr(resource, "is_used", lambda ports, limit: limit.name in names)
    return names


# put, get, list, delete


def test_limit_is_returned_with_every_field(any_service: Service):
    limit = put(any_service, rate=RATE, concurrency=3)

    now = rfc3339(any_service.clock.now())
    assert limit == {
        "name": "stripe",
        "namespace": "default",
        "rate": {"count": 5, "period": 1.0, "burst": 2},
        "concurrency": 3,
        "draining": False,
        "created_at": now,
        "updated_at": now,
        "key": None,
        "holding": limit["holding"],
        "waiting": limit["waiting"],
        "next_slot": limit["next_slot"],
    }
    assert as_sent(any_service.get("/v1/limits/stripe")) == limit
    assert any_service.get("/v1/limits/stripe", key="acct-7").body["key"] == "acct-7"


def test_limit_that_is_put_again_is_replaced(any_service: Service):
    first = put(any_service, rate=RATE, concurrency=3)
    any_service.clock.advance(SECOND)
    second = put(any_service, concurrency=1)

    assert (second["rate"], second["concurrency"]) == (None, 1)
    assert second["created_at"] == first["created_at"] < second["updated_at"]


def test_limits_of_namespaces_are_apart(any_service: Service):
    put(any_service, concurrency=1)
    put(any_service, namespace="shop", concurrency=2)

    shop = any_service.get("/v1/limits/stripe", namespace="shop").body
    assert (shop["namespace"], shop["concurrency"]) == ("shop", 2)
    assert delete(any_service, namespace="shop") == 204
    assert any_service.get("/v1/limits/stripe", namespace="shop").status == 404
    assert any_service.get("/v1/limits/stripe").body["concurrency"] == 1


def test_limits_are_listed_page_by_page(any_service: Service):
    for name, namespace in [("b", "default"), ("a", "default"), ("c", "shop")]:
        put(any_service, name, namespace=namespace, concurrency=1)

    def names(**query: str) -> list[str]:
        return [item["name"] for item in any_service.get("/v1/limits", **query).body["items"]]

    assert names() == ["a", "b"]
    assert names(namespace="shop") == ["c"]
    assert names(namespace="*") == ["a", "b", "c"]
    first = any_service.get("/v1/limits", namespace="*", limit="2").body
    assert names(namespace="*", limit="2", cursor=first["next_cursor"]) == ["c"]
    assert refusal(any_service.get("/v1/limits", cursor="x")) == {
        "cursor": "not a cursor of this list"
    }


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({}, "body", "give rate, concurrency, or both"),
        ({"rate": None, "concurrency": None}, "body", "give rate"),
        ({"rate": {"count": 0, "period": 1}}, "rate.count", "at least 1"),
        ({"rate": {"count": 1.5, "period": 1}}, "rate.count", "a whole number"),
        ({"rate": {"count": 100_001, "period": 1}}, "rate.count", "at most 100000"),
        ({"rate": {"count": 1}}, "rate.period", "required"),
        ({"rate": {"count": 1, "period": 0}}, "rate.period", "at least 1"),
        ({"rate": {"count": 1, "period": 2_678_401}}, "rate.period", "at most 2678400"),
        ({"rate": {"count": 1, "period": 1, "burst": -1}}, "rate.burst", "at least 0"),
        ({"rate": 5}, "rate", "must be an object"),
        ({"concurrency": 0}, "concurrency", "at least 1"),
        ({"concurrency": 101}, "concurrency", "at most 100"),
        ({"concurrency": True}, "concurrency", "a whole number"),
        ({"concurrency": 1, "limit": 2}, "limit", "unknown field"),
    ],
)
def test_bad_limit_is_refused_with_its_field(service: Service, body: Any, field: str, reason: str):
    found = refusal(service.call("PUT", "/v1/limits/stripe", body))

    assert list(found) == [field]
    assert reason in found[field]
    assert service.get("/v1/limits").body["items"] == []


@pytest.mark.parametrize("name", ["a:b", "n" * 65, "a%20b", "ä"])
@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
def test_name_of_a_limit_has_only_certain_characters(service: Service, name: str, method: str):
    body = {"concurrency": 1} if method == "PUT" else b""
    found = refusal(service.call(method, f"/v1/limits/{name}", body))

    assert found == {"name": "must be 1 to 64 letters, digits and ._- only"}


def test_bad_parameters_are_refused(service: Service):
    put(service, concurrency=1)

    assert "key" in refusal(service.get("/v1/limits/stripe", key="a b"))
    assert "namespace" in refusal(service.get("/v1/limits", namespace="a b"))
    assert "drain" in refusal(service.call("DELETE", "/v1/limits/stripe", query={"drain": "1"}))
    assert "drain" in refusal(service.get("/v1/limits/stripe", drain="true"))
    assert delete(service, "none") == 404


def test_limit_in_use_is_not_deleted(service: Service, in_use: list[str]):
    put(service, concurrency=1)
    in_use.append("stripe")

    response = service.call("DELETE", "/v1/limits/stripe", b"")

    assert response.status == 409
    assert response.body["type"] == "urn:duetime:problem:state-conflict"
    assert "?drain=true" in response.body["detail"]
    assert service.get("/v1/limits/stripe").body["draining"] is False


def test_drained_limit_takes_no_new_tasks_and_goes_when_it_is_not_in_use(
    any_service: Service, in_use: list[str]
):
    put(any_service, concurrency=1)
    in_use.append("stripe")

    assert delete(any_service, drain="true") == 204
    assert any_service.get("/v1/limits/stripe").body["draining"] is True
    found = refusal(any_service.submit(limits=[{"name": "stripe"}]))
    assert found == {"limits.0.name": "limit 'stripe' is being deleted: no new task may name it"}

    in_use.clear()
    assert any_service.get("/v1/limits").body["items"] == []
    assert any_service.ports.limits.get("default", ["stripe"]) == {}


def test_drained_limit_is_not_found_once_it_is_not_in_use(service: Service, in_use: list[str]):
    put(service, concurrency=1)
    in_use.append("stripe")
    delete(service, drain="true")

    in_use.clear()
    assert service.get("/v1/limits/stripe").status == 404


def test_limit_that_is_put_again_while_it_drains_stays(service: Service, in_use: list[str]):
    put(service, concurrency=1)
    in_use.append("stripe")
    delete(service, drain="true")

    assert put(service, concurrency=1)["draining"] is False
    assert service.submit(limits=[{"name": "stripe"}]).status == 201


def test_drain_deletes_a_limit_that_is_not_in_use_at_once(service: Service, in_use: list[str]):
    put(service, concurrency=1)

    assert delete(service, drain="true") == 204
    assert service.get("/v1/limits/stripe").status == 404


# tasks


def test_task_keeps_its_limits(any_service: Service):
    put(any_service, "rate", rate=RATE)
    put(any_service, "slots", concurrency=1)
    uses = [{"name": "rate"}, {"name": "slots", "key": "acct-7", "on_full": "cancel"}]
    order = {"ordering_key": "o", "on_dead": "block"}

    response = any_service.submit(limits=uses, fairness_key="tenant-7", **order)

    body = as_sent(response)
    assert response.status == 201
    assert body["limits"] == [
        {"name": "rate", "key": None, "on_full": "queue"},
        {"name": "slots", "key": "acct-7", "on_full": "cancel"},
    ]
    assert (body["fairness_key"], body["on_dead"]) == ("tenant-7", "block")
    assert as_sent(any_service.get(f"/v1/tasks/{body['id']}")) == body
    [stored] = any_service.stored()
    assert stored.spec.limits == (
        LimitUse(name="rate"),
        LimitUse(name="slots", key="acct-7", on_full=OnFull.CANCEL),
    )
    assert (stored.spec.fairness_key, stored.spec.on_dead) == ("tenant-7", OnDead.BLOCK)


def test_unknown_limit_is_refused_with_a_suggestion(any_service: Service):
    put(any_service, concurrency=1)
    put(any_service, "stripes", namespace="shop", concurrency=1)

    found = refusal(any_service.submit(limits=[{"name": "strpe"}], idempotency_key="k"))

    assert found == {
        "limits.0.name": "there is no limit 'strpe' in namespace 'default'; did you mean 'stripe'?"
        " known: stripe"
    }
    assert any_service.stored() == []
    # Nothing is stored: the key is free for the corrected request.
    assert any_service.submit(limits=[{"name": "stripe"}], idempotency_key="k").status == 201


def test_task_can_only_name_limits_of_its_own_namespace(any_service: Service):
    put(any_service, namespace="shop", concurrency=1)

    assert any_service.submit(limits=[{"name": "stripe"}], namespace="shop").status == 201
    assert "limits.0.name" in refusal(any_service.submit(limits=[{"name": "stripe"}]))


@pytest.mark.parametrize(
    ("uses", "field", "reason"),
    [
        ([{"name": "rate"}, {"name": "rate"}], "limits.1.name", "has a rate, as limits.0 has"),
        ([{"name": "both"}, {"name": "slots"}], "limits.1.name", "has a concurrency"),
        ([{"name": "rate", "on_full": "cancel"}], "limits.0.on_full", "'rate' has none"),
    ],
)
def test_limits_that_do_not_go_together_are_refused(
    service: Service, uses: Any, field: str, reason: str
):
    put(service, "rate", rate=RATE)
    put(service, "slots", concurrency=1)
    put(service, "both", rate=RATE, concurrency=1)

    found = refusal(service.submit(limits=uses))

    assert list(found) == [field]
    assert reason in found[field]
    assert service.stored() == []


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"limits": [{"name": "a"}] * 3}, "limits", "at most 2 entries"),
        ({"limits": [{"name": "a:b"}]}, "limits.0.name", "letters, digits and ._- only"),
        ({"limits": [{"key": "a"}]}, "limits.0.name", "required"),
        ({"limits": [{"name": "a", "key": "k" * 129}]}, "limits.0.key", "at most 128"),
        ({"limits": [{"name": "a", "on_full": "wait"}]}, "limits.0.on_full", "'queue', 'skip'"),
        ({"fairness_key": ""}, "fairness_key", "must not be empty"),
        ({"fairness_key": "k" * 129}, "fairness_key", "at most 128 characters"),
        ({"ordering_key": "k" * 129}, "ordering_key", "at most 128 characters"),
        ({"on_dead": "block"}, "on_dead", "goes with an ordering_key"),
        ({"ordering_key": "o", "on_dead": "stop"}, "on_dead", "'continue' or 'block'"),
    ],
)
def test_bad_field_of_a_task_is_refused(service: Service, fields: Any, field: str, reason: str):
    found = refusal(service.submit(**fields))

    assert list(found) == [field]
    assert reason in found[field]


class Counted:
    """A store of limits whose reads are counted."""

    def __init__(self, limits: Any) -> None:
        self._limits = limits
        self.reads: list[tuple[str, list[str]]] = []

    def recent(self, namespace: str, names: Any) -> Any:
        self.reads.append((namespace, list(names)))
        return self._limits.recent(namespace, names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._limits, name)


@pytest.fixture
def counted(service: Service) -> Counted:
    counted = Counted(service.ports.limits)
    object.__setattr__(service.ports, "limits", counted)
    return counted


def test_batch_reads_the_limits_of_a_namespace_once(service: Service, counted: Counted):
    put(service, "a", rate=RATE)
    put(service, "b", concurrency=1)
    put(service, "c", namespace="shop", concurrency=1)

    def a_task(*names: str, **fields: Any) -> Any:
        return {"target": PYTHON, "limits": [{"name": name} for name in names], **fields}

    shop = {"namespace": "shop"}
    response = service.batch(
        a_task("a"), a_task("a", "b"), a_task(), a_task("c"), a_task("c", **shop), a_task("b")
    )

    statuses = [result["status"] for result in response.body["results"]]
    assert statuses == [201, 201, 201, 422, 201, 201]
    assert counted.reads == [("default", ["a", "b", "c"]), ("shop", ["c"])]
    assert len(service.stored()) == 4


def test_task_without_limits_reads_none(service: Service, counted: Counted):
    assert service.submit(fairness_key="f", ordering_key="o").status == 201
    assert counted.reads == []


def test_new_limit_can_be_named_at_once(any_service: Service):
    assert any_service.submit(limits=[{"name": "stripe"}]).status == 422
    put(any_service, concurrency=1)
    assert any_service.submit(limits=[{"name": "stripe"}]).status == 201


def test_deleted_limit_is_refused_within_5_seconds(any_service: Service):
    put(any_service, concurrency=1)
    any_service.submit(limits=[{"name": "stripe"}])
    delete(any_service)

    any_service.clock.advance(RECENT)
    assert any_service.submit(limits=[{"name": "stripe"}]).status == 422


def test_task_shows_what_it_waits_for(service: Service):
    uses = (LimitUse(name="rate"), LimitUse(name="stripe", key="acct-7"))
    spec = a_spec(limits=uses, ordering_key="o")
    held, ordered, keyless = (a_task(spec=spec, held=held) for held in (1, ORDERING_KEY, 0))
    service.store.put([held, ordered, keyless])

    def waits_for(task_id: str) -> Any:
        return service.get(f"/v1/tasks/{task_id}").body["waiting_for"]

    assert waits_for(held.id) == {"limit": "stripe", "key": "acct-7"}
    assert waits_for(ordered.id) == {"ordering_key": "o"}
    assert waits_for(keyless.id) == {"limit": "rate", "key": None}
    service.call("DELETE", f"/v1/tasks/{held.id}", b"")
    assert waits_for(held.id) is None


# changes


def a_stored(service: Service, **fields: Any) -> str:
    body: dict[str, Any] = service.submit(delay=3_600, **fields).body
    return str(body["id"])


def change(service: Service, task_id: str, **fields: Any) -> Any:
    return service.call("PATCH", f"/v1/tasks/{task_id}", fields)


def test_limits_of_a_waiting_task_can_be_changed(any_service: Service):
    put(any_service, concurrency=1)
    task_id = a_stored(any_service, ordering_key="o")
    fields = {"limits": [{"name": "stripe"}], "fairness_key": "f", "on_dead": "block"}

    changed = change(any_service, task_id, **fields).body
    assert changed["limits"] == [{"name": "stripe", "key": None, "on_full": "queue"}]
    assert (changed["fairness_key"], changed["on_dead"]) == ("f", "block")
    assert change(any_service, task_id, tags={"a": "b"}).body["limits"] == changed["limits"]

    removed = change(any_service, task_id, limits=[], fairness_key=None).body
    assert (removed["limits"], removed["fairness_key"]) == ([], None)


def test_change_to_bad_limits_is_refused(service: Service):
    put(service, "rate", rate=RATE)
    task_id = a_stored(service)

    assert "limits.0.name" in refusal(change(service, task_id, limits=[{"name": "none"}]))
    cancel = {"name": "rate", "on_full": "cancel"}
    assert "limits.0.on_full" in refusal(change(service, task_id, limits=[cancel]))
    assert "on_dead" in refusal(change(service, task_id, on_dead="block"))
    assert service.stored()[0].spec.limits == ()


def test_limits_of_a_task_that_waits_for_its_place_cannot_be_changed(service: Service):
    put(service, concurrency=1)
    held = a_task(spec=a_spec(limits=(LimitUse(name="stripe"),)), held=0)
    service.store.put([held])

    response = change(service, held.id, limits=[])

    assert response.status == 409
    assert "waits for its place" in response.body["detail"]


# schedules


def test_runs_of_a_schedule_are_under_its_limits(any_service: Service):
    put(any_service, concurrency=1)
    task = {"target": PYTHON, "limits": [{"name": "stripe", "key": "k"}], "fairness_key": "f"}

    made = any_service.schedule(task=task)
    run = any_service.on(made.body["id"], "trigger")

    template = made.body["task"]
    assert template["limits"] == [{"name": "stripe", "key": "k", "on_full": "queue"}]
    assert (template["fairness_key"], template["on_dead"]) == ("f", None)
    assert run.status == 201
    assert run.body["limits"] == template["limits"]
    path = f"/v1/schedules/{made.body['id']}"
    again = any_service.call("PUT", path, {"rule": NOON, "task": template})
    assert again.status == 200, again.body


def test_schedule_with_an_unknown_limit_is_refused(any_service: Service):
    task = {"target": PYTHON, "limits": [{"name": "stripe"}]}

    found = refusal(any_service.schedule(task=task))

    assert list(found) == ["task.limits.0.name"]
    assert "there is no limit 'stripe'" in found["task.limits.0.name"]
    assert any_service.get("/v1/schedules").body["items"] == []


@pytest.mark.parametrize("overlap", ["skip", "queue", "cancel"])
def test_ordered_schedule_may_not_overlap(service: Service, overlap: str):
    task = {"target": PYTHON, "ordering_key": "o"}

    found = refusal(service.schedule(task=task, overlap="allow"))
    assert list(found) == ["overlap"]
    assert "ordering_key" in found["overlap"]

    made = service.schedule(task=task, overlap=overlap)
    assert made.status == 201
    now = service.clock.now()
    span = {"from": rfc3339(now - 86_400_000), "to": rfc3339(now), "overlap": "allow"}
    assert list(refusal(service.on(made.body["id"], "backfill", span))) == ["overlap"]

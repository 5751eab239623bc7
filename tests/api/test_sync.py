"""Schedules that an app declares in code, stored by a sync: every rule about conflicts."""

from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Response
from duetime.core.schedules.apps import App, Apps
from duetime.core.times import DAY, MINUTE, rfc3339
from tests.api.service import EVERY_MINUTE, HANDLER, NOON, PYTHON, Service, as_sent, refusal
from tests.factories import NOW

OTHER_HANDLER = "orders.sync"
SYNC = "/v1/schedules/sync"


def declared(name: str = "daily", source: str = "reports.py:14", **fields: Any) -> dict[str, Any]:
    return {"name": name, "rule": NOON, "task": {"target": PYTHON}, "source": source, **fields}


def take(service: Service, app: str = "shop") -> int:
    response = service.call("POST", f"{SYNC}/generations", {"app": app})
    assert response.status == 201
    return int(response.body["generation"])


def sync(service: Service, *schedules: Any, app: str = "shop", **options: Any) -> Response:
    """Takes a generation, unless one is given."""
    if "generation" not in options and not options.get("dry_run"):
        options["generation"] = take(service, app)
    body = {"app": app, "schedules": list(schedules), **options}
    return service.call("POST", SYNC, body)


def actions(response: Response) -> list[tuple[str, str]]:
    assert response.status == 200, response.body
    return [(step["action"], step["name"]) for step in response.body["schedules"]]


def notes(response: Response) -> list[str | None]:
    return [step["note"] for step in response.body["schedules"]]


def stored(service: Service, response: Response, place: int = 0) -> Any:
    path = f"/v1/schedules/{response.body['schedules'][place]['id']}"
    return as_sent(service.call("GET", path))


def test_absent_schedule_is_created_with_its_origin(any_service: Service):
    response = sync(any_service, declared())

    assert actions(response) == [("create", "daily")]
    found = stored(any_service, response)
    assert (found["origin"], found["app"], found["source"]) == ("code", "shop", "reports.py:14")
    assert (found["status"], found["name"]) == ("active", "daily")
    assert [s["id"] for s in any_service.call("GET", "/v1/schedules").body["items"]] == [
        found["id"]
    ]


def test_same_declaration_is_not_written_again(any_service: Service):
    before = stored(any_service, sync(any_service, declared(rule=EVERY_MINUTE)))
    any_service.clock.advance(MINUTE)
    any_service.store.writes.clear()

    again = sync(any_service, declared(rule=EVERY_MINUTE))

    assert actions(again) == [("same", "daily")]
    assert any_service.store.writes == []
    assert stored(any_service, again)["version"] == before["version"]
    assert stored(any_service, again)["updated_at"] == before["updated_at"]


def test_declaration_that_moved_keeps_its_version(any_service: Service):
    before = stored(any_service, sync(any_service, declared()))

    moved = sync(any_service, declared(source="reports.py:20"))

    assert actions(moved) == [("same", "daily")]
    after = stored(any_service, moved)
    assert (after["source"], after["version"]) == ("reports.py:20", before["version"])


def test_other_declaration_changes_the_schedule(any_service: Service):
    before = stored(any_service, sync(any_service, declared()))

    changed = sync(any_service, declared(overlap="queue"))

    assert actions(changed) == [("change", "daily")]
    after = stored(any_service, changed)
    assert (after["overlap"], after["id"]) == ("queue", before["id"])
    assert after["version"] == before["version"] + 1


def test_persons_pause_survives_a_change(any_service: Service):
    path = f"/v1/schedules/{stored(any_service, sync(any_service, declared()))['id']}"
    any_service.call("POST", f"{path}/pause", {"note": "holidays"})

    changed = sync(any_service, declared(overlap="queue"))

    assert changed.body["schedules"][0]["note"] == "paused, and stays paused"
    after = stored(any_service, changed)
    assert (after["overlap"], after["status"], after["note"]) == ("queue", "paused", "holidays")


def test_pausing_resuming_and_triggering_a_declared_schedule_is_allowed(any_service: Service):
    path = f"/v1/schedules/{stored(any_service, sync(any_service, declared()))['id']}"

    statuses = [
        any_service.call("POST", f"{path}/{verb}", b"").status
        for verb in ("pause", "resume", "trigger")
    ]

    assert statuses == [200, 200, 201]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_declared_schedule_is_not_edited_by_request(any_service: Service, method: str):
    found = stored(any_service, sync(any_service, declared()))
    body = {"rule": NOON, "task": {"target": PYTHON}}

    response = any_service.call(method, f"/v1/schedules/{found['id']}", body)

    assert response.status == 409
    assert "declared at reports.py:14 by app shop" in response.body["detail"]
    assert as_sent(any_service.call("GET", f"/v1/schedules/{found['id']}")) == found


def test_detached_schedule_is_an_ordinary_one(any_service: Service):
    before = stored(any_service, sync(any_service, declared()))
    path = f"/v1/schedules/{before['id']}"

    detached = as_sent(any_service.call("POST", f"{path}/detach", b""))

    assert (detached["origin"], detached["app"], detached["source"]) == ("api", None, None)
    assert detached["version"] == before["version"]
    assert any_service.call("POST", f"{path}/detach", b"").status == 200
    left = sync(any_service, declared(overlap="queue"))
    assert actions(left) == [("detached", "daily")]
    assert "delete it" in left.body["schedules"][0]["note"]
    assert stored(any_service, left)["overlap"] == "skip"
    assert any_service.call("DELETE", path).status == 204
    assert actions(sync(any_service, declared())) == [("create", "daily")]


def test_schedule_that_left_the_code_is_paused_once(any_service: Service):
    first = sync(any_service, declared(), declared("other"))
    path = f"/v1/schedules/{first.body['schedules'][0]['id']}"

    removed = sync(any_service, declared("other"))

    assert actions(removed) == [("same", "other"), ("removed", "daily")]
    found = as_sent(any_service.call("GET", path))
    assert (found["status"], found["note"]) == (
        "paused",
        "no longer in the code since generation 2",
    )
    assert notes(removed) == [None, None]
    assert notes(sync(any_service, declared("other"))) == [None, "paused by an earlier sync"]
    any_service.call("POST", f"{path}/resume", b"")
    resumed = sync(any_service, declared("other"))
    assert actions(resumed)[1:] == [("removed", "daily")]
    assert notes(resumed) == [None, "resumed by hand, and stays active"]
    assert as_sent(any_service.call("GET", path))["status"] == "active"


@pytest.mark.parametrize("fields", [{}, {"overlap": "queue"}], ids=["same", "other"])
def test_schedule_that_returns_to_the_code_is_active_again(any_service: Service, fields: Any):
    first = sync(any_service, declared(), declared("other"))
    path = f"/v1/schedules/{first.body['schedules'][0]['id']}"
    sync(any_service, declared("other"))

    back = sync(any_service, declared(**fields), declared("other"))

    assert actions(back)[0] == ("change", "daily")
    found = as_sent(any_service.call("GET", path))
    assert (found["status"], found["note"]) == ("active", None)
    assert found["next_fire_at"] is not None
    assert actions(sync(any_service, declared(**fields), declared("other")))[0][0] == "same"


def test_pause_of_a_person_survives_removal_and_return(any_service: Service):
    first = sync(any_service, declared(), declared("other"))
    path = f"/v1/schedules/{first.body['schedules'][0]['id']}"
    any_service.call("POST", f"{path}/pause", {"note": "holidays"})
    sync(any_service, declared("other"))

    sync(any_service, declared(), declared("other"))

    found = as_sent(any_service.call("GET", path))
    assert (found["status"], found["note"]) == ("paused", "holidays")


def test_prune_deletes_what_left_the_code(any_service: Service):
    first = sync(any_service, declared(rule=EVERY_MINUTE), declared("other"))
    path = f"/v1/schedules/{first.body['schedules'][0]['id']}"

    pruned = sync(any_service, declared("other"), prune=True)

    assert actions(pruned) == [("same", "other"), ("pruned", "daily")]
    assert any_service.call("GET", path).status == 404
    runs = any_service.call("GET", "/v1/tasks").body["items"]
    assert {run["status"] for run in runs} == {"CANCELLED"}
    assert actions(sync(any_service, declared("other"))) == [("same", "other")]


def test_schedule_by_hand_with_the_same_name_is_reported(any_service: Service):
    by_hand = any_service.call("POST", "/v1/schedules", {**without_source(), "name": "daily"}).body

    response = sync(any_service, declared())

    assert actions(response) == [("create", "daily")]
    note = f"schedule {by_hand['id']} has the same name and is not from code"
    assert response.body["schedules"][0]["note"] == note
    assert len(any_service.call("GET", "/v1/schedules").body["items"]) == 2


def test_schedules_of_two_handlers_with_one_name_are_both_stored_and_reported(
    any_service: Service,
):
    handlers = {HANDLER, OTHER_HANDLER}
    any_service.api = Api(any_service.ports, handlers=lambda: handlers, version="9.9.9")
    other = {"target": {**PYTHON, "handler": OTHER_HANDLER}}

    response = sync(any_service, declared(), declared(source="jobs.py:3", task=other))

    assert actions(response) == [("create", "daily"), ("create", "daily")]
    assert notes(response) == [
        f"handler {OTHER_HANDLER} has a schedule of the same name at jobs.py:3",
        f"handler {HANDLER} has a schedule of the same name at reports.py:14",
    ]


@pytest.mark.parametrize("pause", [True, False])
def test_removed_schedule_that_this_sync_did_not_pause_says_why(service: Service, pause: bool):
    first = sync(service, declared(rule=EVERY_MINUTE, max_runs=1), declared("other"))
    if pause:
        path = f"/v1/schedules/{first.body['schedules'][0]['id']}"
        service.call("POST", f"{path}/pause", {"note": "holidays"})
    else:
        service.clock.advance(2 * DAY)

    removed = sync(service, declared("other"))

    assert notes(removed) == [None, "paused, and stays paused" if pause else "finished"]


def test_app_that_has_never_synced_cannot_be_retired(any_service: Service):
    sync(any_service, declared())
    take(any_service, "nosuch")

    refused = sync(any_service, app="nosuch", retire=True, dry_run=True)

    assert refused.status == 404
    detail = "There is no app 'nosuch' that has declared schedules; known: shop."
    assert refused.body["detail"] == detail
    assert sync(any_service, app="nosuch", retire=True).status == 404
    assert any_service.schedules.apps().get("nosuch").current == 0
    assert actions(sync(any_service, retire=True)) == [("removed", "daily")]


def test_retired_app_has_no_schedules(service: Service):
    refused = sync(service, declared(), retire=True)

    assert refusal(refused) == {"retire": "must be false for a sync with schedules"}


def without_source() -> dict[str, Any]:
    return {name: value for name, value in declared().items() if name != "source"}


def test_empty_manifest_is_refused_unless_it_is_allowed(any_service: Service):
    path = f"/v1/schedules/{stored(any_service, sync(any_service, declared()))['id']}"

    refused = sync(any_service)

    assert refused.status == 409
    assert refused.body["detail"].startswith("App shop declares no schedule, and has 1 from code.")
    assert as_sent(any_service.call("GET", path))["status"] == "active"
    assert actions(sync(any_service, allow_empty=True)) == [("removed", "daily")]
    assert as_sent(any_service.call("GET", path))["status"] == "paused"
    assert actions(sync(any_service)) == [("removed", "daily")]


def test_app_without_schedules_may_sync_none(any_service: Service):
    assert actions(sync(any_service)) == []


def test_lower_generation_is_refused_after_a_higher_one(any_service: Service):
    old, new = take(any_service), take(any_service)
    kept = stored(any_service, sync(any_service, declared(), generation=new))

    refused = sync(any_service, declared(overlap="queue"), generation=old)

    assert refused.status == 409
    assert f"generation {old} of app 'shop' is not the current one" in refused.body["detail"]
    assert sync(any_service, declared("new"), generation=old).status == 409
    assert len(any_service.call("GET", "/v1/schedules").body["items"]) == 1
    assert as_sent(any_service.call("GET", f"/v1/schedules/{kept['id']}")) == kept


def test_rollback_takes_a_higher_generation_and_wins(any_service: Service):
    sync(any_service, declared())
    sync(any_service, declared(overlap="queue"))

    rolled_back = sync(any_service, declared())

    assert actions(rolled_back) == [("change", "daily")]
    assert stored(any_service, rolled_back)["overlap"] == "skip"


def test_generation_can_be_repeated_but_not_with_other_schedules(any_service: Service):
    generation = take(any_service)
    sync(any_service, declared(), generation=generation)

    again = sync(any_service, declared(), generation=generation)
    other = sync(any_service, declared("other"), generation=generation)

    assert actions(again) == [("same", "daily")]
    assert other.status == 409
    assert "has synced other schedules" in other.body["detail"]


def test_generation_that_was_never_taken_is_refused(any_service: Service):
    refused = sync(any_service, declared(), generation=7)

    assert refused.status == 409
    assert refused.body["detail"] == "The generation 7 of app 'shop' was never taken."


def test_second_app_cannot_claim_a_handler(any_service: Service):
    sync(any_service, declared())

    refused = sync(any_service, declared("mine", "jobs.py:3"), app="office")

    assert refused.status == 409
    detail = (
        f"The handler '{HANDLER}' is declared by app 'shop' at reports.py:14,"
        " and by app 'office' at jobs.py:3."
    )
    assert refused.body["detail"] == detail
    assert len(any_service.call("GET", "/v1/schedules").body["items"]) == 1
    sync(any_service, allow_empty=True)
    assert actions(sync(any_service, declared(), app="office")) == [("create", "daily")]


def test_dry_run_stores_nothing_and_needs_no_generation(any_service: Service):
    sync(any_service, declared(), declared("other"))
    any_service.store.writes.clear()

    plan = sync(any_service, declared(overlap="queue"), declared("new"), dry_run=True, prune=True)

    expected = [("change", "daily"), ("create", "new"), ("pruned", "other")]
    assert actions(plan) == expected
    assert (plan.body["dry_run"], plan.body["generation"]) == (True, 2)
    assert any_service.store.writes == []
    assert take(any_service) == 2


def test_removed_schedule_with_an_end_that_has_passed_stays_as_it_is(any_service: Service):
    over = declared(ends_at=rfc3339(NOW + DAY))
    sync(any_service, over)
    any_service.clock.advance(2 * DAY)

    assert actions(sync(any_service, over)) == [("same", "daily")]


ELSEWHERE = {"target": {"type": "http", "url": "https://example.com"}}
UNKNOWN = {"target": {"type": "python", "handler": "nope"}}
BAD_CRON = {"type": "cron", "expression": "0 99 * * *"}


@pytest.mark.parametrize(
    ("schedule", "field", "message"),
    [
        (declared(colour="red"), "colour", "reports.py:14: unknown field"),
        (declared(rule=BAD_CRON), "rule.expression", "reports.py:14: "),
        (declared(task=ELSEWHERE), "task.target", "reports.py:14: must be a python target"),
        (declared(task=UNKNOWN), "task.target.handler", "reports.py:14: "),
        (declared(name=""), "name", "reports.py:14: must not be empty"),
        ({**declared(), "source": 7}, "source", "must be a string"),
        (declared(task={"target": PYTHON, "namespace": 7}), "task.namespace", "reports.py:14: "),
        (declared(overlap="never"), "overlap", "reports.py:14: must be"),
    ],
)
def test_bad_declaration_names_its_place_and_stores_nothing(
    service: Service, schedule: Any, field: str, message: str
):
    response = sync(service, schedule, declared("fine"))

    assert response.status == 422
    [error] = response.body["errors"]
    assert error["field"] == f"schedules.0.{field}"
    assert error["message"].startswith(message)
    assert service.call("GET", "/v1/schedules").body["items"] == []
    assert not service.schedules.apps().get("shop").handlers


def test_two_schedules_of_one_name_are_refused_with_both_places(service: Service):
    response = sync(service, declared(), declared(source="other.py:2"))

    assert refusal(response) == {
        "schedules.1.name": f"handler '{HANDLER}' has two schedules of the name 'daily':"
        " reports.py:14 and other.py:2"
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"schedules": []}, "app"),
        ({"app": "a b", "schedules": []}, "app"),
        ({"app": "shop"}, "schedules"),
        ({"app": "shop", "schedules": []}, "generation"),
        ({"app": "shop", "schedules": [], "generation": 0}, "generation"),
        ({"app": "shop", "schedules": [], "generation": 1, "colour": 1}, "colour"),
        ({"app": "shop", "schedules": [7], "generation": 1}, "schedules.0"),
    ],
)
def test_bad_sync_names_its_field(service: Service, body: Any, field: str):
    response = service.call("POST", SYNC, body)

    assert response.status == 422
    assert [error["field"] for error in response.body["errors"]] == [field]


def test_schedule_that_has_ended_may_return_to_the_code(any_service: Service):
    ended = declared(ends_at=rfc3339(NOW + 2 * DAY))
    sync(any_service, ended, declared("other"))
    any_service.clock.advance(3 * DAY)
    sync(any_service, declared("other"))

    rolled_back = sync(any_service, ended, declared("other"))

    assert actions(rolled_back) == [("change", "daily"), ("same", "other")]
    assert stored(any_service, rolled_back)["status"] == "finished"


def test_more_schedules_than_the_apps_have_room_for_are_refused(any_service: Service):
    handlers = {f"{'h' * 100}{n}": f"{'s' * 200}:1" for n in range(1_140)}
    other = App(taken=1, current=1, handlers=handlers)
    assert any_service.schedules.put_apps(Apps().with_app("other", other))
    many = [declared(str(n)) for n in range(200)]

    response = sync(any_service, *many)

    assert (response.status, response.body["title"]) == (413, "The apps declare too many schedules")
    assert any_service.call("GET", "/v1/schedules").body["items"] == []

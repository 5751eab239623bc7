"""Change, delete, pause and resume: one write each, also with concurrent writes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duetime.api.callers import Caller
from duetime.api.http import Request
from duetime.core.change import Refused, Unknown
from duetime.core.errors import Unavailable
from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.ports import ScheduleAnswer
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import MINUTE, rfc3339
from tests.api.service import EVERY_MINUTE, NOON, PYTHON, Service, refusal
from tests.factories import NOW

BODY: dict[str, Any] = {"rule": NOON, "task": {"target": PYTHON}}


def put(service: Service, schedule_id: str, **fields: Any) -> Any:
    return service.call("PUT", f"/v1/schedules/{schedule_id}", {**BODY, **fields})


def stored_schedule(service: Service, schedule_id: str) -> Schedule:
    return service.schedules.get([schedule_id])[schedule_id]


def write(service: Service, schedule_id: str, **sets: Any) -> None:
    """As the scanner or a run of it would."""
    schedule = stored_schedule(service, schedule_id)
    service.schedules.put([replace(schedule, revision=schedule.revision + 1, **sets)])
    service.store.writes.clear()


def runs(service: Service, schedule_id: str) -> dict[str, tuple[str, str | None]]:
    """Returns the status and the reason of each task, by fire time."""
    tasks = service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    return {task["scheduled_for"]: (task["status"], task["reason"]) for task in tasks}


def overtaken(service: Service, times: int, **sets: Any) -> None:
    """Writes between the read and the write of the API, so many times."""
    left = [times]

    def answer(ours: Schedule) -> ScheduleAnswer | None:
        if left[0] == 0:
            return None
        left[0] -= 1
        service.schedules.put_answer = lambda schedule: None
        write(service, ours.id, **sets)
        service.schedules.put_answer = answer
        return None

    service.schedules.put_answer = answer


# Change


def test_a_change_replaces_the_whole_plan(any_service: Service):
    created = any_service.schedule(name="a", max_runs=3, jitter=5).body
    any_service.clock.advance(MINUTE)

    response = put(any_service, created["id"], name="b", overlap="allow")

    assert response.status == 200
    now = rfc3339(NOW + MINUTE)
    expected = created | {
        "name": "b",
        "max_runs": None,
        "jitter": 0.0,
        "overlap": "allow",
        "version": 2,
        "updated_at": now,
    }
    assert response.body == expected
    assert any_service.get(f"/v1/schedules/{created['id']}").body == expected


def test_change_cancels_unstarted_runs_and_puts_those_due_soon(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    rule = {"type": "cron", "expression": "3 * * * *"}

    response = put(any_service, schedule_id, rule=rule)

    at = {n: rfc3339(NOW + n * MINUTE) for n in range(1, 5)}
    tasks = any_service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    assert sorted((t["scheduled_for"], t["status"], t["reason"]) for t in tasks) == [
        (at[1], "CANCELLED", "changed"),
        (at[2], "CANCELLED", "changed"),
        (at[3], "CANCELLED", "changed"),
        (at[3], "ENQUEUED", None),
        (at[4], "CANCELLED", "changed"),
    ]
    assert response.body["next_fire_at"] == at[3]


def test_rate_without_an_anchor_keeps_its_fire_times_after_a_change(service: Service):
    schedule_id = service.schedule(rule={"type": "rate", "every": 600}).body["id"]
    service.clock.advance(MINUTE)

    body = put(service, schedule_id, rule={"type": "rate", "every": 600}).body

    assert (body["rule"]["anchor"], body["next_fire_at"]) == (
        rfc3339(NOW),
        rfc3339(NOW + 10 * MINUTE),
    )


def test_changed_schedule_that_was_paused_stays_paused(service: Service):
    schedule_id = service.schedule().body["id"]
    service.on(schedule_id, "pause", {"note": "why"})

    body = put(service, schedule_id, name="b").body

    assert (body["status"], body["note"], body["name"]) == ("paused", "why", "b")


def test_changed_schedule_that_was_finished_starts_again(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE, max_runs=1).body["id"]
    assert service.get(f"/v1/schedules/{schedule_id}").body["status"] == "active"
    service.clock.advance(MINUTE)
    assert service.get(f"/v1/schedules/{schedule_id}").body["status"] == "finished"

    body = put(service, schedule_id).body

    assert (body["status"], body["runs"]) == ("active", 1)


def test_refused_change_changes_nothing(any_service: Service):
    created = any_service.schedule(rule=EVERY_MINUTE).body
    any_service.store.writes.clear()
    bad = {"type": "cron", "expression": "61 * * * *"}

    assert refusal(put(any_service, created["id"], rule=bad)).keys() == {"rule.expression"}
    assert any_service.store.writes == []
    assert any_service.get(f"/v1/schedules/{created['id']}").body == created


def test_max_runs_counts_the_runs_so_far(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE).body["id"]
    service.clock.advance(4 * MINUTE)

    assert refusal(put(service, schedule_id, max_runs=4)) == {
        "max_runs": "must be more than the 4 runs so far"
    }
    assert put(service, schedule_id, max_runs=5).status == 200


def test_namespace_cannot_be_changed(service: Service):
    schedule_id = service.schedule().body["id"]

    said = refusal(put(service, schedule_id, task={"target": PYTHON, "namespace": "b"}))

    assert said == {
        "task.namespace": "must stay 'default'; create a new schedule for another namespace"
    }


def test_change_is_repeated_over_a_concurrent_write(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    overtaken(any_service, 2, active="01M7HSBBM00000000000000ZZZ")

    response = put(any_service, schedule_id, name="b")

    assert (response.status, response.body["name"]) == (200, "b")
    assert stored_schedule(any_service, schedule_id).active == "01M7HSBBM00000000000000ZZZ"
    assert stored_schedule(any_service, schedule_id).plan.name == "b"


def test_change_that_loses_every_race_is_a_503(service: Service):
    schedule_id = service.schedule().body["id"]
    overtaken(service, 5, active="x")

    assert put(service, schedule_id, name="b").status == 503
    assert stored_schedule(service, schedule_id).plan.name is None


@pytest.mark.parametrize(
    ("answer", "status"),
    [(Refused(None), 404), (Unknown("throttled"), 503)],
)
@pytest.mark.parametrize("call", [put, lambda s, i: s.on(i, "pause")], ids=["change", "pause"])
def test_change_maps_the_answers_of_the_store(
    service: Service, answer: Any, status: int, call: Callable[..., Any]
):
    schedule_id = service.schedule().body["id"]
    service.schedules.put_answer = lambda schedule: answer

    assert call(service, schedule_id).status == status


def test_stored_change_succeeds_even_if_its_runs_cannot_be_updated(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE).body["id"]
    service.clock.advance(10 * MINUTE)
    service.schedules.fail("ledger", Unavailable("gone"))

    assert put(service, schedule_id, name="b").status == 200
    assert stored_schedule(service, schedule_id).plan.name == "b"


# Delete


def test_delete_cancels_unstarted_runs(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]

    response = any_service.call("DELETE", f"/v1/schedules/{schedule_id}", b"")

    assert (response.status, response.encoded(), response.headers) == (204, b"", {})
    assert any_service.get(f"/v1/schedules/{schedule_id}").status == 404
    assert any_service.get("/v1/schedules").body["items"] == []
    assert set(runs(any_service, schedule_id).values()) == {("CANCELLED", "deleted")}
    assert any_service.call("DELETE", f"/v1/schedules/{schedule_id}", b"").status == 404


def test_a_schedule_is_deleted_even_if_its_runs_cannot_be_found(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE).body["id"]
    service.schedules.fail("ledger", Unavailable("gone"))

    assert service.call("DELETE", f"/v1/schedules/{schedule_id}", b"").status == 204
    assert service.get(f"/v1/schedules/{schedule_id}").status == 404


# Pause, resume


def test_pause_cancels_unstarted_runs(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]

    response = any_service.on(schedule_id, "pause", {"note": "a long weekend"})

    body = response.body
    assert (response.status, body["status"], body["note"]) == (200, "paused", "a long weekend")
    assert (body["next_fire_at"], body["version"]) == (None, 2)
    assert set(runs(any_service, schedule_id).values()) == {("CANCELLED", "paused")}
    assert any_service.get(f"/v1/schedules/{schedule_id}").body == body


def test_pause_of_a_paused_schedule_changes_only_the_note(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    first = any_service.on(schedule_id, "pause", {"note": "a"}).body
    any_service.store.writes.clear()

    assert any_service.on(schedule_id, "pause").body == first
    assert any_service.on(schedule_id, "pause", {"note": "a"}).body == first
    assert any_service.store.writes == []
    assert any_service.on(schedule_id, "pause", {"note": "b"}).body == first | {"note": "b"}


def test_paused_schedule_says_since_when_and_by_whom_until_it_is_resumed(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    name = f"arn:aws:iam::1:user/{'a' * 300}"
    path = f"/v1/schedules/{schedule_id}/pause"
    caller = Caller(actor=name)
    any_service.api.call(Request(method="POST", path=path, body=b"", caller=caller))
    any_service.clock.advance(MINUTE)

    paused = any_service.on(schedule_id, "pause", {"note": "why"}).body
    changed = put(any_service, schedule_id, rule=EVERY_MINUTE).body
    resumed = any_service.on(schedule_id, "resume").body

    by = name[:256]
    assert (paused["paused_at"], paused["paused_by"]) == (rfc3339(NOW), by)
    assert (changed["paused_at"], changed["paused_by"]) == (rfc3339(NOW), by)
    assert (resumed["paused_at"], resumed["paused_by"]) == (None, None)


def test_resumed_schedule_fires_from_now_on(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    any_service.on(schedule_id, "pause", {"note": "a"})
    any_service.clock.advance(10 * MINUTE)

    response = any_service.on(schedule_id, "resume", {"note": "back"})

    body = response.body
    assert (response.status, body["status"], body["note"]) == (200, "active", "back")
    assert body["next_fire_at"] == rfc3339(NOW + 11 * MINUTE)
    assert runs(any_service, schedule_id)[body["next_fire_at"]] == ("ENQUEUED", None)


def test_resume_of_an_active_schedule_changes_nothing(any_service: Service):
    created = any_service.schedule().body
    any_service.store.writes.clear()

    response = any_service.on(created["id"], "resume", {"note": "x"})

    assert (response.status, response.body) == (200, created)
    assert any_service.store.writes == []


@pytest.mark.parametrize(("call", "word"), [("pause", "paused"), ("resume", "resumed")])
def test_pause_or_resume_of_a_finished_schedule_is_a_409(
    any_service: Service, call: str, word: str
):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE, max_runs=1).body["id"]
    any_service.clock.advance(MINUTE)

    response = any_service.on(schedule_id, call)

    assert (response.status, response.body["type"]) == (409, "urn:duetime:problem:state-conflict")
    assert f"{schedule_id} is finished and cannot be {word}" in response.body["detail"]


def test_schedule_whose_rule_cannot_be_evaluated_is_not_resumed(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    schedule_id = service.schedule().body["id"]
    write(service, schedule_id, status=ScheduleStatus.BROKEN, last_error="no such zone")

    def first(plan: Any, at: Any) -> None:
        raise BadRule("timezone", "'Mars' is not a time zone")

    monkeypatch.setattr("duetime.core.schedules.changes.first", first)
    response = service.on(schedule_id, "resume")

    assert response.status == 409
    assert "cannot be evaluated; change it first. timezone: 'Mars'" in response.body["detail"]


def test_broken_schedule_is_resumed_once_its_rule_can_be_evaluated(service: Service):
    schedule_id = service.schedule().body["id"]
    write(service, schedule_id, status=ScheduleStatus.BROKEN, last_error="no such zone")

    body = service.on(schedule_id, "resume").body

    assert (body["status"], body["last_error"]) == ("active", None)


@pytest.mark.parametrize("call", ["pause", "resume"])
@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"note": "x" * 257}, {"note": "must have at most 256 characters"}),
        ({"note": 1}, {"note": "must be a string"}),
        ({"x": 1}, {"x": "unknown field"}),
        ([], {"body": "must be an object"}),
    ],
    ids=str,
)
def test_any_other_body_is_refused(service: Service, call: str, body: Any, errors: dict[str, str]):
    schedule_id = service.schedule().body["id"]
    service.store.writes.clear()

    assert refusal(service.on(schedule_id, call, body)) == errors
    assert service.store.writes == []


@pytest.mark.parametrize("body", [b"", b" \n", b"{}", b'{"note": null}'], ids=repr)
def test_pause_needs_no_note(service: Service, body: bytes):
    schedule_id = service.schedule().body["id"]

    assert service.on(schedule_id, "pause", body).body["note"] is None
    assert service.on(schedule_id, "resume", body).body["status"] == "active"


def test_last_run_can_be_paused_until_its_fire_time(any_service: Service):
    """The last run is a task already and no fire time is left, but it has not run yet."""
    schedule_id = any_service.schedule(rule=EVERY_MINUTE, max_runs=1).body["id"]
    assert any_service.on(schedule_id, "resume").body["status"] == "active"

    paused = any_service.on(schedule_id, "pause").body
    resumed = any_service.on(schedule_id, "resume").body

    assert (paused["status"], paused["runs"]) == ("paused", 0)
    assert (resumed["status"], resumed["next_fire_at"]) == ("active", rfc3339(NOW + MINUTE))
    tasks = any_service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    assert sorted(task["status"] for task in tasks) == ["CANCELLED", "ENQUEUED"]

"""Runs outside the ordinary course: trigger and backfill."""

from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, rfc3339
from tests.api.service import EVERY_MINUTE, PYTHON, Service, refusal
from tests.factories import NOW


def fill(service: Service, schedule_id: str, begin: int, end: int, **fields: Any) -> Any:
    body = {"from": rfc3339(begin), "to": rfc3339(end), **fields}
    return service.on(schedule_id, "backfill", body)


# Trigger


@pytest.mark.parametrize("paused", [False, True])
def test_a_trigger_is_one_run_now(any_service: Service, paused: bool):
    task = {"target": PYTHON, "payload": "{{scheduled_for}}", "tags": {"a": "{{schedule.id}}"}}
    schedule = any_service.schedule(name="n", task=task).body
    if paused:
        any_service.on(schedule["id"], "pause")

    response = any_service.on(schedule["id"], "trigger")

    run = response.body
    assert response.status == 201
    assert response.headers["location"] == f"/v1/tasks/{run['id']}"
    assert (run["schedule_id"], run["scheduled_for"]) == (schedule["id"], rfc3339(NOW))
    assert (run["payload"], run["tags"]) == (rfc3339(NOW), {"a": schedule["id"]})
    assert (run["status"], run["due_at"]) == ("ENQUEUED", rfc3339(NOW))
    [stored] = any_service.stored()
    assert stored.spec.occurrence is not None
    assert (stored.spec.occurrence.version, stored.spec.occurrence.overlap) == (None, "skip")
    assert [d.task_id for d in any_service.lanes.sent] == [run["id"]]
    assert any_service.get(f"/v1/schedules/{schedule['id']}").body["runs"] == 0


def test_every_trigger_is_another_run(service: Service):
    schedule_id = service.schedule().body["id"]

    runs = [service.on(schedule_id, "trigger") for _ in range(2)]

    assert len({run.body["id"] for run in runs}) == 2


def test_trigger_with_a_repeated_key_makes_one_run(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    key = {"idempotency-key": "k"}

    first = any_service.on(schedule_id, "trigger", **key)
    any_service.clock.advance(SECOND)
    second = any_service.on(schedule_id, "trigger", **key)

    assert (first.status, second.status) == (201, 200)
    assert first.body == second.body
    other = any_service.schedule(name="other").body["id"]
    assert any_service.on(other, "trigger", **key).status == 409


def test_a_bad_key_or_body_is_refused(service: Service):
    schedule_id = service.schedule().body["id"]

    said = refusal(service.on(schedule_id, "trigger", **{"idempotency-key": "a b"}))
    assert said.keys() == {"Idempotency-Key"}
    assert refusal(service.on(schedule_id, "trigger", {"x": 1})) == {"x": "unknown field"}


def test_a_trigger_without_an_answer_is_a_503(service: Service):
    schedule_id = service.schedule().body["id"]
    service.store.put_answer = lambda task: Unknown("throttled")

    assert service.on(schedule_id, "trigger").status == 503


def test_trigger_has_no_jitter(service: Service):
    service.dice.luck = 0.9
    schedule_id = service.schedule(jitter=600).body["id"]

    assert service.on(schedule_id, "trigger").body["due_at"] == rfc3339(NOW)


# Backfill


def test_backfill_runs_the_fire_times_of_the_rule(any_service: Service):
    schedule_id = any_service.schedule(rule={"type": "cron", "expression": "0 * * * *"}).body["id"]

    response = fill(any_service, schedule_id, NOW - 3 * HOUR, NOW, per_minute=30, overlap="allow")

    assert (response.status, response.body) == (202, {"fire_times": 3})
    tasks = any_service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    assert [(t["scheduled_for"], t["run_at"]) for t in tasks[::-1]] == [
        (rfc3339(NOW - 3 * HOUR), rfc3339(NOW)),
        (rfc3339(NOW - 2 * HOUR), rfc3339(NOW + 2 * SECOND)),
        (rfc3339(NOW - 1 * HOUR), rfc3339(NOW + 4 * SECOND)),
    ]
    assert any_service.get(f"/v1/schedules/{schedule_id}").body["runs"] == 0


@pytest.mark.parametrize(("given", "overlap"), [({}, "queue"), ({"overlap": "allow"}, "allow")])
def test_backfill_has_its_own_overlap_policy_or_that_of_the_schedule(
    service: Service, given: dict[str, str], overlap: str
):
    schedule_id = service.schedule(overlap="queue").body["id"]

    fill(service, schedule_id, NOW - DAY, NOW, **given)

    [task] = service.stored()
    assert task.spec.occurrence is not None
    assert task.spec.occurrence.overlap == overlap


def test_backfill_of_a_span_without_fire_times_changes_nothing(service: Service):
    schedule_id = service.schedule().body["id"]
    service.store.writes.clear()

    assert fill(service, schedule_id, NOW - HOUR, NOW).body == {"fire_times": 0}
    assert service.store.writes == []


def test_a_backfill_stays_within_the_bounds_of_its_schedule(service: Service):
    bounds = {"starts_at": rfc3339(NOW - 10 * MINUTE)}
    schedule_id = service.schedule(rule=EVERY_MINUTE, **bounds).body["id"]

    assert fill(service, schedule_id, NOW - HOUR, NOW).body == {"fire_times": 10}


@pytest.mark.parametrize("status", ["paused", "finished"])
def test_paused_or_finished_schedule_can_be_backfilled(service: Service, status: str):
    schedule_id = service.schedule(rule=EVERY_MINUTE, max_runs=1).body["id"]
    if status == "paused":
        schedule_id = service.schedule().body["id"]
        service.on(schedule_id, "pause")
    service.clock.advance(MINUTE)

    assert fill(service, schedule_id, NOW - DAY, NOW).status == 202
    assert service.get(f"/v1/schedules/{schedule_id}").body["status"] == status


def test_backfill_of_more_than_ten_thousand_fire_times_is_refused(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE).body["id"]
    until = NOW - 5 * MINUTE

    assert fill(service, schedule_id, until - 10_000 * MINUTE, until).body["fire_times"] == 10_000
    for minutes, number in ((10_001, "10,001"), (20_000, "20,000"), (20_001, "more than 20,000")):
        said = refusal(fill(service, schedule_id, until - minutes * MINUTE, until))
        assert said == {"to": f"the span has {number} fire times; a backfill takes at most 10,000"}


def test_eleventh_backfill_in_progress_is_refused(service: Service):
    schedule_id = service.schedule(rule=EVERY_MINUTE).body["id"]
    for _ in range(10):
        assert fill(service, schedule_id, NOW - HOUR, NOW, per_minute=1).status == 202

    response = fill(service, schedule_id, NOW - HOUR, NOW)

    assert (response.status, response.body["title"]) == (409, "Too many backfills")


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"from": "required", "to": "required"}),
        ({"from": "2026-11-16T08:00:00Z"}, {"to": "required"}),
        (
            {"from": "2026-11-16T08:00:00Z", "to": "2026-11-16T08:00:00Z"},
            {"to": "must be after from"},
        ),
        (
            {"from": "2026-11-16T08:00:00Z", "to": "2026-11-16T09:00:00.001Z"},
            {"to": "must not be in the future: the schedule itself runs those fire times"},
        ),
        (
            {"from": "x", "to": "2026-11-16T09:00:00Z"},
            {"from": "must be an RFC 3339 time such as 2026-11-16T09:00:00+01:00"},
        ),
    ],
    ids=str,
)
def test_bad_span_of_a_backfill_is_refused(service: Service, body: Any, errors: dict[str, str]):
    schedule_id = service.schedule().body["id"]
    service.store.writes.clear()

    assert refusal(service.on(schedule_id, "backfill", body)) == errors
    assert service.store.writes == []


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"overlap": "x"}, {"overlap": "must be 'allow', 'skip', 'queue' or 'cancel'"}),
        ({"per_minute": 0.5}, {"per_minute": "must be at least 1"}),
        ({"per_minute": 6_001}, {"per_minute": "must be at most 6000"}),
        ({"until": None}, {"until": "unknown field"}),
    ],
    ids=str,
)
def test_bad_field_of_a_backfill_is_refused(
    service: Service, fields: dict[str, Any], errors: dict[str, str]
):
    schedule_id = service.schedule().body["id"]

    assert refusal(fill(service, schedule_id, NOW - DAY, NOW, **fields)) == errors


def test_delay_cannot_be_backfilled(service: Service):
    schedule_id = service.schedule(rule={"type": "delay", "delay": 600}).body["id"]

    said = refusal(fill(service, schedule_id, NOW - DAY, NOW))

    assert said == {"rule": "a rule of type delay has no fire times in the past"}


def test_a_rate_is_backfilled_beyond_the_time_when_it_was_created(service: Service):
    schedule_id = service.schedule(rule={"type": "rate", "every": 600}, overlap="allow").body["id"]
    service.clock.advance(MINUTE)

    span = {"from": rfc3339(NOW - HOUR), "to": rfc3339(NOW - 1_000), "per_minute": 6_000}
    assert service.on(schedule_id, "backfill", span).body == {"fire_times": 6}

    tasks = service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    times = [rfc3339(NOW - n * 10 * MINUTE) for n in range(1, 7)]
    assert [task["scheduled_for"] for task in tasks] == times

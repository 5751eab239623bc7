"""Upcoming, preview, ledger."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.lifecycle import Outcome, Status
from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.task import Attempt, Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis, rfc3339
from tests.api.service import EVERY_MINUTE, NOON, PYTHON, Service, refusal
from tests.factories import NOW, a_recurrence, a_task, an_id

BERLIN = {"type": "cron", "expression": "30 2 * * *", "timezone": "Europe/Berlin"}


def preview(service: Service, **fields: Any) -> Any:
    return service.call("POST", "/v1/schedules/preview", fields)


# Upcoming


def test_upcoming_has_fire_times_with_and_without_a_task(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]

    response = any_service.get(f"/v1/schedules/{schedule_id}/upcoming")

    times = [rfc3339(NOW + n * MINUTE) for n in range(1, 11)]
    assert (response.status, response.body) == (200, {"fire_times": times, "daylight_saving": []})


@pytest.mark.parametrize("count", [1, 100])
def test_upcoming_returns_as_many_as_count(service: Service, count: int):
    schedule_id = service.schedule().body["id"]

    body = service.get(f"/v1/schedules/{schedule_id}/upcoming", count=str(count)).body

    assert len(body["fire_times"]) == count


@pytest.mark.parametrize("count", ["0", "101", "x", "-1"])
def test_a_bad_count_is_refused(service: Service, count: str):
    schedule_id = service.schedule().body["id"]
    path = f"/v1/schedules/{schedule_id}/upcoming"

    assert refusal(service.get(path, count=count)).keys() == {"count"}


def test_upcoming_has_notes_on_daylight_saving(service: Service):
    schedule_id = service.schedule(rule=BERLIN, starts_at="2027-03-27T00:00:00Z").body["id"]

    body = service.get(f"/v1/schedules/{schedule_id}/upcoming", count="2").body

    assert body == {
        "fire_times": ["2027-03-27T01:30:00.000Z", "2027-03-28T01:00:00.000Z"],
        "daylight_saving": [
            {
                "at": "2027-03-28T01:00:00.000Z",
                "kind": "shifted",
                "note": "02:30 does not exist in Europe/Berlin on 2027-03-28; runs at 03:00",
            }
        ],
    }


def test_paused_schedule_has_no_upcoming_fire_times(service: Service):
    schedule_id = service.schedule().body["id"]
    service.on(schedule_id, "pause")

    body = service.get(f"/v1/schedules/{schedule_id}/upcoming").body

    assert body == {"fire_times": [], "daylight_saving": []}


def test_upcoming_of_a_rule_that_cannot_be_evaluated_is_a_409(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    schedule_id = service.schedule().body["id"]

    def gone(*_: Any) -> None:
        raise BadRule("timezone", "'Mars' is not a time zone")

    monkeypatch.setattr("duetime.core.schedules.fire_times.fire_times", gone)
    response = service.get(f"/v1/schedules/{schedule_id}/upcoming")

    assert response.status == 409
    assert "timezone: 'Mars' is not a time zone" in response.body["detail"]


# Preview


def test_a_preview_stores_nothing(service: Service):
    response = preview(service, rule=NOON, count=2)

    assert (response.status, response.body) == (
        200,
        {
            "fire_times": [rfc3339(NOW + 3 * HOUR), rfc3339(NOW + 27 * HOUR)],
            "description": "at 12:00 every day",
            "daylight_saving": [],
        },
    )
    assert service.store.writes == []
    assert service.get("/v1/schedules").body["items"] == []


def test_a_preview_of_several_rules_less_exclusions(service: Service):
    body = preview(
        service,
        rules=[NOON, {"type": "rate", "every": 43_200, "anchor": "2026-01-01T06:00:00Z"}],
        exclude=[{"type": "dates", "dates": ["2026-12-25"]}],
        after="2026-12-24T12:00:00Z",
        count=3,
    ).body

    assert body["fire_times"] == [
        "2026-12-24T18:00:00.000Z",
        "2026-12-26T06:00:00.000Z",
        "2026-12-26T12:00:00.000Z",
    ]


def test_preview_has_notes_on_daylight_saving(service: Service):
    body = preview(service, rule=BERLIN, after="2026-10-24T12:00:00Z", count=1).body

    assert body["fire_times"] == ["2026-10-25T00:30:00.000Z"]
    assert [touch["kind"] for touch in body["daylight_saving"]] == ["first_of_two"]


def test_preview_of_a_delay_has_only_the_first_fire_time(service: Service):
    body = preview(service, rule={"type": "delay", "delay": 60}).body

    assert body["fire_times"] == [rfc3339(NOW + MINUTE)]
    assert body["description"] == "1 minute after the previous run ended"


def test_preview_has_ten_fire_times_by_default(service: Service):
    assert len(preview(service, rule=NOON).body["fire_times"]) == 10
    assert len(preview(service, rule=NOON, count=100).body["fire_times"]) == 100


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({}, {"rule": "required: give rule, or rules"}),
        ({"rule": NOON, "count": 0}, {"count": "must be at least 1"}),
        ({"rule": NOON, "count": 101}, {"count": "must be at most 100"}),
        ({"rule": NOON, "after": "x"}, {"after": "must be an RFC 3339 time such as"}),
        (
            {"rule": NOON, "after": "2036-11-14T00:00:00Z"},
            {"after": "must be at most 10 years ahead"},
        ),
        ({"rule": NOON, "task": {}}, {"task": "unknown field"}),
        ({"rule": {**NOON, "timezone": "Mars"}}, {"rule.timezone": "'Mars' is not a time zone"}),
        ({"rules": [{**NOON, "expression": "0 0 30 2 *"}]}, {"rules.0.expression": "never fires"}),
        ({"rule": NOON, "exclude": [EVERY_MINUTE]}, {"exclude": "leaves out every fire time"}),
    ],
    ids=str,
)
def test_a_bad_preview_is_refused(service: Service, fields: dict[str, Any], errors: dict[str, str]):
    said = refusal(preview(service, **fields))

    assert said.keys() == errors.keys()
    for field, start in errors.items():
        assert said[field].startswith(start)


# Ledger


def ledger(service: Service, schedule_id: str, **query: str) -> list[dict[str, Any]]:
    return service.get(f"/v1/schedules/{schedule_id}/ledger", **query).body["items"]


def note(service: Service, schedule_id: str, task: Task | None = None, **fields: Any) -> None:
    values = {"fire_time": NOW, "version": 1, "outcome": LedgerOutcome.FIRED, **fields}
    if task is not None:
        service.store.put([task])
        values["task_id"] = task.id
    service.schedules.write_ledger([LedgerRow(schedule_id=schedule_id, **values)], NOW)


def attempt(number: int, started_at: Millis) -> Attempt:
    return Attempt(number=number, started_at=started_at, drift_ms=0, outcome=Outcome.FAILED)


def test_ledger_has_every_fire_time_newest_first(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    tasks = any_service.get("/v1/tasks", schedule_id=schedule_id).body["items"]
    assert ledger(any_service, schedule_id) == []  # they are still to come

    any_service.clock.advance(4 * MINUTE)

    assert ledger(any_service, schedule_id) == [
        {
            "fire_time": task["scheduled_for"],
            "outcome": "fired",
            "late_ms": None,
            "task_id": task["id"],
            "task_status": "ENQUEUED",
        }
        for task in tasks
    ]


@pytest.mark.parametrize(
    ("status", "reason", "outcome"),
    [
        (Status.CANCELLED, "overlap", "skipped_overlap"),
        (Status.CANCELLED, "misfire", "skipped_misfire"),
        (Status.CANCELLED, "paused", "paused"),
        (Status.CANCELLED, None, "fired"),
        (Status.SUCCEEDED, None, "fired"),
        (Status.DEAD, None, "fired"),
    ],
)
def test_ledger_outcome_follows_from_the_task(
    any_service: Service, status: Status, reason: str | None, outcome: str
):
    schedule_id = any_service.schedule().body["id"]
    task = a_task(status=status, reason=reason, wake=None)
    note(any_service, schedule_id, task)

    [item] = ledger(any_service, schedule_id)

    assert (item["outcome"], item["task_status"]) == (outcome, status)
    assert item.get("reason") == reason


def test_run_that_the_next_one_cancelled_counts_as_fired(service: Service):
    schedule_id = service.schedule().body["id"]
    ran = a_task(status=Status.CANCELLED, reason="overlap", wake=None, attempt=1)
    note(service, schedule_id, ran)

    assert [item["outcome"] for item in ledger(service, schedule_id)] == ["fired"]


def test_late_is_the_start_of_the_first_attempt_less_the_fire_time(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    once = a_task(attempt=1, current=attempt(1, NOW + 40))
    twice = a_task(attempt=2, current=attempt(2, NOW + HOUR), previous=attempt(1, NOW + 50))
    often = a_task(attempt=3, current=attempt(3, NOW + HOUR), previous=attempt(2, NOW + MINUTE))
    for n, task in enumerate((once, twice, often)):
        note(any_service, schedule_id, replace(task, wake=None), fire_time=NOW - n)
    any_service.store.keep_attempt(often.id, attempt(1, NOW + 60))

    assert [item["late_ms"] for item in ledger(any_service, schedule_id)] == [40, 51, 62]


def test_ledger_has_fire_times_that_became_no_task(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    note(
        any_service, schedule_id, outcome=LedgerOutcome.BROKEN, error="KeyError: 'x'", backfill="B1"
    )

    assert ledger(any_service, schedule_id) == [
        {
            "fire_time": rfc3339(NOW),
            "outcome": "broken",
            "late_ms": None,
            "task_id": None,
            "task_status": None,
            "error": "KeyError: 'x'",
            "backfill": "B1",
        }
    ]


def test_ledger_row_outlives_its_task(service: Service):
    schedule_id = service.schedule().body["id"]
    task_id = an_id()
    note(service, schedule_id, task_id=task_id)

    [item] = ledger(service, schedule_id)

    assert (item["outcome"], item["task_id"], item["task_status"]) == ("fired", task_id, None)


def test_ledger_span_is_listed_fire_time_by_fire_time(any_service: Service):
    schedule_id = any_service.schedule().body["id"]
    span = LedgerSpan(
        schedule_id=schedule_id,
        start=NOW - 20 * MINUTE,
        until=NOW,
        outcome=LedgerOutcome.PAUSED,
        recurrence=a_recurrence(),
    )
    any_service.schedules.write_ledger([span], NOW)
    note(any_service, schedule_id, fire_time=NOW)

    times = [(item["fire_time"], item["outcome"]) for item in ledger(any_service, schedule_id)]
    assert times == [
        (rfc3339(NOW), "fired"),
        *((rfc3339(NOW - n * MINUTE), "paused") for n in (5, 10, 15, 20)),
    ]


@pytest.mark.parametrize("limit", ["1", "2", "3", "8"])
def test_pages_of_the_ledger_neither_skip_nor_repeat(any_service: Service, limit: str):
    schedule_id = any_service.schedule().body["id"]
    span = LedgerSpan(
        schedule_id=schedule_id,
        start=NOW - 20 * MINUTE,
        until=NOW,
        outcome=LedgerOutcome.SKIPPED_MISFIRE,
        recurrence=a_recurrence(),
    )
    any_service.schedules.write_ledger([span], NOW)
    for at in (NOW, NOW - 7 * MINUTE, NOW - 30 * MINUTE):
        note(any_service, schedule_id, fire_time=at)

    path, found, cursor = f"/v1/schedules/{schedule_id}/ledger", [], {}
    while True:
        page = any_service.get(path, limit=limit, **cursor).body
        assert len(page["items"]) <= int(limit)
        found += [item["fire_time"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert found == [rfc3339(NOW - n * MINUTE) for n in (0, 5, 7, 10, 15, 20, 30)]


@pytest.mark.parametrize("cursor", ["x", "1#1", "9" * 5_000 + "#1", "1794819600000#2", "#~", "é"])
def test_bad_ledger_cursor_is_refused(service: Service, cursor: str):
    schedule_id = service.schedule().body["id"]
    path = f"/v1/schedules/{schedule_id}/ledger"

    assert refusal(service.get(path, cursor=cursor)) == {"cursor": "not a cursor of this list"}


def test_ledger_has_the_fire_times_of_a_past_pause(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    any_service.on(schedule_id, "pause")
    any_service.clock.advance(7 * MINUTE + SECOND)
    any_service.on(schedule_id, "resume")
    assert {i["outcome"] for i in ledger(any_service, schedule_id)} == {"paused"}
    any_service.clock.advance(4 * MINUTE)

    outcomes = {i["fire_time"]: i["outcome"] for i in ledger(any_service, schedule_id)}

    assert [outcomes[rfc3339(NOW + n * MINUTE)] for n in range(1, 12)] == ["paused"] * 7 + [
        "fired"
    ] * 4


def test_ledger_leaves_out_fire_times_that_a_change_dropped(any_service: Service):
    schedule_id = any_service.schedule(rule=EVERY_MINUTE).body["id"]
    any_service.clock.advance(MINUTE)
    hourly = {"type": "cron", "expression": "0 * * * *"}
    body = {"rule": hourly, "task": {"target": PYTHON}}
    any_service.call("PUT", f"/v1/schedules/{schedule_id}", body)
    any_service.clock.advance(5 * MINUTE)

    assert [row["fire_time"] for row in ledger(any_service, schedule_id)] == [rfc3339(NOW + MINUTE)]

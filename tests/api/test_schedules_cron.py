"""Cron as people paste it: where the seconds are, which days must match, zones in the expression,
and EventBridge's expressions."""

from typing import Any

import pytest

from duetime.core.recurrence.codec import decode_recurrence
from duetime.core.schedules.changes import create
from duetime.core.schedules.plan import Plan
from duetime.core.times import MINUTE, rfc3339
from tests.api.service import NOON, PYTHON, Service, refusal
from tests.factories import NOW, WAKE_POLICY, a_spec, an_id

SIX = {"type": "cron", "expression": "0 0 9 * * *"}
FRIDAY_13 = {"type": "cron", "expression": "0 0 13 * fri"}
READINGS = (
    "is required with six fields; with seconds first: at 09:00 every day; with seconds last: every"
    " second of minute 0 of hour 0 on day 9 of the month"
)


def fields_of(schedule: dict[str, Any]) -> dict[str, Any]:
    return {name: schedule[name] for name in ("name", "rule", "exclude", "task")}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"rule": SIX}, "rule.seconds"),
        ({"rules": [NOON, SIX]}, "rules.1.seconds"),
        ({"exclude": [NOON, SIX]}, "exclude.1.seconds"),
    ],
)
def test_six_fields_without_seconds_are_refused_with_both_readings(
    service: Service, fields: dict[str, Any], field: str
):
    assert refusal(service.schedule(**fields)) == {field: READINGS}
    assert service.store.writes == []


def test_a_preview_of_six_fields_shows_both_readings(service: Service):
    response = service.call("POST", "/v1/schedules/preview", {"rule": SIX})

    assert refusal(response) == {"rule.seconds": READINGS}


@pytest.mark.parametrize(
    ("rule", "errors"),
    [
        ({**NOON, "seconds": "last"}, {"rule.seconds": "is for expressions of six fields; this"}),
        ({**SIX, "seconds": "middle"}, {"rule.seconds": "must be 'first' or 'last'"}),
        ({**NOON, "days": "all"}, {"rule.days": "must be 'either' or 'both'"}),
        (
            {"type": "cron", "expression": "CRON_TZ=Europe/Berlin 0 9 * * *", "timezone": "UTC"},
            {"rule.timezone": "is UTC, but the expression says Europe/Berlin; give one"},
        ),
        (
            {"type": "cron", "expression": "rate(5 minutes)", "timezone": "Europe/Berlin"},
            {"rule.expression": "rate(…) counts elapsed time: it takes no time zone"},
        ),
        (
            {"type": "cron", "expression": "rate(1 minutes)"},
            {"rule.expression": "write rate(1 minute) (at position 8)"},
        ),
        (
            {"type": "cron", "expression": "cron(15 10 ? * 6L 2019-2022)"},
            {"rule.expression": "does not fire in the next forty years; its year is 2019-2022"},
        ),
        (
            {"type": "cron", "expression": "*/90 * * * *"},
            {"rule.expression": "minute: */90: a step of 90 leads beyond the 60 values"},
        ),
    ],
)
def test_bad_expression_is_refused(service: Service, rule: dict[str, Any], errors: dict[str, str]):
    found = refusal(service.schedule(rule=rule))

    assert found.keys() == errors.keys()
    for field, start in errors.items():
        assert found[field].startswith(start)
    assert service.store.writes == []


@pytest.mark.parametrize(
    ("rule", "returned", "description"),
    [
        ({**SIX, "seconds": "first"}, {"seconds": "first"}, "at 09:00 every day"),
        (
            {**SIX, "seconds": "last"},
            {"seconds": "last"},
            "every second of minute 0 of hour 0 on day 9 of the month",
        ),
        (
            {**FRIDAY_13, "days": "both"},
            {"days": "both"},
            "at 00:00 on day 13 of the month, but only on Friday",
        ),
        (
            {**FRIDAY_13, "days": "either"},
            {},
            "at 00:00 on day 13 of the month, and also on Friday",
        ),
        (
            {"type": "cron", "expression": "CRON_TZ=Europe/Berlin 0 9 * * *"},
            {"timezone": "Europe/Berlin"},
            "at 09:00 every day, Europe/Berlin",
        ),
        (
            {"type": "cron", "expression": "TZ=UTC 0 9 * * *", "timezone": "UTC"},
            {},
            "at 09:00 every day",
        ),
        (
            {"type": "cron", "expression": "cron(15 10 ? * 6L 2026-2028)"},
            {},
            "at 10:15 on the last Friday of the month, in 2026 to 2028",
        ),
    ],
)
def test_returned_rule_can_be_submitted_again(
    any_service: Service, rule: dict[str, Any], returned: dict[str, Any], description: str
):
    exclude = [{"type": "cron", "expression": "0 0 12 * * *", "seconds": "first"}]
    made = any_service.schedule(rule=rule, exclude=exclude).body
    path = f"/v1/schedules/{made['id']}"

    wanted = {"type": "cron", "expression": rule["expression"], "timezone": "UTC", **returned}
    assert made["rule"] == wanted
    assert made["exclude"] == [{**exclude[0], "timezone": "UTC"}]
    assert made["description"].startswith(f"{description}; except at 12:00:00")
    changed = any_service.call("PUT", path, fields_of(any_service.get(path).body))
    assert changed.status == 200
    for field in ("rule", "exclude", "description", "next_fire_at"):
        assert changed.body[field] == made[field]


def test_six_fields_stored_before_seconds_could_be_said_keep_them_last(any_service: Service):
    before = [[["cron", "*/5 * * * * 30"]], [["cron", "* 12 * * * 0-29"]]]
    plan = Plan(recurrence=decode_recurrence(before), task=a_spec(run_at=0))
    stored = create(WAKE_POLICY, an_id(), plan, NOW)
    any_service.schedules.put([stored])
    path = f"/v1/schedules/{stored.id}"

    found = any_service.get(path).body

    rule = {"type": "cron", "expression": "*/5 * * * * 30", "timezone": "UTC", "seconds": "last"}
    assert found["rule"] == rule
    assert found["exclude"][0]["seconds"] == "last"
    assert found["next_fire_at"] == rfc3339(NOW + MINUTE // 2)
    again = any_service.call("PUT", path, {**fields_of(found), "task": {"target": PYTHON}})
    assert (again.status, again.body["rule"]) == (200, rule)
    assert again.body["next_fire_at"] == found["next_fire_at"]


def test_eventbridge_s_rate_becomes_a_rate_that_counts_from_the_creation(any_service: Service):
    made = any_service.schedule(rule={"type": "cron", "expression": "rate(5 minutes)"}).body

    assert made["rule"] == {"type": "rate", "every": 300.0, "anchor": rfc3339(NOW)}
    assert made["next_fire_at"] == rfc3339(NOW + 5 * MINUTE)
    assert made["description"] == "every 5 minutes"


def test_a_rule_whose_years_are_over_finishes_its_schedule(any_service: Service):
    """NOW is 2026-11-16 09:00."""
    rule = {"type": "cron", "expression": "cron(1,2 9 16 11 ? 2026)"}
    made = any_service.schedule(rule=rule).body
    path = f"/v1/schedules/{made['id']}"

    times = any_service.get(f"{path}/upcoming").body["fire_times"]
    assert times == [rfc3339(NOW + MINUTE), rfc3339(NOW + 2 * MINUTE)]
    assert made["status"] == "active"
    any_service.clock.advance(3 * MINUTE)
    over = any_service.get(path).body
    assert (over["status"], over["next_fire_at"], over["runs"]) == ("finished", None, 2)


def test_a_preview_of_friday_the_13th(service: Service):
    rule = {**FRIDAY_13, "days": "both"}
    body = service.call("POST", "/v1/schedules/preview", {"rule": rule, "count": 3}).body

    days = [time[:10] for time in body["fire_times"]]
    assert days == ["2027-08-13", "2028-10-13", "2029-04-13"]

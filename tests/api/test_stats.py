"""GET /v1/stats: what was counted, in steps, and how far behind the roles are."""

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.health import Health
from duetime.api.http import Request, Response
from duetime.api.stats import Vitals
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.times import HOUR, MINUTE, SECOND, rfc3339
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import Service, as_sent, refusal
from tests.factories import NOW, SteppedClock

STATE = {
    "tick_age_seconds": 14.0,
    "cursor_lag_seconds": 0.0,
    "held_back": 3,
    "relay_age_seconds": 0.3,
}
ZERO_ATTEMPTS = dict.fromkeys(
    [
        "succeeded",
        "failed",
        "timed_out",
        "lease_expired",
        "snoozed",
        "interrupted",
        "suspended",
        "cancelled",
    ],
    0,
)
ZERO_ENDS = dict.fromkeys(["SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED"], 0)
NOTHING = {
    "attempts": ZERO_ATTEMPTS,
    "ends": ZERO_ENDS,
    "drift_ms": None,
    "duration_ms": None,
}


@pytest.fixture
def counting():
    with closing(SqliteTaskStore(None)) as store:
        service = Service(store, SteppedClock())
        ports = replace(service.ports, stats=store.stats())
        service.api = Api(ports, handlers=set, version="9", vitals=lambda: Vitals(**STATE))
        service.stats = store.stats()
        yield service


def stats(service: Service, **query: Any) -> Any:
    response = service.get("/v1/stats", **query)
    assert response.status == 200, response.body
    return as_sent(response)


def add(service: Any, ago: int, lane: Lane = Lane.HIGH, **numbers: int) -> None:
    maxima = {name: numbers.pop(name) for name in list(numbers) if name.endswith("_max")}
    start = (NOW - ago) // MINUTE * MINUTE
    service.stats.add([LaneCounts(start=start, lane=lane, counts=Counts(numbers, maxima))])


def test_stats_of_an_empty_system_are_zeros(counting):
    body = stats(counting)

    assert body == {
        "source": "table",
        "from": rfc3339(NOW - HOUR),
        "to": rfc3339(NOW),
        "step": 60,
        "approximate": True,
        "complete": True,
        "series": [],
        "lanes": [{"lane": lane, **NOTHING} for lane in ("high", "medium", "low")],
        "total": NOTHING,
        **STATE,
    }


def test_stats_show_each_step_each_lane_and_the_total(counting):
    add(counting, 2 * MINUTE, succeeded=3, SUCCEEDED=3, drift2=3, drift_max=4)
    add(counting, MINUTE, succeeded=1, failed=1, SUCCEEDED=1, DEAD=1, took4=2, took_max=20)
    add(counting, MINUTE, Lane.LOW, CANCELLED=2)
    body = stats(counting)

    assert [(point["at"], point["lane"]) for point in body["series"]] == [
        (rfc3339(NOW - 2 * MINUTE), "high"),
        (rfc3339(NOW - MINUTE), "high"),
        (rfc3339(NOW - MINUTE), "low"),
    ]
    first, second, low = body["series"]
    assert first["attempts"] == {**ZERO_ATTEMPTS, "succeeded": 3}
    assert first["drift_ms"] == {"p50": 4, "p95": 4, "p99": 4, "max": 4}
    assert first["duration_ms"] is None
    assert second["duration_ms"] == {"p50": 15, "p95": 20, "p99": 20, "max": 20}
    assert low["ends"] == {**ZERO_ENDS, "CANCELLED": 2}
    high, medium, _ = body["lanes"]
    assert high["attempts"] == {**ZERO_ATTEMPTS, "succeeded": 4, "failed": 1}
    assert medium == {"lane": "medium", **NOTHING}
    assert body["total"]["ends"] == {**ZERO_ENDS, "SUCCEEDED": 4, "DEAD": 1, "CANCELLED": 2}


def test_longer_steps_add_their_minutes_up(counting):
    for ago in (0, MINUTE, 61 * MINUTE, 3 * HOUR):
        add(counting, ago, succeeded=1)
    by_five = stats(counting, window="2h", step="300")
    by_hour = stats(counting, window="2h", step="3600")

    counted = [(point["at"], point["attempts"]["succeeded"]) for point in by_five["series"]]
    assert counted == [
        (rfc3339(NOW - HOUR - 5 * MINUTE), 1),
        (rfc3339(NOW - 5 * MINUTE), 1),
        (rfc3339(NOW), 1),
    ]
    assert by_hour["total"]["attempts"]["succeeded"] == 3
    assert {point["at"][14:] for point in by_hour["series"]} == {"00:00.000Z"}


def test_steps_of_hours_begin_with_a_whole_hour(counting):
    add(counting, HOUR + 55 * MINUTE, succeeded=1)
    body = stats(counting, window="90m", step="3600")

    assert body["from"] == rfc3339(NOW - 2 * HOUR)
    assert body["total"]["attempts"]["succeeded"] == 1


def test_one_lane_can_be_asked_for(counting):
    add(counting, 0, succeeded=1)
    add(counting, 0, Lane.LOW, succeeded=5)
    body = stats(counting, lane="low")

    assert {point["lane"] for point in body["series"]} == {"low"}
    assert [lane["lane"] for lane in body["lanes"]] == ["low"]
    assert body["total"]["attempts"]["succeeded"] == 5


def test_counts_before_the_window_are_left_out(counting):
    add(counting, 6 * MINUTE, succeeded=1)
    add(counting, 5 * MINUTE, succeeded=2)

    assert stats(counting, window="5m")["total"]["attempts"]["succeeded"] == 2


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ({"window": "soon"}, "window", "'soon' is not a duration such as 90, 90s, 5m, 1h30m or 2d"),
        ({"window": "59s"}, "window", "must be from 1m to 7d"),
        ({"window": "8d"}, "window", "must be from 1m to 7d"),
        ({"step": "90"}, "step", "must be a multiple of 60 seconds, up to 604800"),
        ({"step": "0"}, "step", "must be a multiple of 60 seconds, up to 604800"),
        ({"step": "x"}, "step", "must be a whole number"),
        (
            {"window": "7d"},
            "step",
            "makes over 1,500 points; for this window use at least 420",
        ),
        ({"lane": "fast"}, "lane", "must be one of high, medium, low, or of a pool: batch/high"),
        ({"hours": "1"}, "hours", "unknown parameter"),
    ],
)
def test_bad_parameters_are_refused_by_name(
    counting, query: dict[str, str], field: str, reason: str
):
    assert refusal(counting.get("/v1/stats", **query)) == {field: reason}


def test_the_smallest_step_that_is_named_is_taken(counting):
    assert stats(counting, window="7d", step="420")["step"] == 420


def test_answer_has_an_etag_and_may_be_shown_for_two_seconds(counting):
    first = counting.get("/v1/stats")
    assert first.headers["cache-control"] == "private, max-age=2"

    def again() -> Response:
        sent = {"if-none-match": first.headers["etag"]}
        return counting.call("GET", "/v1/stats", b"", headers=sent)

    assert again().status == 304
    add(counting, 0, succeeded=1)
    assert again().status == 200


def test_api_without_rows_names_where_the_metrics_are(service: Service):
    health = Health(checks=[], tick_age=14 * SECOND)
    url = "https://eu-central-1.console.aws.amazon.com/cloudwatch"
    api = Api(service.ports, handlers=set, version="9", health=lambda: health, metrics_url=url)
    body = json.loads(api.call(Request(method="GET", path="/v1/stats")).encoded())

    assert (body["source"], body["url"]) == ("emf", url)
    assert (body["series"], body["lanes"], body["total"]) == ([], [], None)
    assert (body["complete"], body["tick_age_seconds"]) == (False, 14.0)
    assert body["relay_age_seconds"] is body["held_back"] is body["cursor_lag_seconds"] is None


def test_store_that_does_not_answer_is_a_503(counting, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any) -> None:
        raise Unavailable("it is locked")

    monkeypatch.setattr(type(counting.stats), "minutes", fail)

    assert counting.get("/v1/stats").status == 503

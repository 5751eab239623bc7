"""GET /v1/forecast: what comes due, minute by minute."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.times import HOUR, MINUTE, SECOND
from duetime.engine import forecast as engine
from duetime.engine.materialise import materialise
from tests.api.service import EVERY_MINUTE, PYTHON, Service
from tests.factories import NOW

TASK = {"target": PYTHON}


def forecast(service: Service, **query: Any) -> Any:
    response = service.get("/v1/forecast", **query)
    assert response.status == 200, response.body
    return response.body


def minutes(body: Any) -> dict[int, tuple[int, int]]:
    """Returns tasks and occurrences by minutes from now."""
    start = datetime.fromtimestamp(NOW / 1000, UTC)
    return {
        round((datetime.fromisoformat(m["minute"]) - start).total_seconds() / 60): (
            m["tasks"],
            m["occurrences"],
        )
        for m in body["minutes"]
    }


def schedule(service: Service, rule: Any = EVERY_MINUTE, **fields: Any) -> Any:
    response = service.call("POST", "/v1/schedules", {"rule": rule, "task": TASK, **fields})
    assert response.status == 201, response.body
    return response.body


def test_forecast_of_an_empty_system_says_so(any_service: Service):
    assert forecast(any_service) == {
        "looked_from": "2026-11-16T09:00:00.000Z",
        "looked_until": "2026-11-16T10:00:00.000Z",
        "complete": True,
        "total": {"count": 0, "tasks": 0, "occurrences": 0},
        "peak": None,
        "minutes": [],
    }


def test_forecast_counts_tasks_and_coming_runs(any_service: Service):
    service = any_service
    for delay in (60, 600, 630, 3_599, 3_600):
        service.post({**TASK, "delay": delay})
    schedule(service, {"type": "cron", "expression": "*/20 * * * *"})

    body = forecast(service)
    assert minutes(body) == {1: (1, 0), 10: (2, 0), 20: (0, 1), 40: (0, 1), 59: (1, 0)}
    assert body["total"] == {"count": 6, "tasks": 4, "occurrences": 2}
    assert body["peak"]["minute"] == "2026-11-16T09:10:00.000Z"
    assert body["peak"]["count"] == 2


def test_run_that_is_a_task_already_counts_once(any_service: Service):
    """Runs of the next four minutes are materialised."""
    schedule(any_service)
    expected = dict.fromkeys(range(1, 5), (1, 0)) | dict.fromkeys(range(5, 60), (0, 1))
    assert minutes(forecast(any_service)) == expected

    any_service.clock.advance(2 * MINUTE)
    [found] = any_service.ports.schedules.get([_only_schedule(any_service)]).values()
    materialise(any_service.ports, [found], now=any_service.clock.now())
    body = forecast(any_service)
    assert {m["tasks"] + m["occurrences"] for m in body["minutes"]} == {1}
    assert [m["minute"] for m in body["minutes"] if m["tasks"]][-1] == "2026-11-16T09:06:00.000Z"


def _only_schedule(service: Service) -> str:
    [found] = service.get("/v1/schedules").body["items"]
    return str(found["id"])


def test_forecast_by_lane_splits_the_counts(any_service: Service):
    for lane, delay in (("high", 600), ("low", 601), ("low", 602)):
        any_service.post({**TASK, "priority": lane, "delay": delay})
    high = {"target": PYTHON, "priority": "high"}
    rule = {"type": "cron", "expression": "10 9 * * *"}
    schedule(any_service, rule, task=high)
    body = forecast(any_service, by="lane")
    lanes = {"high": 2, "medium": 0, "low": 2}
    assert [m["lanes"] for m in body["minutes"]] == [lanes]
    assert body["total"]["lanes"] == body["peak"]["lanes"] == lanes
    assert "lanes" not in forecast(any_service)["total"]


def test_forecast_is_about_one_namespace_or_all(any_service: Service):
    any_service.post({**TASK, "delay": 600})
    any_service.post({**TASK, "delay": 660, "namespace": "shop"})
    rule = {"type": "cron", "expression": "30 9 * * *"}
    schedule(any_service, rule, task={**TASK, "namespace": "shop"})
    assert minutes(forecast(any_service)) == {10: (1, 0)}
    assert minutes(forecast(any_service, namespace="shop")) == {11: (1, 0), 30: (0, 1)}
    assert minutes(forecast(any_service, namespace="*")) == {10: (1, 0), 11: (1, 0), 30: (0, 1)}


def test_paused_schedule_and_its_end_are_left_out(service: Service):
    paused = schedule(service)
    assert service.call("POST", f"/v1/schedules/{paused['id']}/pause", {}).status == 200
    schedule(service, ends_at="2026-11-16T09:07:00Z")
    schedule(service, {"type": "cron", "expression": "*/10 * * * *"}, max_runs=2)
    found = minutes(forecast(service))
    assert {m: runs for m, (_, runs) in found.items() if runs} == {5: 1, 6: 1, 10: 1, 20: 1}


def test_delay_counts_the_one_run_that_is_known(service: Service):
    schedule(service, {"type": "delay", "delay": 1_200})
    assert minutes(forecast(service)) == {20: (0, 1)}


def test_forecast_looks_a_day_ahead(service: Service):
    service.post({**TASK, "delay": 86_390})
    body = forecast(service, hours="24")
    assert body["looked_until"] == "2026-11-17T09:00:00.000Z"
    assert body["total"]["count"] == 1


def test_forecast_with_too_many_fire_times_says_until_when_it_is_complete(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine, "MAX_FIRE_TIMES", 10)
    schedule(service)
    body = forecast(service)
    assert body["complete"] is False
    assert body["looked_until"] == "2026-11-16T09:15:00.000Z"
    assert body["total"]["occurrences"] == 10


def test_forecast_with_too_many_schedules_says_until_when_it_is_complete(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine, "MAX_SCHEDULES", 1)
    schedule(service, {"type": "cron", "expression": "20 9 * * *"})
    schedule(service, {"type": "cron", "expression": "40 9 * * *"})
    body = forecast(service)
    assert (body["complete"], minutes(body)) == (False, {20: (0, 1)})
    assert "2026-11-16T09:20:00.000Z" < body["looked_until"] < "2026-11-16T09:40:00Z"


def test_schedule_that_cannot_be_evaluated_does_not_fail_the_forecast(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    broken = schedule(service, {"type": "cron", "expression": "20 9 * * *"})
    schedule(service, {"type": "cron", "expression": "40 9 * * *"})
    not_put = engine.not_put

    def fails(found: Any, *span: int) -> Any:
        if found.id == broken["id"]:
            raise ValueError("no such rule")
        return not_put(found, *span)

    monkeypatch.setattr(engine, "not_put", fails)
    assert minutes(forecast(service)) == {40: (0, 1)}
    assert "schedule left out: not evaluated" in caplog.text


@pytest.mark.parametrize(
    ("query", "field", "message"),
    [
        ({"hours": "0"}, "hours", "must be from 1 to 24"),
        ({"hours": "25"}, "hours", "must be from 1 to 24"),
        ({"hours": "1.5"}, "hours", "must be a whole number"),
        ({"by": "target"}, "by", "must be one of lane"),
        ({"namespace": "a b"}, "namespace", "or * for all"),
        ({"limit": "5"}, "limit", "unknown parameter"),
    ],
)
def test_bad_parameter_is_refused(
    service: Service, query: dict[str, str], field: str, message: str
):
    response = service.get("/v1/forecast", **query)
    assert response.status == 422
    [error] = response.body["errors"]
    assert error["field"] == field
    assert message in error["message"]


def test_store_that_does_not_answer_is_unavailable(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    def fail(span: Any) -> None:
        raise Unavailable("DynamoDB timed out")

    monkeypatch.setattr(service.store, "due_counts", fail, raising=False)
    assert service.get("/v1/forecast").status == 503


def test_first_minute_has_what_is_left_of_it(service: Service):
    service.post({**TASK, "delay": 5})
    service.post({**TASK, "delay": 50})
    service.clock.advance(20 * SECOND)
    assert minutes(forecast(service)) == {0: (1, 0)}
    service.clock.advance(HOUR)
    assert minutes(forecast(service)) == {}


def test_api_page_shows_a_forecast_as_it_is_returned(service: Service):
    page = (Path(__file__).parents[2] / "docs/reference/api.md").read_text()
    [shown] = re.findall(r'```json\n(\{\n  "looked_from".*?\n\})\n', page, re.DOTALL)
    service.post({**TASK, "delay": 600})
    body = forecast(service, by="lane")
    example = json.loads(shown)
    assert example.keys() == body.keys()
    assert example["minutes"][0].keys() == body["minutes"][0].keys()

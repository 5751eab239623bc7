"""GET /v1/lanes: how many messages each lane has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.times import SECOND
from tests.api.service import PYTHON, Service

ACTIVITY = ("weight", "running", "in_per_minute", "out_per_minute", "promoted", "waiting")


def lanes(service: Service) -> dict[str, dict[str, Any]]:
    body = service.get("/v1/lanes").body
    assert body["next_cursor"] is None
    assert [item["lane"] for item in body["items"]] == ["high", "medium", "low"]
    return {item.pop("lane"): item for item in body["items"]}


def test_waiting_delayed_and_running_tasks_are_counted(service: Service):
    service.post({"target": PYTHON})
    service.clock.advance(3 * SECOND)
    service.post({"target": PYTHON})
    service.post({"target": PYTHON, "delay": 60})
    service.post({"target": PYTHON, "delay": 86_400})  # not claimed yet
    service.post({"target": PYTHON, "priority": "low"})
    service.clock.advance(2 * SECOND)
    service.ports.lanes.receive(Queue(Lane.LOW), 1, 0)

    activity = dict.fromkeys(ACTIVITY)  # this API serves no lane, as on AWS
    assert lanes(service) == {
        "high": {"depth": 0, "delayed": 0, "in_flight": 0, "oldest_seconds": None, **activity},
        "medium": {"depth": 2, "delayed": 1, "in_flight": 0, "oldest_seconds": 5, **activity},
        "low": {"depth": 0, "delayed": 0, "in_flight": 1, "oldest_seconds": None, **activity},
    }


def test_api_page_shows_a_lane_as_it_is_returned(service: Service):
    page = (Path(__file__).parents[2] / "docs/reference/api.md").read_text()
    [shown] = re.findall(r'```json\n(\{"lane".*)\n', page)
    assert json.loads(shown).keys() == service.get("/v1/lanes").body["items"][0].keys()


def test_unknown_parameter_is_refused(service: Service):
    response = service.get("/v1/lanes", limit="5")
    assert response.status == 422
    assert response.body["errors"][0]["field"] == "limit"


def test_queue_that_does_not_answer_is_unavailable(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    def fail(lane: Lane) -> None:
        raise Unavailable("SQS timed out")

    monkeypatch.setattr(service.ports.lanes, "depth", fail)
    response = service.get("/v1/lanes")
    assert response.status == 503
    assert "SQS timed out" in response.body["detail"]

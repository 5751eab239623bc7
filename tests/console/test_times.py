"""Every status and every null time; every zone shows the same instants."""

from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.running import Runner

STATUSES = [
    "PENDING",
    "ENQUEUED",
    "RUNNING",
    "RETRYING",
    "WAITING",
    "SUCCEEDED",
    "DEAD",
    "CANCELLED",
    "EXPIRED",
]
TIMES = ("started_at", "finished_at", "expires_at", "promoted_at", "scheduled_for", "drift_ms")
AT = "2027-03-28T01:30:00.000Z"  # Berlin's clocks have just gone forward


@pytest.fixture
def task_id(runner: Runner) -> str:
    target = {"type": "python", "handler": "shop.greet"}
    return runner.submit(target=target, payload={"name": "Ada"}, run_at=AT)


@pytest.mark.parametrize("times", [None, AT], ids=["null", "known"])
@pytest.mark.parametrize("status", STATUSES)
def test_task_of_any_status_is_shown(page: Page, task_id: str, status: str, times: str | None):
    values: dict[str, Any] = dict.fromkeys(TIMES, times) | {"status": status}
    values["drift_ms"] = times and 3

    def changed(route: Any) -> None:
        route.fulfill(json={**route.fetch().json(), **values})

    def attempt(route: Any) -> None:
        item = {"number": 1, "started_at": AT, "finished_at": times, "outcome": None}
        route.fulfill(json={"items": [item | {"error": None, "drift_ms": None}]})

    page.route(f"**/v1/tasks/{task_id}", changed)
    if status not in ("PENDING", "ENQUEUED"):
        page.route(f"**/v1/tasks/{task_id}/attempts*", attempt)
    page.goto(f"/tasks/{task_id}")

    expect(page.locator(".page-head .status")).to_have_text(status.capitalize())
    expect(page.locator("svg.timeline")).to_be_visible()
    text = page.locator("main").inner_text()
    assert not any(word in text for word in ("NaN", "Invalid", "undefined", "null"))


ZONES = {"Europe/Berlin": "03:30:00", "UTC": "01:30:00", "Asia/Kolkata": "07:00:00"}


def test_every_zone_shows_the_same_instants(page: Page, task_id: str):
    seen: dict[str, list[str]] = {}
    for zone, clock in ZONES.items():
        page.goto(f"/tasks/{task_id}?tz={zone}")
        due = page.get_by_role("region", name="Details").locator(f'time[datetime="{AT}"]').first
        expect(due).to_contain_text(f"28 Mar 2027 {clock}")
        times = page.locator("main time")
        seen[zone] = times.evaluate_all("times => times.map(time => time.dateTime)")

    assert len({tuple(times) for times in seen.values()}) == 1
    assert all(datetime.fromisoformat(text) for text in seen["UTC"])


def test_zone_is_part_of_the_url_and_of_every_link(page: Page):
    page.goto("/tasks")
    page.get_by_label("Time zone").select_option("Asia/Tokyo")
    expect(page).to_have_url("/tasks?tz=Asia/Tokyo")
    page.get_by_role("link", name="Dead", exact=True).first.click()

    expect(page).to_have_url("/dead?tz=Asia/Tokyo")


def test_clock_of_the_browser_that_is_wrong_is_named(page: Page):
    page.clock.install(time="2020-01-01T00:00:00Z")
    page.goto("/")

    expect(page.locator(".banner")).to_contain_text("Times are the server's")

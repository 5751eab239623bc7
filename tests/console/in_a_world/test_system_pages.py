"""Lanes, limits, forecast and settings, and what code declares."""

import re
from datetime import timedelta
from typing import Any

from playwright.sync_api import Page, expect

from duetime.testing import World
from tests.console.in_a_world import handlers
from tests.console.in_a_world.test_schedules import WORK

TASK = "01KA5V8Y3M0000000000000001"


def workers(w: World) -> list[dict[str, Any]]:
    """Two workers as the API lists them: one of a pool that is about to end, and an idle one."""

    def ago(seconds: int) -> str:
        return (w.now - timedelta(seconds=seconds)).isoformat()

    return [
        {
            "name": "gpu-1",
            "backend": "http",
            "pool": "batch",
            "lanes": ["high", "low"],
            "handlers": [f"video.part{n}" for n in range(7)],
            "concurrency": 8,
            "running": [
                {"task_id": TASK, "since": ago(60)},
                {"task_id": f"{TASK[:-1]}2", "since": ago(5)},
            ],
            "draining": True,
            "since": ago(7_200),
            "seen": ago(3),
            "host": "rack-4",
            "version": "0.2.0",
        },
        {
            "name": "plain",
            "backend": "http",
            "pool": None,
            "lanes": ["high", "medium", "low"],
            "handlers": ["shop.restock"],
            "concurrency": None,
            "running": [],
            "draining": False,
            "since": ago(60),
            "seen": ago(10),
            "host": None,
            "version": None,
        },
    ]


def test_limit_is_made_changed_and_deleted(w: World, page: Page) -> None:
    page.goto("/limits")
    page.get_by_role("button", name="New limit").click()
    page.get_by_label("Name", exact=True).fill("stripe")
    page.get_by_label("Starts").fill("300")
    page.get_by_label("in each (seconds)").fill("60")
    page.get_by_role("button", name="Create").click()
    row = page.get_by_role("row", name=re.compile("^stripe"))
    expect(row).to_contain_text("300 per minute")
    expect(row).to_contain_text("now")

    row.get_by_role("button", name="Change stripe").click()
    page.get_by_label("At the same time").fill("2")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("0/2")
    limit = w.client.limits.get("stripe")
    assert limit["rate"] == {"count": 300, "period": 60.0, "burst": 0}
    assert limit["concurrency"] == 2

    row.get_by_role("button", name="Delete stripe").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No limits")).to_be_visible()


def test_limit_in_use_is_deleted_only_when_it_is_drained(w: World, page: Page) -> None:
    w.client.limits.put("one", concurrency=1)
    w.kill_executor()  # and so its task holds the limit until the lease ends
    w.client.submit(**WORK, limits=[{"name": "one"}])
    w.advance("1s")
    page.goto("/limits")
    page.get_by_role("button", name="Delete one").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The limit is in use")
    page.get_by_label("drain it, if it is in use").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("row", name=re.compile("^one"))).to_contain_text("draining")


def test_task_that_waits_for_a_limit_is_found_from_the_limit(w: World, page: Page) -> None:
    w.client.limits.put("one", concurrency=1)
    w.kill_executor()  # and so its task holds the limit until the lease ends
    for _ in range(2):
        w.client.submit(**WORK, limits=[{"name": "one"}])
    w.advance("1s")
    page.goto("/limits")
    page.get_by_title("tasks to start").click()
    row = page.locator("tr[data-key]")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("waits for the limit one")


def test_bad_limit_is_refused_with_its_field(page: Page) -> None:
    page.goto("/limits")
    page.get_by_role("button", name="New limit").click()
    page.get_by_label("Name", exact=True).fill("stripe")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("give rate, concurrency, or both")


def test_new_duetime_says_what_to_type(w: World, page: Page) -> None:
    page.goto("/tasks")
    command = "duetime submit --handler duetime.hello --in 5"
    expect(page.get_by_text(f"{command} --url {w.url}", exact=True)).to_be_visible()
    page.goto("/workflows")
    expect(page.get_by_text(f"curl -s -X PUT {w.url}/v1/workflows/hello")).to_be_visible()


def test_forecast_counts_the_tasks_of_each_minute(w: World, page: Page) -> None:
    for minutes in (5, 5, 5, 40, 100):  # from 08:00 in UTC, 13:30 in India
        w.client.submit(**WORK, delay=60 * minutes, priority="low" if minutes == 40 else "high")
    page.goto("/forecast?hours=2&tz=Asia/Kolkata")
    rows = page.get_by_role("table").locator("tbody tr")
    expect(rows.nth(0)).to_contain_text(re.compile(r"13:00.*3 at 13:35"))
    expect(rows.nth(1)).to_contain_text(re.compile(r"14:00.*1 at 14:10"))
    expect(page.get_by_text("5 due")).to_be_visible()
    page.get_by_role("link", name="low").click()
    expect(page.get_by_text("1 due")).to_be_visible()


def test_forecast_fits_the_smallest_phone(w: World, page: Page) -> None:
    w.client.submit_many([{**WORK, "delay": 300}] * 1_200)
    page.set_viewport_size({"width": 320, "height": 740})
    page.goto("/forecast?hours=2")
    panel = page.locator(".panel .scroll")
    expect(panel.locator("td.number", has_text="1,200")).to_have_count(2)  # due, peak
    assert panel.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def test_lanes_show_what_waits_in_each(w: World, page: Page) -> None:
    for _ in range(3):
        w.client.submit(**WORK, priority="low")
    page.goto("/lanes")
    low = page.get_by_role("row", name=re.compile("^low"))
    expect(low.locator("td[data-label=Waiting]")).to_have_text("3")
    high = page.get_by_role("row", name=re.compile("^high"))
    expect(high.locator("td[data-label=Waiting]")).to_have_text("0")


def test_workers_show_what_they_know_and_run(w: World, page: Page) -> None:
    page.route("**/v1/workers", lambda route: route.fulfill(json={"items": workers(w)}))
    page.goto("/lanes")
    page.get_by_role("link", name="Workers").click()
    rows = page.get_by_role("table", name="Workers").locator("tbody tr")
    expect(rows).to_have_count(2)

    gpu, plain = rows.nth(0), rows.nth(1)
    expect(gpu).to_contain_text("gpu-1")
    expect(gpu).to_contain_text("draining")
    expect(gpu.locator("[data-label=Takes]")).to_contain_text(re.compile("batch.*high, low"))
    expect(gpu.locator("[data-label=Handlers]")).to_contain_text("video.part4 and 2 more")
    running = gpu.locator("[data-label=Running]")
    expect(running).to_contain_text("2 of 8")
    expect(running.get_by_role("link").first).to_have_attribute("href", f"/tasks/{TASK}")
    expect(running).to_contain_text("1 min ago")
    expect(plain.locator("[data-label=Takes]")).to_contain_text("no pool")
    expect(plain.locator("[data-label=Running]")).to_have_text("0")
    expect(plain).not_to_contain_text("draining")


def test_page_without_workers_says_how_to_start_one(w: World, page: Page) -> None:
    page.goto("/workers")
    expect(page.get_by_text("No workers", exact=True)).to_be_visible()
    expect(page.get_by_text(f"duetime worker --url {w.url}")).to_be_visible()


def test_settings_are_kept_by_the_browser(page: Page) -> None:
    page.goto("/settings")
    html = page.locator("html")
    page.get_by_text("dark", exact=True).click()
    page.get_by_text("compact", exact=True).click()
    page.get_by_label("Time zone", exact=True).last.select_option("Asia/Tokyo")
    page.get_by_role("group", name="Single keys").get_by_text("off").click()
    page.goto("/schedules")
    expect(html).to_have_attribute("data-theme", "dark")
    expect(html).to_have_attribute("data-density", "compact")
    expect(page.locator(".zone-name")).to_have_text("Tokyo")
    page.keyboard.press("g")
    page.keyboard.press("l")
    expect(page.get_by_role("heading", name="Schedules")).to_be_visible()


def test_schedule_from_code_is_changed_here_only_after_it_is_detached(w: World, page: Page) -> None:
    w.sync(handlers)
    page.goto("/schedules")
    row = page.get_by_role("row", name=re.compile("shop.report"))
    expect(row).to_contain_text(re.compile(r"code *handlers\.py:\d+"))
    row.get_by_role("link").click()
    expect(page.get_by_role("button", name="Pause…")).to_be_visible()
    expect(page.get_by_role("link", name="Change")).to_have_count(0)
    page.get_by_role("button", name="Detach…").click()
    page.get_by_role("button", name="Detach", exact=True).click()
    expect(page.get_by_role("link", name="Change")).to_be_visible()
    expect(page.get_by_role("button", name="Delete…")).to_be_visible()

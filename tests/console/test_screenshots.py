"""The pages about tasks, as docs/console shows them: see shots.py."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.console.shots import WIDE, Shot, save, shots
from tests.running import ROOT, Runner, free_port, running, until

DAY = 86_400
RETRIES = {"max_attempts": 3, "base_delay": 0.2, "jitter": 0}
NAMES = ("welcome", "receipt", "index-product", "resize-image", "sync-stock")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runner, str]]:
    """A runner with some history, and the id of a dead task."""
    folder = tmp_path_factory.mktemp("shop")
    missing = folder / "missing"
    missing.touch()
    handlers = str(Path(__file__).parent / "handlers")
    with running(folder / "data", free_port(), "--handlers", handlers) as runner:
        dead = fill(runner, str(missing))
        until(lambda: runner.task(dead[-1])["status"] == "DEAD")
        yield runner, dead[-1]


def python(handler: str) -> dict[str, str]:
    return {"type": "python", "handler": handler}


def fill(runner: Runner, missing: str) -> list[str]:
    lanes = ("high", "medium", "low")
    for number in range(40):
        runner.submit(
            target=python("shop.greet"),
            payload={"name": "Ada", "order": number},
            name=NAMES[number % len(NAMES)],
            priority=lanes[number % 3],
            namespace="shop",
            tags={"team": "growth"},
        )
    for number in range(6):
        runner.submit(
            target=python("shop.greet"),
            payload={"name": "Ada"},
            name="reminder",
            delay=DAY + 600 * number,
            namespace="shop",
        )
    hook = {"type": "http", "url": "http://127.0.0.1:1/refunds"}
    runner.submit(target=hook, payload={"charge": "ch_17"}, name="refund", retry=RETRIES)
    schedules(runner)
    return [
        runner.submit(
            target=python("shop.restock"),
            payload={"missing": missing, "item": "salt", "shelf": shelf},
            name="restock",
            namespace="shop",
            retry=RETRIES,
        )
        for shelf in range(5)
    ]


def schedules(runner: Runner) -> None:
    report = {"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    rules: dict[str, dict[str, Any]] = {
        "daily-report": report,
        "sync-orders": {"type": "rate", "every": 900},
        "cleanup": {"type": "cron", "expression": "30 2 * * *"},
    }
    for name, rule in rules.items():
        body = {"name": name, "rule": rule, "task": {"target": python("shop.greet")}}
        assert runner.api.post("/schedules", json=body).status_code == 201


PAGES = {
    "overview": "/",
    "tasks": "/tasks",
    "dead-tasks": "/tasks?status=DEAD",
    "task": "/tasks/{dead}",
    "dead": "/dead",
    "new": "/new?handler=shop.greet",
    "lanes": "/lanes",
    "settings": "/settings",
}


@pytest.mark.long
@pytest.mark.parametrize("shot", shots(PAGES), ids=lambda shot: shot.name)
def test_page_is_shown(shot: Shot, browser: Browser, shop: tuple[Runner, str]):
    runner, dead = shop
    page = new_page(browser, runner, shot.theme, shot.size)
    page.goto(PAGES[shot.page].format(dead=dead))
    settle(page)
    save(page, shot.name)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()


@pytest.mark.long
def test_bulk_action_is_shown(browser: Browser, shop: tuple[Runner, str]):
    page = new_page(browser, shop[0], "light", WIDE)
    page.goto("/dead")
    page.get_by_role("button", name="Retry 5").click()
    expect(page.get_by_role("dialog")).to_contain_text("A dry run has counted 5.")
    save(page, "redrive")
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()


def new_page(browser: Browser, runner: Runner, theme: Any, size: Any) -> Page:
    context = browser.new_context(
        base_url=str(runner.api.base_url).removesuffix("/v1/"),
        color_scheme=theme,
        locale="en-GB",
        reduced_motion="reduce",
        timezone_id="Europe/Berlin",
        viewport=size,
    )
    page = context.new_page()
    page.route("**/v1/tasks/**", without_paths)
    return page


def without_paths(route: Route) -> None:
    """Tracebacks have the paths of this machine, which no document should show."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace(f"{ROOT}/tests/console/", "/srv/"))


def settle(page: Page) -> None:
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.locator(".is-live")).to_have_count(1)

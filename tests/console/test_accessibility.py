"""axe finds nothing to object to, on any page, in either theme and on a narrow screen."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.running import Runner, until

PAGES = {
    "overview": ("/", "Overview"),
    "tasks": ("/tasks", "Tasks"),
    "dead tasks": ("/tasks?status=DEAD&ns=a11y", "Tasks"),
    "no tasks": ("/tasks?ns=empty", "Tasks"),
    "task": ("/tasks/{dead}", "restock"),
    "missing task": ("/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV", None),
    "dead letters": ("/dead?ns=a11y", "Dead letters"),
    "new task": ("/new?handler=shop.greet", "New task"),
    "missing page": ("/nothing", None),
}


@pytest.fixture(scope="module")
def dead(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> str:
    missing = tmp_path_factory.mktemp("shelves") / "missing"
    missing.touch()
    task_id = runner.submit(
        target={"type": "python", "handler": "shop.restock"},
        payload={"missing": str(missing), "item": "salt", "shelf": 7},
        retry={"max_attempts": 2, "base_delay": 0.1},
        namespace="a11y",
        name="restock",
        tags={"team": "growth"},
    )
    until(lambda: runner.task(task_id)["status"] == "DEAD")
    return task_id


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser, url: str) -> Iterator[Page]:
    context = browser.new_context(
        base_url=url, color_scheme=request.param, reduced_motion="reduce", bypass_csp=True
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_violation(name: str, themed: Page, dead: str):
    path, heading = PAGES[name]
    themed.goto(path.format(dead=dead))
    if heading:
        expect(themed.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(themed.locator(".loading")).to_have_count(0)

    violations = Axe().run(themed).response["violations"]

    assert not [summary(violation) for violation in violations]


def summary(violation: dict[str, Any]) -> str:
    nodes = [node["html"][:200] for node in violation["nodes"][:3]]
    return json.dumps({"id": violation["id"], "help": violation["help"], "nodes": nodes})


def test_dialog_has_no_violation(themed: Page, dead: str):
    themed.goto(f"/tasks/{dead}")
    themed.get_by_role("button", name="Retry", exact=True).click()
    expect(themed.get_by_role("dialog")).to_be_visible()

    violations = Axe().run(themed).response["violations"]

    assert not [summary(violation) for violation in violations]


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_page_does_not_scroll_sideways(name: str, page: Page, dead: str):
    page.goto(PAGES[name][0].format(dead=dead))
    expect(page.locator("main")).not_to_be_empty()
    expect(page.locator(".loading")).to_have_count(0)

    for width in (320, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_focus_returns_to_the_button_that_opened_a_dialog(page: Page, dead: str):
    page.goto(f"/tasks/{dead}")
    button = page.get_by_role("button", name="Retry", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    expect(button).to_be_focused()

"""What holds on every page: no violation that axe finds, one instant in every zone, names that are
only text, and a hint where there is nothing yet."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from duetime.testing import World, world
from tests.console.in_a_world.conftest import START, new_context
from tests.console.in_a_world.handlers import failing
from tests.console.in_a_world.test_runs import etl
from tests.console.in_a_world.test_schedules import WORK, daily

HOSTILE = "<img src=x onerror=alert(1)>\"'\u202e{{x}}</script>"
ZONES = ("America/St_Johns", "Asia/Kolkata", "Pacific/Auckland")
PAGES = {
    "schedules": "/schedules",
    "ledger": "/schedules/{daily}",
    "calendar": "/schedules/{daily}?view=calendar",
    "history": "/schedules/{daily}?view=history",
    "definition": "/schedules/{daily}?view=definition",
    "new-schedule": "/schedules/new?e=30 2 * * *&zone=Europe/Berlin",
    "edit-schedule": "/schedules/{daily}/edit",
    "cron": "/cron?e=30 2 * * *&zone=Europe/Berlin",
    "runs": "/runs",
    "run": "/runs/{run}?step=index&view=graph",
    "run-list": "/runs/{run}?view=list",
    "workflows": "/workflows",
    "workflow": "/workflows/etl",
    "lanes": "/lanes",
    "limits": "/limits",
    "workers": "/workers",
    "forecast": "/forecast",
    "settings": "/settings",
}
EMPTY = {
    "/schedules": "No schedules",
    "/schedules?status=paused": "No schedule is paused",
    "/runs": "No workflow has run yet",
    "/runs?status=FAILED": "No run matches",
    "/workflows": "No workflows",
    "/limits": "No limits",
    "/forecast": "Nothing is due until then",
}


@pytest.fixture(scope="module")
def full() -> Iterator[tuple[World, dict[str, str]]]:
    """A world in which every page has something to show."""
    with world(start=START, serve=True) as w:
        failing.add("index")
        ids = {"daily": daily(w, HOSTILE), "run": etl(w, name=HOSTILE)}
        w.client.schedules.pause(daily(w, "moved"), note=HOSTILE)
        w.client.limits.put("stripe", rate={"count": 5, "period": 1, "burst": 10}, concurrency=3)
        w.advance("72h")
        for minutes in (1, 2, 2, 30, 90, 90, 90):
            w.client.submit(**WORK, delay=60 * minutes, name=HOSTILE)
        failing.clear()
        yield w, ids


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def context(
    browser: Browser, full: tuple[World, dict[str, str]], request: pytest.FixtureRequest
) -> Iterator[BrowserContext]:
    w, _ = full
    chosen = request.getfixturevalue("theme") if "theme" in request.fixturenames else "light"
    context = new_context(browser, w, color_scheme=chosen)
    yield context
    context.close()


def open_page(page: Page, name: str, ids: dict[str, str], more: str = "") -> None:
    path = PAGES[name].format(**ids)
    page.goto(path + (("&" if "?" in path else "?") + more if more else ""))
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main .loading")).to_have_count(0)


@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_and_shows_names_as_text(
    page: Page, theme: str, name: str, full: tuple[World, dict[str, str]]
) -> None:
    open_page(page, name, full[1])
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()
    assert page.locator("main img").count() == 0
    if name in ("ledger", "run"):
        expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_a_phone(browser: Browser, name: str, full: tuple[World, dict[str, str]]) -> None:
    context = new_context(browser, full[0], viewport={"width": 360, "height": 740})
    page = context.new_page()
    open_page(page, name, full[1])
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_page_shows_the_same_instants_in_every_zone(
    page: Page, name: str, full: tuple[World, dict[str, str]]
) -> None:
    shown = []
    for zone in ZONES:
        open_page(page, name, full[1], f"tz={zone}")
        page.wait_for_load_state("networkidle")
        scope = (
            "main .figures time" if name == "forecast" else "main time"
        )  # its rows are local hours
        times = page.locator(scope).evaluate_all("found => found.map(time => time.dateTime)")
        shown.append(sorted(set(times)))
    if name not in ("settings", "lanes", "limits", "workers"):
        assert shown[0]
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize("name", ["ledger", "new-schedule", "run", "limits", "workflow"])
def test_page_shows_no_action_without_the_right_to_it(
    page: Page, name: str, full: tuple[World, dict[str, str]]
) -> None:
    rights = {"actor": "ada", "rights": ["read"], "features": [], "stage": None, "version": "1"}
    page.route("**/v1/me", lambda route: route.fulfill(json=rights))
    open_page(page, name, full[1])
    expect(page.get_by_role("link", name="New task")).to_have_count(0)
    actions = re.compile("New|Create|Save|Pause…|Run now|Backfill|Delete|Detach|Retry|Cancel|Start")
    expect(page.locator("main").get_by_role("button", name=actions)).to_have_count(0)


@pytest.mark.parametrize(("path", "hint"), EMPTY.items())
def test_empty_page_says_what_to_do(browser: Browser, path: str, hint: str) -> None:
    with world(start=START, serve=True) as w:
        context = new_context(browser, w)
        page = context.new_page()
        page.goto(path)
        expect(page.get_by_text(hint)).to_be_visible()
        context.close()

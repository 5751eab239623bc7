"""A real browser in front of a real runner. Without Chromium these tests are skipped."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.running import PATIENCE, Runner, free_port, running

HANDLERS = Path(__file__).parent / "handlers"
QUIET = (  # Chromium makes no connection of its own
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.console)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE * 1000)
        browser = playwright.chromium.launch(executable_path=chromium, args=[*QUIET])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    data = tmp_path_factory.mktemp("console")
    with running(data, free_port(), "--handlers", str(HANDLERS)) as runner:
        yield runner


@pytest.fixture
def url(runner: Runner) -> str:
    return str(runner.api.base_url).removesuffix("/v1/")


@pytest.fixture
def context(browser: Browser, url: str) -> Iterator[BrowserContext]:
    context = browser.new_context(
        base_url=url, timezone_id="Europe/Berlin", locale="en-GB", reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    context.close()


class Complaints:
    """What a page must not do: raise, log an error, or break its own security policy."""

    def __init__(self, page: Page) -> None:
        self.heard: list[str] = []
        page.on("pageerror", lambda error: self.heard.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        refused = "Failed to load resource" in message.text  # an answer that the page shows
        if message.type == "error" and not refused:
            self.heard.append(message.text)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    complaints = Complaints(page)
    yield page
    page.unroute_all(behavior="ignoreErrors")
    assert not complaints.heard

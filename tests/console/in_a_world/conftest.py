"""The console in front of a world, whose clock the test moves. The browser shows the same time."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Route

from duetime.console.files import ConsoleFiles
from duetime.testing import World, world
from tests.console.in_a_world.handlers import failing

START = "2027-03-01T08:00:00+00:00"  # a Monday; in Berlin the clock changes on the 28th
FILES = ConsoleFiles()


@pytest.fixture
def w() -> Iterator[World]:
    failing.clear()
    with world(start=START, serve=True) as w:
        yield w


@pytest.fixture
def url(w: World) -> str:
    return w.url


@pytest.fixture
def context(context: BrowserContext, w: World) -> BrowserContext:
    serve_console(context)
    context.clock.set_fixed_time(w.now)
    return context


def new_context(browser: Browser, w: World, **options: Any) -> BrowserContext:
    given = {
        "timezone_id": "Europe/Berlin",
        "locale": "en-GB",
        "reduced_motion": "reduce",
        **options,
    }
    context = browser.new_context(base_url=w.url, **given)
    serve_console(context)
    context.clock.set_fixed_time(w.now)
    return context


def serve_console(context: BrowserContext) -> None:
    """Answers what is not of the API as `duetime local` does: with the console and its headers."""

    def answer(route: Route) -> None:
        request = route.request
        headers = {"accept": "text/html"} if request.is_navigation_request() else {}
        file = FILES.find("GET", urlsplit(request.url).path, headers)
        if file:
            route.fulfill(status=200, body=file.body, headers=dict(file.headers))
        else:
            route.continue_()

    context.route("**/*", answer)

"""Screenshots for docs/console of the pages that show a few days of schedules and runs.
`make test-console SCREENSHOTS=1` writes them; otherwise each page is only shown once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from duetime.testing import World, world
from tests.console.in_a_world.conftest import START, new_context
from tests.console.in_a_world.handlers import failing
from tests.console.in_a_world.test_runs import etl, step
from tests.console.in_a_world.test_schedules import WORK
from tests.console.in_a_world.test_system_pages import workers
from tests.console.shots import Shot, save, shots

BERLIN = "Europe/Berlin"
PAGES = {
    "schedules": "/schedules",
    "ledger": "/schedules/{nightly}",
    "calendar": "/schedules/{nightly}?view=calendar",
    "history": "/schedules/{nightly}?view=history",
    "definition": "/schedules/{nightly}?view=definition",
    "new-schedule": "/schedules/new?e=0 9 * * 1-5&zone=Europe/Berlin",
    "cron": "/cron?e=30 2 * * *&zone=Europe/Berlin",
    "runs": "/runs",
    "run": "/runs/{failed}?step=index&view=graph",
    "run-waiting": "/runs/{waiting}",
    "workflows": "/workflows",
    "workflow": "/workflows/etl",
    "limits": "/limits",
    "workers": "/workers",
    "forecast": "/forecast?hours=12",
}


@pytest.fixture(scope="module")
def shop() -> Iterator[tuple[World, dict[str, str]]]:
    """A world after four weeks, and ids of what is in it."""
    with world(start=START, serve=True) as w:
        w.client.limits.put("stripe", rate={"count": 5, "period": 1, "burst": 10}, concurrency=3)
        w.client.limits.put("nightly-report", concurrency=1)
        ids = {"nightly": nightly(w), **runs(w)}
        crowd(w)
        yield w, ids


def nightly(w: World) -> str:
    """A schedule that failed on one day, was late on another and paused on two."""
    rule = {"type": "cron", "expression": "30 2 * * *", "timezone": BERLIN}
    work = {**WORK, "payload": "nightly"}
    made = w.client.schedules.create(name="nightly-report", rule=rule, task=work)
    sync = {"type": "rate", "every": 900}
    paused = w.client.schedules.create(name="sync-orders", rule=sync, task=WORK)
    w.client.schedules.pause(paused["id"], note="the shop moves, ada")
    w.advance("8d")
    failing.add("nightly")
    w.advance("1d")
    failing.clear()
    w.advance("5d")
    w.client.schedules.pause(made["id"], note="moving")
    w.advance("2d")
    w.client.schedules.resume(made["id"])
    w.advance("4d")
    w.set("2027-03-22T06:00:00+00:00")
    w.advance("4h")
    return str(made["id"])


def runs(w: World) -> dict[str, str]:
    ended = etl(w)
    w.drain()
    failing.add("index")
    failed = etl(w)
    w.drain()
    failing.clear()
    steps = [step("first"), step("late", "first", delay=3_600), step("last", "late")]
    waiting = w.client.runs.submit(steps=steps, name="import")
    w.advance("1m")
    return {"ended": ended, "failed": failed, "waiting": str(waiting["id"])}


def crowd(w: World) -> None:
    """Tasks for the next hours, most of them at full hours."""
    for hour in range(11):
        for number in range(3 + 5 * hour % 17):
            minutes = 59 + 60 * hour + (number * 7 % 23 if number % 3 else 0)
            w.client.submit(
                **WORK, delay=60 * minutes, priority=("high", "medium", "low")[number % 3]
            )


@pytest.mark.long
@pytest.mark.parametrize("shot", shots(PAGES), ids=lambda shot: shot.name)
def test_page_is_shown(shot: Shot, browser: Browser, shop: tuple[World, dict[str, str]]) -> None:
    w, ids = shop
    page = new_context(browser, w, color_scheme=shot.theme, viewport=shot.size).new_page()
    page.route("**/v1/workers", lambda route: route.fulfill(json={"items": workers(w)}))
    page.goto(PAGES[shot.page].format(**ids))
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    save(page, shot.name)
    page.unroute_all(behavior="ignoreErrors")
    page.context.close()

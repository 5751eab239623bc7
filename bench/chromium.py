"""A real Chromium for the benchmarks: pages without a cache, and what their tasks cost."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

QUIET = (  # Chromium makes no connection of its own
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TASKS = "disabled-by-default-devtools.timeline"  # the category of a trace that has every task
PATIENCE = 120_000  # milliseconds
WINDOW: Any = {"width": 1440, "height": 900}

# Notes long tasks, and the gaps between frames, of every page.
WATCH = """
  window.long = [];
  window.gaps = [];
  new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  let before = null;
  requestAnimationFrame(function frame(at) {
    if (before !== null && at - before > 50) gaps.push(at - before);
    before = at;
    requestAnimationFrame(frame);
  });
"""

Metrics = Mapping[str, float]


@contextmanager
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        sys.exit("this benchmark needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET])
        yield browser
        browser.close()


@contextmanager
def new_page(browser: Browser, url: str) -> Iterator[Page]:
    """A page without a cache, in a window of its own. Paths are those of `url`."""
    context: BrowserContext = browser.new_context(
        base_url=url, timezone_id="Europe/Berlin", locale="en-GB", viewport=WINDOW
    )
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


class Meter:
    """What a page costs: the time of its main thread, and its heap."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def heap_mb(self) -> float:
        """Returns the size of what is reachable."""
        for _ in range(2):  # finalizers of the first collection free more
            self._session.send("HeapProfiler.collectGarbage")
        return self.read()["JSHeapUsedSize"] / 1e6

    def read(self) -> Metrics:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return {metric["name"]: metric["value"] for metric in metrics}


def longest_task(browser: Browser, page: Page, seconds: float) -> float:
    """Returns the milliseconds of CPU of the longest task of the pages' threads in this time."""
    events = traced(browser, page, seconds)
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [e for e in events if e["name"] == "RunTask" and (e["pid"], e["tid"]) in threads]
    return float(max(task.get("tdur", 0) for task in tasks)) / 1_000


def traced(browser: Browser, page: Page, seconds: float) -> Sequence[Mapping[str, Any]]:
    session = browser.new_browser_cdp_session()
    found: list[Mapping[str, Any]] = []
    ended: list[Any] = []
    session.on("Tracing.dataCollected", lambda part: found.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda done: ended.append(done))  # noqa: PLW0108
    wanted = {"includedCategories": [TASKS], "excludedCategories": ["*"]}
    session.send("Tracing.start", {"traceConfig": wanted, "transferMode": "ReportEvents"})
    page.wait_for_timeout(seconds * 1_000)
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(100)
    session.detach()
    return found


def changes_of(page: Page) -> Callable[[], int]:
    """Returns a function that returns how many changes the page was sent."""
    count = 0

    def receive(text: str | bytes) -> None:
        nonlocal count
        message = json.loads(text)
        if message["type"] == "changes":
            count += len(message["items"])

    page.on("websocket", lambda socket: socket.on("framereceived", receive))
    return lambda: count

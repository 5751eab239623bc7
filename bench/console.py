"""Measures the web console in Chromium, on loopback.

- From the click on a link to the first paint, and to a page of 100 of many stored tasks on screen.
- 200 changes a second on 200 rows, for some seconds: tasks of the browser over 50 ms, the longest
  frame, and how much the heap has grown.

The browser, the runner and this script are on the same cores.
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from harness import duetime_local, report
from playwright.sync_api import Browser, Page, WebSocketRoute, sync_playwright
from stored_tasks import fill

from duetime.core.times import rfc3339
from duetime.sqlite.task_store import SqliteTaskStore

ROUNDS = 5
ROWS = 200
PER_FRAME = 20  # changes; 10 frames a second
WATCH = """
window.seen = {long: 0, frame: 0};
new PerformanceObserver(list => window.seen.long += list.getEntries().length)
  .observe({type: 'longtask', buffered: true});
let last = 0;
const frame = at => {
  if (last) window.seen.frame = Math.max(window.seen.frame, at - last);
  last = at;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=1_000_000, help="that are stored")
    parser.add_argument("--seconds", type=int, default=60, help="of changes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch)
        store(data, arguments.tasks)
        with duetime_local(data) as running, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            base = f"http://127.0.0.1:{running.port}"
            rows = [*first_views(browser, base), *changes(browser, base, arguments.seconds)]
            browser.close()
    report("console", f"The web console, {arguments.tasks:,} stored tasks", rows)


def store(data: Path, count: int) -> None:
    tasks = SqliteTaskStore(data / "duetime.db")
    fill(tasks, count, int(time.time() * 1_000))
    tasks.close()


def first_views(browser: Browser, base: str) -> list[dict[str, Any]]:
    paints, lists = [], []
    for _ in range(ROUNDS):
        context = browser.new_context(base_url=base)  # nothing is cached
        page = context.new_page()
        page.goto("/tasks")
        page.locator("[data-key]").nth(99).wait_for()
        lists.append(page.evaluate("performance.now()"))
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        paints.append(page.evaluate(paint))
        context.close()
    return [
        {"what": "first paint, ms (median)", "measured": round(median(paints))},
        {"what": "100 tasks on screen, ms (median)", "measured": round(median(lists))},
    ]


def changes(browser: Browser, base: str, seconds: int) -> list[dict[str, Any]]:
    page = browser.new_page(base_url=base)
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    page.goto("/tasks")
    page.get_by_role("button", name="Show more").click()
    page.locator("[data-key]").nth(ROWS - 1).wait_for()
    page.wait_for_selector(".is-live")
    ids = page.eval_on_selector_all("[data-key]", "rows => rows.map(row => row.dataset.key)")
    before = heap(page)
    page.evaluate(WATCH)
    until = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < until:
        send(sockets[-1], ids, turn)
        turn += 1
        page.wait_for_timeout(100)
    seen = page.evaluate("window.seen")
    return [
        {"what": "changes a second", "measured": round(turn * PER_FRAME / seconds)},
        {"what": "tasks of the browser over 50 ms", "measured": seen["long"]},
        {"what": "longest frame, ms", "measured": round(seen["frame"])},
        {"what": "growth of the heap, MB", "measured": round((heap(page) - before) / 1e6, 1)},
    ]


def send(socket: WebSocketRoute, ids: list[str], turn: int) -> None:
    chosen = [ids[(turn * PER_FRAME + number) % len(ids)] for number in range(PER_FRAME)]
    status = ("RUNNING", "RETRYING")[turn % 2]
    at = rfc3339(int(time.time() * 1_000) + 60_000)
    items = [
        {"task_id": task_id, "status": status, "attempt": turn, "updated_at": at, "due_at": at}
        for task_id in chosen
    ]
    for number in range(1, 4):  # whatever the id of the subscription is
        socket.send(json.dumps({"type": "changes", "id": f"s{number}", "items": items}))


def heap(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"])


if __name__ == "__main__":
    main()

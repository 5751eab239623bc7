"""Measures the web console in Chromium, in front of a real runner (`duetime local`).

- paint: the first paint of the overview, its requests to the API, and the bytes of its first files.
- page: a page of 100 with many tasks stored, at the API and on the screen.
- changes: 200 changes a second on 200 rows: the frames that came late, and the growth of the heap.
  CPU is the time of the page's own thread, without that of other programs; its longest task is
  looked for in 5 s of each minute.
- throughput: tasks a second of the runner with a console open on the tasks, and with none. Each has
  a new runner, which is warm: its processes have started, and the page is idle. The two take turns,
  and every other round begins with the console.

Exits with 1 if a figure is above its limit. Needs Chromium (`apt-get install chromium`).

    .venv/bin/python bench/console.py --tasks 1000000 --minutes 10
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import throughput
from chromium import WATCH, Meter, changes_of, chromium, longest_task, new_page
from harness import Running, duetime_local, post, report
from playwright.sync_api import Browser, Page
from stored_tasks import fill

from duetime.engine.clock import SystemClock
from duetime.sqlite.task_store import SqliteTaskStore

PAINT_LIMIT = 300  # ms
REQUESTS_LIMIT = 6  # of the overview; who calls and the ticket for live updates are apart
API_LIMIT, SCREEN_LIMIT = 20, 500  # ms of a page of 100
FRAME_LIMIT = 50  # ms
GROWTH_LIMIT = 5  # MB
SHARE_LIMIT = 0.95  # of the throughput without a console
ROWS, PAGE = 200, 100
CLIENTS = 2
WARM_UP, TRACE = 10, 5  # seconds
FIRST_TASKS = 1_000  # before the throughput: the first large batch starts the process for batches
SETTLE = 2  # seconds after that, and after the page has opened
FRAME = ("/v1/me", "/v1/live/tickets")  # what every page asks
PARTS = ("paint", "page", "changes", "throughput")
NOTHING = "about:blank"

ROW = "tr[data-key]"
SHOWN = f"""
  ([count, status]) => {{
    const rows = document.querySelectorAll('{ROW}');
    return rows.length >= count && (!status || rows[0].innerText.includes(status));
  }}
"""
PAINTS = """
  () => performance.getEntriesByType('paint').map(({ name, startTime }) => [name, startTime])
"""
CLICKED = "addEventListener('click', () => (window.clicked = performance.now()), true);"

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--repeats", type=int, default=5, help="of a paint and of a page")
    parser.add_argument("--tasks", type=int, default=100_000, help="stored before the pages")
    parser.add_argument("--minutes", type=float, default=2, help="of changes")
    parser.add_argument("--rounds", type=int, default=3, help="of the throughput")
    parser.add_argument("--submitted", type=int, default=50_000, help="tasks of a round")
    given = parser.parse_args()
    parts = given.part or PARTS
    with chromium() as browser:
        kept = [
            "paint" not in parts or paint(browser, given.repeats),
            "page" not in parts or page(browser, given.tasks, given.repeats),
            "changes" not in parts or changes(browser, given.minutes),
            "throughput" not in parts or beside_a_console(browser, given.rounds, given.submitted),
        ]
    return int(not all(kept))


def paint(browser: Browser, repeats: int) -> bool:
    with duetime_local() as running:
        visits = [visit(browser, running) for _ in range(repeats)]
    rows = [{"what": what, **spread([each[what] for each in visits])} for what in visits[0]]
    middle = {row["what"]: row["median"] for row in rows}
    painted = middle["first paint, ms"]
    report("console-paint", f"overview, {repeats} visits: first paint after {painted:.0f} ms", rows)
    return bool(painted <= PAINT_LIMIT and middle["requests of the page"] <= REQUESTS_LIMIT)


def visit(browser: Browser, running: Running) -> dict[str, float]:
    """Opens the overview in a browser that has never seen it, and then a text of a few bytes."""
    asked: list[str] = []
    with new_page(browser, url_of(running)) as page:
        page.on("request", lambda request: asked.append(urlsplit(request.url).path))
        meter = Meter(page)
        page.goto("/")
        live(page)
        page.wait_for_timeout(500)  # what else the page asks
        first = paints(page)
        used = meter.read()
        sizes = page.evaluate(
            "() => performance.getEntriesByType('resource').map((e) => [e.name, e.encodedBodySize])"
        )
    with new_page(browser, url_of(running)) as page:
        page.goto("/v1/health")
        plain = paints(page)
    calls = [path for path in asked if path.startswith("/v1/")]
    return {
        "first paint, ms": first["first-paint"],
        "first contentful paint, ms": first["first-contentful-paint"],
        "first paint of a plain text, ms": plain["first-paint"],
        "CPU of the page until all is shown, ms": used["TaskDuration"] * 1_000,
        "requests of the page": sum(path not in FRAME for path in calls),
        "requests of the frame": sum(path in FRAME for path in calls),
        "JavaScript, KB": sum(size for name, size in sizes if name.endswith(".js")) / 1_000,
        "CSS, KB": sum(size for name, size in sizes if name.endswith(".css")) / 1_000,
    }


def paints(page: Page) -> dict[str, float]:
    """Returns the milliseconds from the navigation until each of the first paints."""
    page.wait_for_function(f"() => ({PAINTS})().length === 2")
    return dict(page.evaluate(PAINTS))


def page(browser: Browser, tasks: int, repeats: int) -> bool:
    with TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as scratch:
        store = SqliteTaskStore(Path(scratch) / "duetime.db")
        fill(store, tasks, SystemClock().now())
        store.close()
        with duetime_local(Path(scratch)) as running:
            rows = [
                *on_screen(browser, running, min(PAGE, tasks // PAGE), repeats),
                *at_the_api(running, repeats * 10),
            ]
    report("console-page", f"a page of {PAGE} with {tasks:,} tasks stored: ms", rows)
    return all(row["median"] <= row["limit"] for row in rows)


def on_screen(browser: Browser, running: Running, few: int, repeats: int) -> list[Row]:
    """`few`: how many rows a page has at least; a small store has few dead tasks."""
    times: dict[str, list[float]] = {"opened": [], "clicked": [], "filtered": []}
    for _ in range(repeats):
        with new_page(browser, url_of(running)) as page:
            page.add_init_script(CLICKED)
            page.goto("/tasks")
            times["opened"].append(shown_at(page, few))
            page.goto("/")
            live(page)
            page.get_by_role("navigation", name="Pages").get_by_text("Tasks").click()
            times["clicked"].append(shown_at(page, few) - page.evaluate("clicked"))
            page.get_by_role("navigation", name="Status").get_by_text("Dead").click()
            times["filtered"].append(shown_at(page, few, "Dead") - page.evaluate("clicked"))
    what = {
        "opened": "on screen, from the request of /tasks",
        "clicked": "on screen, from a click on Tasks",
        "filtered": "on screen, from a click on Dead",
    }
    return [times_row(what[name], found, SCREEN_LIMIT) for name, found in times.items()]


def shown_at(page: Page, count: int, status: str = "") -> float:
    """Returns the time on the page's clock of the frame in which the rows are there."""
    seen = f"(asked) => ({SHOWN})(asked) && performance.now()"
    return float(page.wait_for_function(seen, arg=[count, status], polling="raf").json_value())


def at_the_api(running: Running, repeats: int) -> list[Row]:
    """Times the requests that the console makes for a page."""
    rows = []
    with closing(running.connect()) as connection:
        for what, status in (("the newest", ""), ("the newest of DEAD", "&status=DEAD")):
            path = f"/v1/tasks?namespace=*&fields=summary&limit={PAGE}{status}"
            found = []
            for _ in range(repeats):
                begun = time.perf_counter()
                connection.request("GET", path)
                connection.getresponse().read()
                found.append((time.perf_counter() - begun) * 1_000)
            rows.append(times_row(f"at the API, {what}", found, API_LIMIT))
    return rows


def times_row(what: str, found: Sequence[float], limit: float) -> Row:
    return {"what": what, **spread(found), "limit": limit}


def spread(found: Sequence[float]) -> Row:
    return {"best": min(found), "median": median(found), "slowest": max(found)}


def changes(browser: Browser, minutes: float) -> bool:
    with duetime_local() as running, new_page(browser, url_of(running)) as page:
        again(running, ROWS)
        page.add_init_script(WATCH)
        received = changes_of(page)
        page.goto("/tasks")
        live(page)
        page.get_by_role("button", name="Show more").click()
        shown_at(page, ROWS)
        page.wait_for_timeout(WARM_UP * 1_000)
        meter = Meter(page)
        heap, used, before = meter.heap_mb(), meter.read(), received()
        page.evaluate("() => { long.length = gaps.length = 0; }")
        began = time.monotonic()
        longest = 0.0
        while (left := minutes * 60 - (time.monotonic() - began)) > 0:
            page.wait_for_timeout(max(min(left, 60) - TRACE, 0) * 1_000)
            longest = max(longest, longest_task(browser, page, TRACE))
        took = time.monotonic() - began
        busy = meter.read()
        noted = page.evaluate("() => ({ long, gaps })")
        grown = meter.heap_mb() - heap
        figures: Row = {
            "changes a second": (received() - before) / took,
            "rows": page.locator(ROW).count(),
            "longest task, ms of CPU": longest,
            "longest task, ms on the clock": max(noted["long"], default=0),
            f"tasks over {FRAME_LIMIT} ms on the clock": len(noted["long"]),
            f"gaps over {FRAME_LIMIT} ms between frames": len(noted["gaps"]),
            "CPU of the page, %": (busy["TaskDuration"] - used["TaskDuration"]) / took * 100,
            "heap, MB": heap,
            "heap, MB more at the end": grown,
        }
    rows = [{"what": what, "value": value} for what, value in figures.items()]
    report("console-changes", f"{minutes:g} minutes of changes on {figures['rows']} rows", rows)
    return figures["longest task, ms of CPU"] <= FRAME_LIMIT and grown <= GROWTH_LIMIT


def again(running: Running, count: int) -> None:
    """Submits tasks that run once a second, one after the other."""
    target = {"type": "python", "handler": "bench.again"}
    with closing(running.connect()) as connection:
        for start in range(0, count, PAGE):
            tasks = [
                {"target": target, "payload": 1, "delay": 1 + n / count, "name": f"again {n}"}
                for n in range(start, min(start + PAGE, count))
            ]
            post(connection, "/v1/tasks/batch", json.dumps({"tasks": tasks}).encode())


def beside_a_console(browser: Browser, rounds: int, tasks: int) -> bool:
    rows = []
    for number in range(rounds):
        cases = (NOTHING, "/tasks") if number % 2 == 0 else ("/tasks", NOTHING)
        found = {where: run_beside(browser, where, tasks) for where in cases}
        alone, beside = found[NOTHING], found["/tasks"]
        rows.append(
            {
                "what": f"round {number + 1}",
                "tasks/s alone": alone["tasks/s"],
                "beside a console": beside["tasks/s"],
                "share": beside["tasks/s"] / alone["tasks/s"],
                "CPU µs a task": alone["CPU"],
                "beside it": beside["CPU"],
                "x CPU": beside["CPU"] / alone["CPU"],
            }
        )
    share = median(row["share"] for row in rows)
    cpu = median(row["x CPU"] for row in rows)
    title = f"{tasks:,} no-op tasks: {share:.3f} of the throughput, {cpu:.3f} x the CPU"
    report("console-throughput", f"{title} of the runner", rows)
    return bool(share >= SHARE_LIMIT)


def run_beside(browser: Browser, where: str, tasks: int) -> Row:
    """`where`: what the browser shows meanwhile."""
    with duetime_local() as running, new_page(browser, url_of(running)) as page:
        throughput.measure(running, FIRST_TASKS, CLIENTS)
        page.goto(where)
        if where != NOTHING:
            live(page)
        page.wait_for_timeout(SETTLE * 1_000)
        used = running.cpu_s()
        rate = throughput.measure(running, tasks, CLIENTS, FIRST_TASKS)["tasks/s"]
        return {"tasks/s": rate, "CPU": (running.cpu_s() - used) / tasks * 1e6}


def live(page: Page) -> None:
    """Waits until the page gets live updates."""
    page.locator(".live.is-live").wait_for()


def url_of(running: Running) -> str:
    return f"http://127.0.0.1:{running.port}"


if __name__ == "__main__":
    sys.exit(main())

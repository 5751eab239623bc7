"""Pushes are hints: whatever happens to them, the screen shows what the API says."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Response, Route, WebSocketRoute, expect

from tests.running import Runner, free_port, running

GREET = {"type": "python", "handler": "shop.greet"}
LATER = {"target": GREET, "payload": {"name": "Ada"}, "delay": 86_400}
HANDLERS = Path(__file__).parent / "handlers"
REREAD = 31_000  # milliseconds until what is on screen is read again, and a little more


def open_list(page: Page, namespace: str, what: str = "tasks", path: str | None = None) -> None:
    """Opens a list and waits for its second read: the one that follows the subscription."""
    reads: list[str] = []

    def is_second(response: Response) -> bool:
        if re.search(rf"/v1/{what}(\?|$)", response.url):
            reads.append(response.url)
        return len(reads) == 2

    with page.expect_response(is_second):
        page.goto(f"/{what if path is None else path}?ns={namespace}")
    expect(page.locator(".live")).to_have_text("Live")


@pytest.fixture
def alone(tmp_path: Path) -> tuple[int, Path]:
    """A port and a folder of data for runners of one test, one after the other."""
    return free_port(), tmp_path


def test_screen_is_right_after_the_runner_is_killed_and_started_again(
    context: BrowserContext, alone: tuple[int, Path]
):
    port, data = alone
    page = context.new_page()
    with running(data, port, "--handlers", str(HANDLERS)) as runner:
        task_id = runner.submit(**LATER)
        page.goto(f"http://127.0.0.1:{port}/tasks")
        expect(page.locator(".live")).to_have_text("Live")
        runner.kill()
        expect(page.locator(".live")).to_contain_text("as of")
        expect(page.locator(f'[data-key="{task_id}"] .status')).to_have_text("Pending")
    with running(data, port, "--handlers", str(HANDLERS)) as runner:
        runner.api.delete(f"/tasks/{task_id}")
        added = runner.submit(**LATER)

        expect(page.locator(".live")).to_have_text("Live")
        expect(page.locator(f'[data-key="{task_id}"] .status')).to_have_text("Cancelled")
        expect(page.locator(f'[data-key="{added}"] .status')).to_have_text("Pending")
    page.close()


def test_screen_is_right_after_pushes_were_lost_doubled_and_reordered(page: Page, runner: Runner):
    frames: list[str] = []

    def tamper(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def on_message(message: str | bytes) -> None:
            if json.loads(message)["type"] != "changes":
                socket.send(message)
                return
            frames.append(str(message))  # lost; earlier ones come again, the oldest last
            for frame in reversed(frames[:-1]):
                socket.send(frame)

        server.on_message(on_message)

    page.route_web_socket("**/v1/live*", tamper)
    page.clock.install()
    ids = [runner.submit(**LATER, namespace="lossy") for _ in range(4)]
    open_list(page, "lossy")
    expect(page.locator("[data-key]")).to_have_count(4)
    for task_id in ids[:3]:
        runner.api.delete(f"/tasks/{task_id}")
    page.clock.fast_forward(REREAD)

    for task_id in ids[:3]:
        expect(page.locator(f'[data-key="{task_id}"] .status')).to_have_text("Cancelled")
    expect(page.locator(f'[data-key="{ids[3]}"] .status')).to_have_text("Pending")


def test_page_that_is_added_comes_although_the_list_is_read_again(page: Page, runner: Runner):
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        held.append(route)

    page.clock.install()
    runner.submit_many([{**LATER, "namespace": "many"}] * 150)
    page.goto("/tasks?ns=many")
    expect(page.locator("[data-key]")).to_have_count(100)
    expect(page.locator(".live")).to_have_text("Live")
    page.route("**/v1/tasks?*cursor=*", hold_the_first)
    with page.expect_request("**/v1/tasks?*cursor=*"):
        page.get_by_role("button", name="Show more").click()
    page.clock.fast_forward(REREAD)
    while not held:
        page.evaluate("1")  # hands out events
    held[0].continue_()

    expect(page.locator("[data-key]")).to_have_count(150)


def test_button_for_more_rows_can_be_clicked_while_the_list_is_read_again(
    page: Page, runner: Runner
):
    """A list that changes all the time is read again all the time."""
    held: list[Route] = []
    page.clock.install()
    runner.submit_many([{**LATER, "namespace": "further"}] * 150)
    open_list(page, "further")
    expect(page.locator("[data-key]")).to_have_count(100)
    page.route("**/v1/tasks?*", lambda route: held.append(route))  # noqa: PLW0108
    with page.expect_request("**/v1/tasks?*"):
        page.clock.fast_forward(REREAD)

    more = page.get_by_role("button", name="Show more")
    expect(more).to_be_enabled()
    with page.expect_request("**/v1/tasks?*cursor=*"):
        more.click()
    expect(more).to_be_disabled()
    for route in list(held):
        route.continue_()
    expect(page.locator("[data-key]")).to_have_count(150)


def test_older_push_does_not_replace_what_is_shown(page: Page, runner: Runner):
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    shown, other = (runner.submit(**LATER, namespace="older") for _ in range(2))
    open_list(page, "older")
    push(sockets[-1], shown, "EXPIRED", "2099-01-01T00:00:00.000Z")
    push(sockets[-1], shown, "RUNNING", "2020-01-01T00:00:00.000Z")
    push(sockets[-1], other, "EXPIRED", "2099-01-01T00:00:00.000Z")

    expect(page.locator(f'[data-key="{other}"] .status')).to_have_text("Expired")
    assert page.locator(f'[data-key="{shown}"] .status').inner_text() == "Expired"


def push(socket: WebSocketRoute, task_id: str, status: str, updated_at: str) -> None:
    push_all(socket, [task_id], status, updated_at)


def push_all(socket: WebSocketRoute, ids: Sequence[str], status: str, updated_at: str) -> None:
    same = {"before": "PENDING", "status": status, "attempt": 0, "error_type": None}
    same |= {"updated_at": updated_at, "namespace": "older"}
    items = [{"task_id": task_id, **same} for task_id in ids]
    for number in range(1, 9):  # whatever the id of the subscription is
        socket.send(json.dumps({"type": "changes", "id": f"s{number}", "items": items}))


def test_push_with_many_changes_is_shown_whole(page: Page, runner: Runner):
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    ids = runner.submit_many([{**LATER, "namespace": "crowd"}] * 100)
    open_list(page, "crowd")
    expect(page.locator("[data-key]")).to_have_count(100)
    push_all(sockets[-1], ids, "EXPIRED", "2099-01-01T00:00:00.000Z")

    expect(page.locator("[data-key] .status", has_text="Expired")).to_have_count(100)


def test_paused_page_fetches_nothing(page: Page, runner: Runner):
    page.clock.install()
    open_list(page, "paused")
    page.keyboard.press("p")
    expect(page.locator(".live")).to_have_text("Paused")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    task_id = runner.submit(target=GREET, payload={"name": "Ada"}, namespace="paused")
    page.clock.fast_forward(10 * REREAD)
    page.clock.run_for(2_000)

    assert not fetched
    expect(page.locator("[data-key]")).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator(f'[data-key="{task_id}"]')).to_be_visible()


def test_new_rows_wait_while_the_pointer_is_on_the_table(page: Page, runner: Runner):
    first = runner.submit(**LATER, namespace="pointer")
    page.goto("/tasks?ns=pointer")
    page.locator(f'[data-key="{first}"]').hover()
    runner.submit(**LATER, namespace="pointer")
    page.get_by_role("button", name="1 new task").click()

    expect(page.locator("[data-key]")).to_have_count(2)


def test_page_of_a_server_without_live_updates_polls(page: Page, runner: Runner):
    page.route("**/v1/me", lambda route: route.fulfill(status=404, body="{}"))
    page.clock.install()
    page.goto("/tasks?ns=polled")
    expect(page.get_by_text("No task matches")).to_be_visible()
    expect(page.locator(".live")).to_have_text("Polling")
    task_id = runner.submit(**LATER, namespace="polled")
    page.clock.fast_forward(11_000)

    expect(page.locator(f'[data-key="{task_id}"]')).to_be_visible()


def test_answer_to_an_older_filter_is_dropped(page: Page, runner: Runner):
    runner.submit(**LATER, namespace="typed", name="slow-one")
    runner.submit(**LATER, namespace="typed", name="quick-one")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v1/tasks?*name=slow*", hold)
    page.goto("/tasks?ns=typed&q=slow")
    page.get_by_label("Filter tasks").fill("quick")
    expect(page.locator("td.main a")).to_have_text(["quick-one"])
    for route in held:
        route.continue_()
    page.get_by_label("Filter tasks").press("Enter")

    expect(page.locator("td.main a")).to_have_text(["quick-one"])
    expect(page).to_have_url("/tasks?q=quick&ns=typed")


INVENTORY = {"type": "python", "handler": "shop.inventory"}


def test_limits_follow_the_tasks_that_use_them(page: Page, runner: Runner):
    runner.api.put("/limits/one?namespace=held", json={"concurrency": 1}).raise_for_status()
    page.clock.set_fixed_time(datetime.now(UTC))  # so that nothing is read again after 30 s
    page.goto("/limits?ns=held")
    row = page.get_by_role("row", name=re.compile("^one"))
    expect(row).to_contain_text("0/1")
    expect(page.locator(".live")).to_have_text("Live")
    fields = {"target": INVENTORY, "namespace": "held", "limits": [{"name": "one"}]}
    ids = [runner.submit(**fields) for _ in range(2)]

    expect(row).to_contain_text("1/1")
    expect(row.locator("[data-label=Waiting]")).to_have_text("1")
    for task_id in reversed(ids):
        runner.api.delete(f"/tasks/{task_id}")
    expect(row).to_contain_text("0/1")


def test_limits_are_read_once_for_many_pushes(page: Page, runner: Runner):
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    runner.api.put("/limits/one?namespace=older", json={"concurrency": 1}).raise_for_status()
    page.clock.install()
    open_list(page, "older", "limits")
    page.clock.pause_at(page.evaluate("Date.now()") / 1_000 + 2)
    reads: list[str] = []
    page.on("request", lambda request: "/v1/limits?" in request.url and reads.append(request.url))
    for number in range(10):
        push(sockets[-1], f"01KA5V8Y3M000000000000000{number}", "EXPIRED", "2099-01-01T00:00:00Z")
        page.clock.run_for(100)
    assert reads == []
    with page.expect_request("**/v1/limits?*"):
        page.clock.run_for(2_000)
    page.clock.run_for(5_000)

    assert len(reads) == 1


def test_causes_are_read_at_once_and_then_rarely_while_tasks_die(page: Page, runner: Runner):
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    page.clock.install()
    open_list(page, "older", "dead-letters/groups", "dead")
    page.clock.pause_at(page.evaluate("Date.now()") / 1_000 + 10)
    reads: list[str] = []
    page.on("request", lambda request: "/groups?" in request.url and reads.append(request.url))
    with page.expect_request("**/v1/dead-letters/groups?*"):
        for number in range(10):
            push(sockets[-1], f"01KA5V8Y3M000000000000000{number}", "DEAD", "2099-01-01T00:00:00Z")
            page.clock.run_for(100)
    assert len(reads) == 1
    with page.expect_request("**/v1/dead-letters/groups?*"):
        page.clock.run_for(1_500)
    page.clock.run_for(5_000)

    assert len(reads) == 2


def test_rows_change_after_the_filter_has_changed(page: Page, runner: Runner):
    """The subscription stays: live updates do not know the names of tasks."""
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/v1/live*", keep)
    task_id = runner.submit(**LATER, namespace="renamed", name="restock")
    runner.submit(**LATER, namespace="renamed", name="greet")
    open_list(page, "renamed")
    expect(page.locator("[data-key]")).to_have_count(2)
    page.get_by_label("Filter tasks").fill("rest")
    expect(page.locator("[data-key]")).to_have_count(1)
    push(sockets[-1], task_id, "EXPIRED", "2099-01-01T00:00:00.000Z")

    expect(page.locator(f'[data-key="{task_id}"] .status')).to_have_text("Expired")


@pytest.mark.parametrize("path", ["", "lanes"])
def test_lanes_follow_the_summary_of_the_runner(page: Page, runner: Runner, path: str):
    sockets: list[WebSocketRoute] = []

    def without_summaries(socket: WebSocketRoute) -> None:
        def pass_on(message: str | bytes) -> None:
            if json.loads(message)["type"] != "stats":
                socket.send(message)

        sockets.append(socket)
        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/v1/live*", without_summaries)
    page.goto(f"/{path}")
    expect(page.locator(".live")).to_have_text("Live")
    expect(page.locator(".loading")).to_have_count(0)
    lane = {"lane": "low", "depth": 4_711, "running": 0, "oldest_seconds": 3}
    summary = {"type": "stats", "at": "2026-11-19T00:00:00Z", "lanes": [lane], "started": 0}
    for number in range(1, 9):  # whatever the id of the subscription is
        sockets[-1].send(json.dumps({**summary, "id": f"s{number}"}))

    expect(page.get_by_text("4,711")).to_be_visible()

"""The page of a run follows its steps as they change."""

import json
from typing import Any

from playwright.sync_api import Page, WebSocket, expect

from tests.running import Runner

HELLO = {"target": {"type": "python", "handler": "duetime.hello"}}


def test_page_of_a_run_shows_a_step_as_it_ends(runner: Runner, page: Page) -> None:
    steps: list[dict[str, Any]] = [
        {"name": "ask", **HELLO, "callback": {"timeout": 3_600}},
        {"name": "answer", **HELLO, "needs": ["ask"]},
    ]
    run = runner.api.post("/runs", json={"steps": steps}).json()["id"]
    changed: list[str] = []
    asked: set[str] = set()
    subscribed: set[str] = set()

    def listen(socket: WebSocket) -> None:
        def note(frame: str | bytes) -> None:
            message = json.loads(frame)
            if run in str(message.get("filter")):
                asked.add(message["id"])

        def read(frame: str | bytes) -> None:
            message = json.loads(frame)
            changed.extend(each["run_id"] for each in message.get("items", ()))
            if message["type"] == "subscribed":
                subscribed.add(message["id"])

        socket.on("framesent", note)
        socket.on("framereceived", read)

    page.on("websocket", listen)
    page.goto(f"/runs/{run}")
    while not asked & subscribed:  # what ended before that would be read, and not pushed
        page.wait_for_timeout(20)
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    graph = page.get_by_role("group", name=f"Steps of {run}")
    expect(graph.get_by_role("link").first).to_contain_text("Waiting")
    expect(graph.get_by_role("link").last).to_contain_text("for ask")

    task = runner.api.get(f"/runs/{run}").json()["steps"][0]["task_id"]
    runner.api.post(f"/tasks/{task}/complete", json={"result": "yes"}).raise_for_status()

    expect(graph.get_by_role("link").last).to_contain_text("Succeeded")
    expect(page.get_by_text("2 of 2 steps")).to_be_visible()
    assert set(changed) == {run}
